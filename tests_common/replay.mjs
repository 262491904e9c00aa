// Replay games: node replay.mjs GAMES KERNEL..., with the paths of a JSON file and of kernels.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [gamesPath, ...kernelPaths] = process.argv.slice(2);
const { lines, games } = JSON.parse(readFileSync(gamesPath));
const bytes = (values) => Buffer.from(values.buffer).toString("base64");
const noise = Buffer.from(lines, "base64");
const table = new Float32Array(noise.buffer.slice(noise.byteOffset, noise.byteOffset + noise.length));

function play({ Kernel, toCSV }, { trials, actions }) {
  const kernel = new Kernel(trials, table);
  const seen = [], rewards = [], ended = [], over = [], targets = [], periods = [];
  for (const action of actions) {
    seen.push(...kernel.observe());
    targets.push(...[kernel.target].flat().flatMap((one) => (one.length ? [...one] : one)));
    periods.push(kernel.period);
    const step = kernel.step(action);
    rewards.push(step.reward);
    ended.push(step.ended);
    over.push(step.over);
  }
  // JSON has no NaN: numbers travel as bytes, missing times as null.
  return {
    seen: bytes(Float32Array.from(seen)), rewards: bytes(Float64Array.from(rewards)),
    targets: bytes(Float64Array.from(targets)),
    periods, ended, over, rows: kernel.rows, csv: toCSV(kernel.rows),
  };
}

const results = [];
for (const path of kernelPaths) {
  const module = await import(pathToFileURL(path));
  results.push(games.map((game) => {
    try {
      return play(module, game);
    } catch (error) { // of a kernel that a test broke
      return { error: String(error) };
    }
  }));
}
process.stdout.write(JSON.stringify(results));
