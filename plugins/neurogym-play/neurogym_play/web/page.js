// The page: start, game, results. The trials are in task.json, the table of the noise in noise.f32.

import { Kernel, toCSV } from "./kernel.js";
import { RemoteKernel } from "./remote.js";
import { Controls } from "./controls.js";
import { captionOf, drawingsOf, flickerOf, viewOf } from "./stimuli.js";
import { element } from "./view.js";
import { report } from "./results.js";

const PAUSE = 700; // ms between trials, with the feedback
const QUICK = 700; // a shorter response window is too short for a person: the clock waits
const SAID = { correct: "Correct", error: "Wrong", abort: "Wrong: an action that was not asked", miss: "Wrong: no answer", other: "Answered" };
const $ = (id) => document.getElementById(id);

class Game {
  constructor({ trials, practice, feedback, save, view, beside }, lines, drawings) {
    Object.assign(this, { trials, practice, feedback, lines, save, beside, declared: view, view: viewOf($("lamps"), trials, view, drawings) });
    $("caption").textContent = captionOf(view);
    this.controls = new Controls($("controls"), trials, (action) => this.press(action));
    addEventListener("keydown", (event) => this.key(event));
    for (const kind of ["keyup", "pointerup", "pointercancel", "blur"]) addEventListener(kind, () => { this.controls.held = undefined; });
    document.addEventListener("visibilitychange", () => { if (document.hidden) this.pause(true); });
    addEventListener("beforeunload", (event) => { if (this.running || this.unsaved) event.preventDefault(); });
    $("aware").onclick = () => { [$("flicker").hidden, $("start").hidden] = [true, false]; $("how").focus(); };
    $("begin").onclick = () => this.begin();
    $("pause").onclick = () => this.pause(!this.paused);
    $("stop").onclick = () => this.finish();
    $("go").onclick = () => this.play(trials);
    $("again").onclick = () => location.reload();
    $("download").onclick = () => this.download();
  }

  begin() {
    this.waits = document.querySelector("[name=clock]:checked").value === "waits";
    this.play(this.practice ?? this.trials);
  }

  /** Play a block: the practice trials, or those of the record. */
  async play(trials) {
    this.kernel = trials.door ? await RemoteKernel.begin(trials) : new Kernel(trials, this.lines);
    this.practising = trials === this.practice;
    $("stop").textContent = this.practising ? "End the practice" : "Stop and see the results";
    $("ready").hidden = true;
    this.say("");
    Object.assign(this, { actions: [], pending: undefined, budget: 0, rests: 0, paused: false, running: true });
    $("start").hidden = true;
    $("game").hidden = false;
    $("view").focus();
    this.show();
    this.last = performance.now();
    requestAnimationFrame((now) => this.frame(now).catch(fail));
  }

  // ------------------------------------------------------------ input

  press(action) {
    if (!this.running || this.paused || this.rests > 0) return;
    this.pending = action;
  }

  key(event) {
    if (!this.running || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") return this.pause(!this.paused);
    const action = this.controls.keys.get(event.key.length === 1 ? event.key.toLowerCase() : event.key);
    // Space presses the button that has the focus, and arrows move the slider.
    const native = { BUTTON: /^ $/, INPUT: /^Arrow/ }[event.target.tagName];
    if (!action || native?.test(event.key)) return;
    event.preventDefault();
    if (!event.repeat || action.repeats) action(); // a key that is held answers once
    if (!action.repeats) this.controls.held = action;
  }

  pause(paused) {
    if (!this.running) return;
    this.paused = paused;
    if (paused) this.view.pause();
    $("pause").firstChild.textContent = paused ? "Continue " : "Pause ";
    this.say(paused ? "Paused." : "");
  }

  /** Say what a trial paid, and whether it was correct if the page says so. */
  tell({ outcome, reward }) {
    const kind = this.saysOutcome ? outcome : "", paid = `reward ${+reward.toFixed(2)}`;
    this.say(SAID[kind] ? `${SAID[kind]}, ${paid}` : paid, kind);
  }

  say(text, kind = "") {
    [$("feedback").textContent, $("feedback").className] = [text, kind];
  }

  // ------------------------------------------------------------ the clock

  /** Whether the page says if a trial was correct. */
  get saysOutcome() { return this.feedback || this.practising; }

  /** Whether the clock stands until the person acts. */
  get stands() {
    const { rest, continuous } = this.trials;
    return this.pending === undefined && ((rest === null && !continuous) || (this.waits && this.kernel.isAsked));
  }

  async frame(now) {
    if (!this.running) return;
    const passed = Math.min(now - this.last, 250); // a page in the background does not catch up
    this.last = now;
    if (!this.paused) this.view.tick(now);
    if (!this.paused && this.rests > 0) {
      if ((this.rests -= passed) <= 0) this.next();
    } else if (!this.paused) {
      this.budget += passed;
      const quick = this.waits && this.kernel.isAsked && this.pending !== undefined;
      if (quick) this.budget = Math.max(this.budget, this.trials.dt);
      while (this.budget >= this.trials.dt && this.running && !this.paused && this.rests <= 0) {
        if (this.stands) { this.budget = 0; break; }
        this.budget -= this.trials.dt;
        await this.step();
      }
    }
    requestAnimationFrame((later) => this.frame(later).catch(fail));
  }

  async step() {
    const { rest, continuous, holds } = this.trials;
    if (holds) this.controls.held?.();
    const action = this.pending ?? (continuous ? this.controls.current() : rest);
    this.pending = undefined;
    this.actions.push(action);
    const { reward, ended } = await this.kernel.step(action);
    if (!ended) {
      if (reward) this.say(`reward ${+reward.toFixed(2)}`);
      return this.show();
    }
    this.tell(this.kernel.rows.at(-1));
    this.view.clear();
    [this.rests, this.budget] = [PAUSE, 0];
  }

  next() {
    if (this.kernel.done) return this.finish();
    this.say("");
    this.rests = 0;
    this.show();
  }

  show() {
    this.view.show(this.kernel.observe(), this.kernel.exact);
    const correct = this.kernel.rows.filter((row) => row.outcome === "correct").length;
    $("progress").textContent = `${this.practising ? "Practice trial" : "Trial"} ${this.kernel.trial + 1} of ${this.kernel.trials.n_trials}${this.saysOutcome ? `, ${correct} correct` : ""}`;
  }

  // ------------------------------------------------------------ the end

  /** The practice trials are over; those of the record follow. */
  practised() {
    const correct = this.kernel.rows.filter((row) => row.outcome === "correct").length;
    $("practised").textContent = `${correct} of ${this.kernel.rows.length} trials were correct. The next ${this.trials.n_trials} trials are recorded${this.feedback ? "" : ", and the page does not say whether they are correct"}.`;
    $("ready").hidden = false;
    $("over").focus();
  }

  async finish() {
    this.running = false;
    this.view.clear();
    $("game").hidden = true;
    if (this.practising) return this.practised();
    $("end").hidden = false;
    $("report").replaceChildren(...report(this.kernel.trials, this.kernel.rows, this.waits, this.beside, this.declared));
    $("download").disabled = !this.kernel.rows.length;
    $("results").focus();
    $("download").hidden = Boolean(this.trials.door); // Python has the record, unless it cannot save it
    $("again").hidden = this.save && this.kernel.rows.length; // its server stops with the record
    if (!this.save || !this.kernel.rows.length) return;
    const body = JSON.stringify({ actions: this.actions, trials: this.kernel.rows.length, waits: this.waits });
    try {
      const answer = await fetch(this.save, { method: "POST", body, headers: { "Content-Type": "application/json" } });
      $("saved").textContent = await answer.text();
      this.unsaved = !answer.ok;
    } catch {
      this.unsaved = true;
      $("saved").textContent = "The record could not be saved: the server has stopped. Download it instead.";
    }
    if (this.unsaved) $("download").hidden = false;
  }

  download() {
    this.unsaved = false;
    const rows = this.kernel.rows.map((row) => ({ ...row, subject: "person", ...(this.waits ? { clock: "waits" } : {}) }));
    const url = URL.createObjectURL(new Blob([toCSV(rows)], { type: "text/csv" }));
    element("a", { href: url, download: "trials.csv" }).click();
    setTimeout(() => URL.revokeObjectURL(url), 1000);
  }
}

function introduce(task, game) {
  const { title, summary, instructions, view, trials, practice } = task;
  document.title = `${title}: play`;
  $("title").textContent = title;
  $("summary").textContent = summary;
  $("instructions").textContent = instructions || "Find the right answers by your rewards.";
  $("seen").textContent = view ? ""
    : "The lamps show the inputs of the network that does this task, and nothing else. Yellow is above zero, blue below; the larger, the farther.";
  $("length").textContent = `There are ${trials.n_trials} trials${practice ? `, and ${practice.n_trials} for practice before them, which say whether you were right and are not recorded` : ""}.`;
  $("keys").replaceChildren(...game.controls.said.map(([label, keys]) => element("li", {},
    ...keys.flatMap((key) => [element("kbd", { textContent: key }), " "]), label)));
  $("held").hidden = !trials.holds;
  const least = trials.shortest_window ?? Infinity, waits = least < QUICK;
  document.querySelector(`[name=clock][value=${waits ? "waits" : "runs"}]`).checked = true;
  $("pace").textContent = Number.isFinite(least)
    ? `The shortest time for an answer is ${Math.round(least)} ms${waits ? ", which is short for a person" : ""}.` : "";
  const warning = flickerOf(task);
  $("flicker").querySelector("span").textContent = warning;
  $("flicker").hidden = !warning;
  $("start").hidden = Boolean(warning);
}

// ---------------------------------------------------------------- a page for many tasks

const asked = new URLSearchParams(location.search);

/** The file of the trials: that of the page, or of a task and a seed that the address names. */
async function tables(fetched) {
  const id = asked.get("task"), seed = asked.get("seed") ?? "0";
  if (id === null) {
    const own = await (await fetched("task.json")).json();
    if (!own.trials) throw new Error("The address names no task: begin from the page of a task");
    return own;
  }
  if (!/^[\w-]+\/[\w-]+$/.test(id) || !/^\d+$/.test(seed)) throw new Error("The address names no task and seed");
  const { body } = await fetched(`tasks/${id}/${seed}.trials`);
  const task = await new Response(body.pipeThrough(new DecompressionStream("gzip"))).json();
  const most = task.trials.n_trials, n = Math.trunc(Number(asked.get("n")));
  if (n >= 1) task.trials.n_trials = Math.min(n, most);
  return { ...task, id, most };
}

/** Settings of the trials, which the address has, and a link with them. */
function offer({ id, most, seeds, about, trials }) {
  if (!id) return;
  const { n, seed, task } = $("settings").elements;
  [n.max, n.value, task.value] = [most, trials.n_trials, id];
  seed.append(...seeds.map((one) => element("option", { textContent: one, selected: one === trials.seed })));
  $("settings").hidden = $("share").hidden = false;
  const [link, said] = $("share").querySelectorAll("a, span");
  link.href = `?${new URLSearchParams({ task: id, seed: trials.seed, n: trials.n_trials })}`;
  link.target = "_top";
  $("copy").onclick = () => navigator.clipboard.writeText(link.href).then(
    () => { said.textContent = "Copied."; }, () => { said.textContent = link.href; });
  $("home").hidden = !about || window !== top;
  if (about) $("home").firstChild.href = about;
}

async function load() {
  const fetched = async (name) => {
    const answer = await fetch(name);
    if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
    return answer;
  };
  const [task, noise] = await Promise.all([
    tables(fetched), fetched("noise.f32").then((answer) => answer.arrayBuffer()),
  ]);
  const game = new Game(task, new Float32Array(noise), await drawingsOf(task.view));
  introduce(task, game);
  offer(task);
  return game;
}

/** The server did not answer: the game cannot go on. */
function fail(error) {
  window.game.running = false;
  $("problem").hidden = false;
  $("problem").textContent = `${error.message}. Expected an answer of the command that serves this page. Start it again, and load its new address.`;
}

load().then((game) => { window.game = game; }, (error) => {
  $("title").textContent = "The task could not be loaded";
  $("problem").hidden = false;
  $("problem").textContent = `${error.message}. Expected the files of the export on a web server. Serve the folder, for example with: python -m http.server`;
});
