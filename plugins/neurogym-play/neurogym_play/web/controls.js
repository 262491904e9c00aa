// Keys, buttons, dials and sliders: the actions of a person.

import { drawn, element } from "./view.js";

const ARROWS = {
  right: "ArrowRight", left: "ArrowLeft", up: "ArrowUp", down: "ArrowDown",
  "0°": "ArrowRight", "180°": "ArrowLeft", "90°": "ArrowUp", "270°": "ArrowDown",
};
const CHARACTERS = "123456789abcdefghijklmnopqrstuvwxyz";
const MANY = 12; // from so many choices on, a dial takes the place of buttons
const SHOWN = { ArrowRight: "→", ArrowLeft: "←", ArrowUp: "↑", ArrowDown: "↓", " ": "Space" };

/** The part of an action that one control gives: buttons for choices, dials for circles, sliders for axes. */
export class Controls {
  /** `act` is called with each action of a person; continuous ones are read with `current`. While a
   * key or a button is held, `held` is its action. */
  constructor(host, trials, act) {
    [this.host, this.trials, this.act, this.keys, this.said] = [host, trials, act, new Map(), []];
    host.replaceChildren();
    this.values = [];
    if (trials.continuous) this.addAxes();
    else this.addChoices();
  }

  // ------------------------------------------------------------ choices

  addChoices() {
    const { actions, labels, rest } = this.trials;
    let number = 0;
    for (const group of actions) {
      if (group.start === rest) continue;
      if (group.size > MANY) {
        this.addDial(group.name, group.size, (unit) => this.act(group.start + unit), group.names);
        continue;
      }
      for (let action = group.start; action < group.stop; action++) {
        const keys = [CHARACTERS[number++]], arrow = ARROWS[group.names?.[action - group.start]];
        if (arrow && !this.keys.has(arrow)) keys.unshift(arrow);
        this.addButton(labels[action], keys, () => this.act(action));
      }
    }
    if (number === 1) this.keys.set(" ", () => this.act(actions.find(({ start }) => start !== rest).start));
    if (rest !== null) this.addButton(`${labels[rest]} (no answer)`, number === 1 || this.keys.has(" ") ? ["0"] : [" ", "0"], () => this.act(rest));
  }

  addButton(label, keys, action) {
    const free = keys.filter((key) => key && !this.keys.has(key));
    for (const key of free) this.keys.set(key, action);
    const hints = free.map((key) => SHOWN[key] ?? key);
    const button = element("button", { type: "button" }, label.replaceAll("_", " "), " ");
    if (hints.length) button.append(element("kbd", { textContent: hints[0] }));
    button.addEventListener("pointerdown", (event) => { event.preventDefault(); action(); this.held = action; });
    button.addEventListener("click", (event) => { if (!event.detail) action(); }); // by a key of the keyboard, or a screen reader
    this.host.append(button);
    this.said.push([label.replaceAll("_", " "), hints]);
  }

  // ------------------------------------------------------------ circles

  /** A dial of n directions: a click answers, arrows turn its hand, Space answers. */
  addDial(name, n, answer, names, turned = () => {}) {
    let unit = 0;
    const hand = drawn("circle", { r: 7, class: "hand" });
    const dial = drawn("svg", { viewBox: "-70 -70 140 140", width: 150, class: "dial", role: "slider", tabindex: 0, "aria-label": name, "aria-valuemin": 0, "aria-valuemax": n - 1 },
      drawn("circle", { r: 55 }), hand);
    const turn = (to) => {
      unit = (to + n) % n;
      const angle = (2 * Math.PI * unit) / n;
      hand.setAttribute("cx", 55 * Math.cos(angle));
      hand.setAttribute("cy", -55 * Math.sin(angle));
      dial.setAttribute("aria-valuenow", unit);
      dial.setAttribute("aria-valuetext", names?.[unit] ?? `${Math.round((360 * unit) / n)}°`);
      turned(angle);
    };
    const pointed = ({ clientX, clientY }) => {
      const box = dial.getBoundingClientRect();
      const angle = Math.atan2(box.top + box.height / 2 - clientY, clientX - box.left - box.width / 2);
      turn(Math.round((angle * n) / (2 * Math.PI)));
    };
    dial.addEventListener("pointerdown", (event) => { pointed(event); answer(unit); });
    for (const [key, by] of [["ArrowLeft", 1], ["ArrowUp", 1], ["ArrowRight", -1], ["ArrowDown", -1]])
      if (!this.keys.has(key)) this.keys.set(key, Object.assign(() => turn(unit + by), { repeats: true }));
    this.keys.set(" ", () => answer(unit));
    turn(0);
    this.host.append(dial);
    this.said.push([`${name.replaceAll("_", " ")}: turn the hand, answer`, ["← →", "Space"]]);
  }

  // ------------------------------------------------------------ continuous actions

  addAxes() {
    const { actions, trigger } = this.trials;
    for (const part of actions) {
      for (let i = 0; i < part.size; i++) {
        const d = part.start + i, scaled = (value) => (2 * (value - part.axis[0])) / (part.axis[1] - part.axis[0]) - 1;
        this.values[d] = part.circular ? 0 : scaled(part.rest);
        if (trigger?.[0] === d || part.circular) continue;
        const slider = element("input", { type: "range", min: -1, max: 1, step: 0.01, value: this.values[d] });
        slider.addEventListener("input", () => { this.values[d] = +slider.value; });
        this.host.append(element("label", {}, part.size > 1 ? `${part.name} ${i + 1}` : part.name, slider));
      }
      if (part.circular)
        this.addDial(part.name, 360, () => this.answer(), null, (angle) => {
          [this.values[part.start], this.values[part.start + 1]] = [Math.cos(angle), Math.sin(angle)];
        });
      else if (!(trigger && part.start === trigger[0] && part.size === 1)) this.said.push([part.name.replaceAll("_", " "), ["slider"]]);
    }
    this.addButton(trigger ? "answer" : "let a step pass", [" ", "0"], () => this.answer());
    this.keys.set(" ", () => this.answer());
  }

  answer() { this.act(this.current(true)); }

  /** The values of the continuous action; `triggers`: with its trigger. */
  current(triggers = false) {
    const { trigger } = this.trials, values = [...this.values];
    if (trigger && triggers) values[trigger[0]] = 1;
    return values;
  }
}
