// Plugins of jsPsych 8: a trial of a task, which is a row of its record, and the check of the screen.

import { Controls } from "./controls.js";
import { captionOf, viewOf } from "./stimuli.js";
import { element } from "./view.js";

const SAID = { correct: "Correct", error: "Wrong", abort: "Wrong: an action that was not asked", miss: "Wrong: no answer", other: "Answered" };
const { ParameterType } = globalThis.jsPsychModule;
const VERSION = "1.0.0";

/** The next frame's time, ms. */
const nextFrame = () => new Promise((resolve) => requestAnimationFrame(resolve));

/** How many answers the present trial has. */
const given = (kernel) => kernel.log.answers.reduce((sum, n) => sum + n, 0);

/** Whether a row has a reaction time. */
const isTimed = (row) => Object.entries(row).some(([name, ms]) => /(^|\.)reaction_time$/.test(name) && ms >= 0);

/** Data that a plugin declares, all of one type. */
const declared = (type, ...names) => Object.fromEntries(names.map((name) => [name, { type }]));

/**
 * A plugin that plays the next trial of a block.
 *
 * A block has a `kernel` with its trials, `frame`, the duration of a frame in ms, `practice`, and the `view` of the task with the
 * `drawings` of packages, or neither. Its clock begins with the frame
 * that shows the first observation; a step of the task is shown with the frame that is nearest to its time.
 *
 * Data of a trial: the columns of its row of `ngym run` (a missing time is null), and
 * - `rt`: ms from the frame that opened the first answered response window until the event of the key or button; null without one;
 * - `shown_at`: `performance.now()` of the frame with the first observation, and `onsets`: the period, its time on the task's clock and
 *   the time of its frame, ms, as JSON;
 * - `dropped_frames`: frames that were missing, from intervals of more than 1.5 frames; `longest_frame`, ms;
 * - `actions`: the action of each step, as JSON, from which `ngym` can play the trial again;
 * - `practice`: whether it is one.
 */
export function trialPlugin(block) {
  return class NeurogymTrial {
    static info = {
      name: "neurogym-trial",
      version: VERSION,
      parameters: {
        /** Whether to say if the trial was correct; its reward is always shown. */
        feedback: { type: ParameterType.BOOL, default: false },
        /** ms after the trial, with the feedback. */
        pause: { type: ParameterType.INT, default: 700 },
      },
      data: {
        ...declared(ParameterType.FLOAT, "rt", "shown_at", "longest_frame", "reward", "performance"),
        ...declared(ParameterType.INT, "trial", "session", "dropped_frames"),
        ...declared(ParameterType.STRING, "outcome", "onsets", "actions"),
        ...declared(ParameterType.BOOL, "practice"),
      },
    };

    constructor(jsPsych) {
      this.jsPsych = jsPsych;
    }

    async trial(display, { feedback, pause }) {
      const { kernel, frame, practice } = block, { trials } = kernel;
      const { dt, rest, continuous } = trials;
      const [lamps, buttons, said] = [element("div", { id: "lamps" }), element("div", { id: "controls" }), element("p", { id: "feedback" })];
      said.setAttribute("role", "status");
      const count = `${practice ? "Practice trial" : "Trial"} ${kernel.trial + 1} of ${trials.n_trials}`;
      display.replaceChildren(
        element("p", { id: "progress", textContent: count }),
        element("figure", { id: "view" }, element("figcaption", { textContent: captionOf(block.view) }), lamps), buttons, said);
      const view = viewOf(lamps, trials, block.view, block.drawings);
      let pending, at = 0, answeredAt = null, openedAt = null, rt = null, now = 0; // at: time of the event that acts
      const controls = new Controls(buttons, trials, (action) => { [pending, answeredAt] = [action, at]; });
      const press = (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey) return;
        const act = controls.keys.get(event.key.length === 1 ? event.key.toLowerCase() : event.key);
        const native = { BUTTON: /^ $/, INPUT: /^Arrow/ }[event.target.tagName];
        if (!act || native?.test(event.key)) return;
        event.preventDefault();
        at = event.timeStamp;
        if (!event.repeat || act.repeats) act();
      };
      const point = (event) => { at = event.timeStamp; };
      addEventListener("keydown", press);
      for (const kind of ["pointerdown", "click"]) display.addEventListener(kind, point, true);

      const actions = [], onsets = [];
      let period, ended = false, dropped = 0, longest = 0, steps = 0;
      const show = () => {
        view.show(kernel.observe(), kernel.exact, now);
        if (kernel.period !== period) onsets.push([(period = kernel.period), steps * dt, now - start]);
        if (!kernel.isAsked) openedAt = null;
        else openedAt ??= now;
      };
      let start = await nextFrame();
      const shownAt = now = start;
      let last = start;
      show();
      while (!ended) {
        now = await nextFrame();
        longest = Math.max(longest, now - last);
        dropped += Math.max(0, Math.round((now - last) / frame) - 1);
        last = now;
        view.tick(now);
        while (!ended && now - start + frame / 2 >= (steps + 1) * dt) {
          // Without an action that means nothing, the clock stands until the person acts.
          if (pending === undefined && rest === null && !continuous) {
            start = now - steps * dt;
            break;
          }
          // An event acts in the step at its time: of several steps in one frame, or where frames come late.
          const waits = answeredAt > start + (steps + 1) * dt && (rest !== null || continuous);
          const acts = pending !== undefined && !waits;
          const action = acts ? pending : continuous ? controls.current() : rest;
          const before = given(kernel);
          if (acts) pending = undefined;
          actions.push(action);
          ({ ended } = kernel.step(action));
          steps += 1;
          if (rt === null && acts && openedAt !== null && (ended ? isTimed(kernel.rows.at(-1)) : given(kernel) > before)) rt = answeredAt - openedAt;
          if (!ended) show();
        }
      }
      removeEventListener("keydown", press);
      view.clear();
      const row = kernel.rows.at(-1);
      const kind = feedback ? row.outcome : "", paid = `reward ${+row.reward.toFixed(2)}`;
      [said.textContent, said.className] = [SAID[kind] ? `${SAID[kind]}, ${paid}` : paid, kind];
      await new Promise((resolve) => setTimeout(resolve, pause));
      display.replaceChildren();
      this.jsPsych.finishTrial({
        ...row, rt, shown_at: shownAt, onsets: JSON.stringify(onsets), dropped_frames: dropped, longest_frame: longest,
        actions: JSON.stringify(actions), practice,
      });
    }
  };
}

/** A plugin that measures the frames of the screen; data: `frame`, the median interval in ms, and `irregular`, the share of others. */
export class NeurogymFrames {
  static info = {
    name: "neurogym-frames",
    version: VERSION,
    parameters: { frames: { type: ParameterType.INT, default: 90 } },
    data: declared(ParameterType.FLOAT, "frame", "irregular"),
  };

  constructor(jsPsych) {
    this.jsPsych = jsPsych;
  }

  async trial(display, { frames }) {
    display.replaceChildren(element("p", { textContent: "The screen is being measured …" }));
    const times = [];
    while (times.length <= frames) times.push(await nextFrame());
    const intervals = times.slice(1).map((time, i) => time - times[i]), sorted = [...intervals].sort((a, b) => a - b);
    const frame = sorted[sorted.length >> 1];
    const irregular = intervals.filter((one) => Math.abs(one - frame) > frame / 2).length / intervals.length;
    display.replaceChildren();
    this.jsPsych.finishTrial({ frame, irregular });
  }
}
