// The experiment: consent, screen, instructions, practice, trials, end. Change it as your study needs.

import { Controls } from "./controls.js";
import { Kernel } from "./kernel.js";
import { save } from "./save.js";
import { drawingsOf, flickerOf } from "./stimuli.js";
import { element } from "./view.js";

const ATTENTION_EVERY = 50; // trials between two attention checks; 0: none
const SLOW = 20, IRREGULAR = 0.1; // ms of a frame, and share of irregular ones, from which on the person is warned

const LAMPS = "<p>The lamps show the inputs of the network that does this task. Yellow is above zero, blue below; the larger, the farther.</p>";

const escaped = (text) => element("p", { textContent: text }).innerHTML;

const page = (stimulus, choices, data = {}) => ({ type: jsPsychHtmlButtonResponse, stimulus, choices, data });

/** The keys and their actions, as a list. */
function keys(trials) {
  const { said } = new Controls(element("div"), trials, () => {});
  const lines = said.map(([label, names]) => `<li>${names.map((key) => `<kbd>${escaped(key)}</kbd> `).join("")}${escaped(label)}</li>`);
  return `<h3>Keys</h3><ul>${lines.join("")}</ul>`;
}

function attention() {
  const wanted = Math.random() < 0.5 ? 0 : 1, words = ["circle", "square"];
  return {
    ...page(`<p>Please press the button “${words[wanted]}”.</p>`, words, { check: "attention" }),
    on_finish: (data) => { data.passed = data.response === wanted; },
  };
}

async function begin() {
  const fetched = async (name) => {
    const answer = await fetch(name);
    if (!answer.ok) throw new Error(`${name}: ${answer.status}. Expected the files that ngym export wrote. Write them again.`);
    return answer;
  };
  if (!globalThis.initJsPsych || !globalThis.jsPsychHtmlButtonResponse || !globalThis.jsPsychFullscreen)
    throw new Error("jsPsych is not in the folder node_modules. Expected version 8 and two plugins. Run npm install in this folder.");
  const { NeurogymFrames, trialPlugin } = await import("./trial.js"); // needs jsPsych
  const task = await (await fetched("task.json")).json(), { title, summary, instructions, view, trials, practice, feedback } = task;
  const lines = new Float32Array(await (await fetched("noise.f32")).arrayBuffer());
  const drawings = await drawingsOf(view);
  const consent = await (await fetched("consent.html")).text();
  document.title = document.getElementById("title").textContent = title;

  const jsPsych = initJsPsych({ display_element: "experiment", on_finish: () => end() });
  const address = new URLSearchParams(location.search);
  const subject = address.get("subject") ?? `p${crypto.getRandomValues(new Uint32Array(1))[0].toString(36)}`;
  jsPsych.data.addProperties({ subject, task: trials.task, seed: trials.seed, dt: trials.dt });

  async function end() {
    const said = element("p", { role: "status", id: "saved" });
    const download = element("button", { id: "download", textContent: "Download the data", onclick: () => jsPsych.data.get().localSave("json", `${subject}.json`) });
    jsPsych.getDisplayElement().replaceChildren(element("h2", { textContent: "The end" }), element("p", { textContent: "Thank you." }), element("p", {}, download), said);
    said.textContent = await save(jsPsych.data.get(), subject);
  }

  const block = (some, isPractice) => ({ kernel: new Kernel(some, lines), frame: 1000 / 60, practice: isPractice, view, drawings });
  const blocks = [practice && block(practice, true), block(trials, false)].filter(Boolean);
  const noted = { ...page(
    "<h2>Your screen</h2><p>Your screen shows pictures slowly or irregularly. Close other programs and pages. If this stays, times of your answers are less exact.</p>",
    ["Continue"], { check: "screen" }) };
  const flicker = flickerOf(task);
  const warned = page(`<h2>Flickering lights</h2><p>${escaped(flicker)} Such lights can cause seizures in people with photosensitive
    epilepsy, and discomfort in others. Do not go on if they can harm you.</p>`, ["Go on"], { check: "flicker" });
  let screen;
  const timeline = [
    { ...page(consent, ["I agree", "I do not agree"], { check: "consent" }),
      on_finish: ({ response }) => { if (response === 1) jsPsych.abortExperiment("<p>You did not agree, and nothing was recorded. You can close this page.</p>"); } },
    { type: jsPsychFullscreen, fullscreen_mode: true },
    { type: NeurogymFrames, on_finish: (data) => {
      screen = data;
      for (const one of blocks) one.frame = data.frame;
    } },
    { timeline: [noted], conditional_function: () => screen.frame > SLOW || screen.irregular > IRREGULAR },
    ...(flicker ? [warned] : []),
    page(`<h2>${escaped(title)}</h2><p>${escaped(instructions || summary)}</p>${view ? "" : LAMPS}${keys(trials)}`, ["Begin"], { check: "instructions" }),
  ];
  for (const one of blocks) {
    const { n_trials } = one.kernel.trials, says = feedback || one.practice;
    for (let k = 0; k < n_trials; k++) {
      if (!one.practice && ATTENTION_EVERY && k && k % ATTENTION_EVERY === 0) timeline.push(attention());
      timeline.push({ type: trialPlugin(one), feedback: says });
    }
    if (one.practice) timeline.push(page(`<p>The practice is over. ${trials.n_trials} trials follow.</p>`, ["Begin"], { check: "practice" }));
  }
  timeline.push({ type: jsPsychFullscreen, fullscreen_mode: false });
  document.getElementById("problem").remove();
  globalThis.experiment = { jsPsych, blocks };
  await jsPsych.run(timeline);
}

begin().catch((error) => {
  const said = document.getElementById("problem") ?? element("p", { id: "problem", role: "alert" });
  said.textContent = error.message;
  document.querySelector("main").prepend(said);
});
