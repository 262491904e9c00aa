// Replay games: node replay.mjs KERNEL GAMES, with the paths of kernel.js and of a JSON file.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [kernelPath, gamesPath] = process.argv.slice(2);
const { Kernel, toCSV } = await import(pathToFileURL(kernelPath));
const { lines, games } = JSON.parse(readFileSync(gamesPath));
const bytes = (values) => Buffer.from(values.buffer).toString("base64");
const noise = Buffer.from(lines, "base64");
const table = new Float32Array(noise.buffer.slice(noise.byteOffset, noise.byteOffset + noise.length));

const results = games.map(({ trials, actions }) => {
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
});
process.stdout.write(JSON.stringify(results));
