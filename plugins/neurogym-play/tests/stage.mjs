// Draw observations with the stage of a page, and print what its pen did: one text for each observation.
// Input: { stimuli: path of stimuli.js, view, channels, seen: [[…]], exact: [[…]], frames, module } as JSON.

import { readFileSync } from "node:fs";

const { stimuli, view, channels, seen, exact, frames = 1, module: own } = JSON.parse(readFileSync(0, "utf8"));
const { Stage } = await import(stimuli);
const drawings = own ? { [own.name]: (await import(own.path)).draw } : {};

/** A pen that writes down what is done with it. */
function recorder() {
  const done = [];
  const pen = new Proxy({}, {
    get: (_, name) => (...given) => { done.push(`${String(name)} ${given.map((one) => (typeof one === "object" ? "image" : one))}`); },
    set: (_, name, value) => { done.push(`${String(name)}=${value}`); return true; },
  });
  return [pen, done];
}

const drawn = exact.map((values, i) => {
  const [pen, done] = recorder();
  const heard = [];
  const sounds = { click: (pan, n) => heard.push(`${pan} ${n} clicks`), hold: (...given) => heard.push(given.join(" ")), silence() {} };
  const stage = new Stage(pen, view, channels, { sounds, grating: () => ({}), own: drawings });
  stage.take(Float32Array.from(seen[i]), Float32Array.from(values));
  done.length = 0;
  for (let frame = 0; frame < frames; frame++) stage.draw(16 * frame);
  return { picture: done.join("\n"), heard };
});
console.log(JSON.stringify(drawn));
