// The page at the end: accuracy, psychometric curve and reaction times, beside those of others.

import { drawn, element } from "./view.js";

/** Wilson's 95 % interval of a proportion. */
export function interval(k, n) {
  const z = 1.96, p = k / n, centre = (p + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = ((z * Math.sqrt((p * (1 - p)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n));
  return [centre - half, centre + half];
}

/** The name of a column of the first answer slot. */
const ofSlot = (trials, name) => (trials.slots.length > 1 ? `${trials.slots[0].name}.${name}` : name);

/** Points of the psychometric curve, [{x, k, n}]: k of n answers were the last choice; none without evidence. */
export function psychometric(trials, rows) {
  const choice = ofSlot(trials, "choice"), names = trials.names[choice];
  if (!trials.evidence || names?.length !== 2) return [];
  const answered = rows.filter((row) => row[choice] !== "none");
  const points = answered.map((row) => [trials.evidence[row.trial], row[choice] === names[1]]);
  return binned(points);
}

/** Points of the chronometric curve, [{x, ms, se, n}]: mean reaction times of correct trials over the strength of the evidence. */
export function chronometric(trials, rows) {
  const name = ofSlot(trials, "reaction_time");
  if (!trials.evidence) return [];
  const timed = rows.filter((row) => row.outcome === "correct" && row[name] >= 0);
  const groups = grouped(timed.map((row) => [Math.abs(trials.evidence[row.trial]), row[name]]));
  return groups.map((group) => {
    const ms = meanOf(group, 1), squares = group.reduce((sum, [, one]) => sum + (one - ms) ** 2, 0), n = group.length;
    return { x: meanOf(group, 0), ms, se: n > 1 ? Math.sqrt(squares / (n - 1) / n) : 0, n };
  });
}

function binned(points) {
  return grouped(points).map((group) => ({ x: meanOf(group, 0), k: group.filter(([, is]) => is).length, n: group.length }));
}

const meanOf = (group, i) => group.reduce((sum, one) => sum + one[i], 0) / group.length;

/** Groups of equal x, or seven of similar x if there are more than eleven values. */
function grouped(points) {
  const sorted = [...points].sort(([a], [b]) => a - b);
  const values = [...new Set(sorted.map(([x]) => x))];
  const groups = values.length <= 11
    ? values.map((x) => sorted.filter(([one]) => one === x))
    : Array.from({ length: 7 }, (_, i) => sorted.slice((i * sorted.length) / 7, ((i + 1) * sorted.length) / 7));
  return groups.filter((group) => group.length);
}

/** Whether a view draws a channel without its noise, other than as a cross: a fixation cue is no evidence. */
const isEasier = (view) => Boolean(view?.noiseless.some((name) => view.stimuli.some((one) =>
  one.draw !== "cross" && ["channel", "colour_by", "count_by", "place_by"].some((key) => one[key] === name))));

/** The elements of the report; `beside`: results of others, see `neurogym_play.add_task`; `view`: as task.json has it. */
export function report(trials, rows, waits, beside, view) {
  const n = rows.length, correct = rows.filter((row) => row.outcome === "correct").length;
  const percent = (share) => `${Math.round(100 * share)} %`;
  if (!n) return [element("p", { textContent: "No trial ended." })];
  const judged = rows.filter((row) => row.outcome !== "other").length; // a bandit's arm is neither right nor wrong
  const counts = [...Map.groupBy(rows, (row) => row.outcome)].map(([name, some]) => `${some.length} ${name}`);
  const total = rows.reduce((sum, row) => sum + row.reward, 0);
  const parts = [];
  if (judged) {
    const [low, high] = interval(correct, judged).map(percent);
    parts.push(element("p", {}, element("strong", { textContent: `${correct} of ${judged} trials correct: ${percent(correct / judged)}` }),
      ` (95 % interval ${low} to ${high}).`));
  }
  parts.push(element("p", { textContent: `Performance ${percent(mean(rows, "performance"))}, reward ${+total.toFixed(2)}. Outcomes: ${counts.join(", ")}.` }));
  const usual = median(rows, ofSlot(trials, "reaction_time"));
  if (usual && !waits)
    parts.push(element("p", { textContent: `Median reaction time ${usual}, on the clock of the task (steps of ${trials.dt} ms).` }));
  if (waits) parts.push(element("p", { textContent: "The clock waited for your answers, so there are no reaction times." }));
  if (beside?.performance?.length) {
    const others = beside.performance.map(([who, value]) => [who, percent(value)]);
    parts.push(table(["who", "performance"], [["you", percent(mean(rows, "performance"))], ...others], "Beside you"));
    if (isEasier(view) && beside.performance.some(([who]) => who !== "chance"))
      parts.push(element("p", { textContent: "You saw the stimuli without the noise of the network's inputs, so that you can be better than the ideal or a network." }));
  }
  parts.push(...bySlot(trials, rows, waits));
  const points = psychometric(trials, rows), others = beside?.curves ?? [];
  if (points.length > 1) {
    const title = `Answers "${trials.names[ofSlot(trials, "choice")][1]}" by evidence`;
    const theirs = others.map(({ name, points: all }, i) => ({ name, kind: `other other${i}`, points: all.map(([x, k, m]) => [x, k / m]) }));
    const own = points.map(({ x, k, n: m }) => ({ x, y: k / m, ends: interval(k, m), n: m }));
    parts.push(...figure(own, theirs, { title, x: "evidence", count: "answers", own: "share", said: percent, ticks: [0, 0.5, 1], line: 0.5 }));
  } else parts.push(...byCondition(trials, rows, percent, waits));
  const slow = waits ? [] : chronometric(trials, rows);
  if (slow.length > 1) {
    const theirs = others.map(({ name, times: all }, i) => ({ name, kind: `other other${i}`, points: all ?? [] })).filter((one) => one.points.length);
    const own = slow.map(({ x, ms, se, n: m }) => ({ x, y: ms, ends: [ms - 1.96 * se, ms + 1.96 * se], n: m }));
    const top = Math.max(...own.map(({ ends }) => ends[1]), ...theirs.flatMap((one) => one.points.map(([, ms]) => ms)));
    const step = 10 ** Math.floor(Math.log10(top)), highest = step * Math.ceil(top / step);
    parts.push(...figure(own, theirs, { title: "Reaction times of correct trials by strength of the evidence", x: "strength", count: "trials", own: "mean", said: (ms) => `${Math.round(ms)} ms`, ticks: [0, highest / 2, highest] }));
    if (theirs.length) parts.push(element("p", { textContent: "Times of animals are from the onset of the evidence; yours are from the opening of the response window." }));
  }
  if (beside?.missing?.length) parts.push(element("p", { textContent: `Nothing is known of ${beside.missing.join(" and ")} in this task.` }));
  if (beside?.note) parts.push(element("p", { textContent: beside.note }));
  return parts;
}

const mean = (rows, name) => rows.reduce((sum, row) => sum + row[name], 0) / rows.length;

/** Median reaction time of some trials, ms, the mean of the middle two of an even number; "" without times. */
function median(rows, name) {
  const times = rows.map((row) => row[name]).filter((ms) => ms >= 0).sort((a, b) => a - b);
  const middle = (times[(times.length - 1) >> 1] + times[times.length >> 1]) / 2;
  return times.length ? `${+middle.toFixed(2)} ms` : "";
}

/** A table for each condition with two to eight values, which have two trials or more in the mean. */
function byCondition(trials, rows, percent, waits) {
  const times = waits ? "" : ofSlot(trials, "reaction_time"), timed = median(rows, times);
  return trials.conditions.flatMap((name) => {
    const groups = Map.groupBy(rows, (row) => String(row[name])), isOne = typeof rows[0][name] !== "object";
    if (!isOne || groups.size < 2 || groups.size > Math.min(8, rows.length / 2)) return [];
    const lines = [...groups].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }))
      .map(([value, some]) => [value, some.length, percent(mean(some, "performance")), ...(timed ? [median(some, times)] : [])]);
    const heads = [name.replaceAll("_", " "), "trials", "performance", ...(timed ? ["reaction time"] : [])];
    return [table(heads, lines, `By ${name.replaceAll("_", " ")}`)];
  });
}

/** A table of the answers of a trial, if it has several. */
function bySlot({ slots }, rows, waits) {
  if (slots.length < 2) return [];
  const lines = slots.map(({ name }) => {
    const of = (outcome) => rows.filter((row) => row[`${name}.outcome`] === outcome).length;
    return [name, of("correct"), of("error"), of("miss"), waits ? "" : median(rows, `${name}.reaction_time`)];
  });
  return [table(["answer", "correct", "error", "miss", "reaction time"], lines, "By answer")];
}

function table(head, lines, title) {
  return element("table", {}, element("caption", { textContent: title }),
    element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col", textContent: text })))),
    element("tbody", {}, ...lines.map(([first, ...others]) => element("tr", {},
      element("th", { scope: "row", textContent: first }), ...others.map((text) => element("td", { textContent: text }))))));
}

/** A curve over x with 95 % intervals, the curves of others as lines, and a table of the numbers. */
function figure(own, others, { title, x, count, own: name, said, ticks, line }) {
  const at = (value, { points }) => {
    const found = points.find(([one]) => Math.abs(one - value) < 1e-6);
    return found ? said(found[1]) : "";
  };
  const lines = own.map((one) => [+one.x.toFixed(3), one.n, said(one.y), ...others.map((other) => at(one.x, other))]);
  const heads = [x, count, others.length ? "you" : name, ...others.map((other) => other.name)];
  return [curve(own, others, { title, x, said, ticks, line }), table(heads, lines, title)];
}

function curve(own, others, { title, x: xName, said, ticks, line: level }) {
  const every = [...own.map(({ x }) => x), ...others.flatMap((one) => one.points.map(([at]) => at))];
  const [low, high, top] = [Math.min(...every), Math.max(...every), ticks.at(-1)];
  const x = (value) => 60 + (370 * (value - low)) / (high - low), y = (value) => 210 - (190 * Math.max(value, 0)) / top;
  const label = (at, text, anchor) => drawn("text", { x: at[0], y: at[1], "text-anchor": anchor }, text);
  const line = (x1, y1, x2, y2, kind) => drawn("line", { x1, y1, x2, y2, class: kind });
  const path = (at) => at.map(([one, value]) => `${x(one)},${y(value)}`).join(" ");
  const height = 255 + (others.length ? 18 * (others.length + 1) : 0);
  return drawn("svg", { viewBox: `0 -8 450 ${height + 8}`, width: 450, class: "plot", role: "img", "aria-label": `${title}: the numbers are in the table below` },
    line(60, 210, 430, 210, "axis"), line(60, 20, 60, 210, "axis"), ...(level === undefined ? [] : [line(60, y(level), 430, y(level), "chance")]),
    ...ticks.map((value) => label([54, y(value) + 4], said(value), "end")),
    ...[low, high].map((at) => label([x(at), 228], `${+at.toFixed(2)}`, "middle")),
    label([240, 246], xName, "middle"), label([10, 4], title, "start"),
    ...others.map((one) => drawn("polyline", { class: one.kind, points: path(one.points) })),
    drawn("polyline", { class: "curve", points: path(own.map((one) => [one.x, one.y])) }),
    ...(others.length ? [{ name: "you", kind: "curve" }, ...others] : []).flatMap(({ name, kind }, i) =>
      [line(60, 262 + 18 * i, 100, 262 + 18 * i, kind), label([108, 266 + 18 * i], name, "start")]),
    ...own.flatMap((one) => [
      line(x(one.x), y(one.ends[0]), x(one.x), y(one.ends[1]), "bar"),
      drawn("circle", { cx: x(one.x), cy: y(one.y), r: 4, class: "point" })]));
}
