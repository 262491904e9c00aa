// The page at the end: accuracy, and the psychometric curve.

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

/** Groups of equal x, or seven of similar x if there are more than eleven values. */
function binned(points) {
  const sorted = [...points].sort(([a], [b]) => a - b);
  const values = [...new Set(sorted.map(([x]) => x))];
  const groups = values.length <= 11
    ? values.map((x) => sorted.filter(([one]) => one === x))
    : Array.from({ length: 7 }, (_, i) => sorted.slice((i * sorted.length) / 7, ((i + 1) * sorted.length) / 7));
  return groups.filter((group) => group.length).map((group) => ({
    x: group.reduce((sum, [x]) => sum + x, 0) / group.length,
    k: group.filter(([, is]) => is).length,
    n: group.length,
  }));
}

/** The elements of the report; `beside`: performances and curves of others, see `neurogym_play.pages`. */
export function report(trials, rows, waits, beside) {
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
  const times = rows.map((row) => row[ofSlot(trials, "reaction_time")]).filter((ms) => ms >= 0).sort((a, b) => a - b);
  if (times.length && !waits)
    parts.push(element("p", { textContent: `Median reaction time ${times[times.length >> 1]} ms, on the clock of the task (steps of ${trials.dt} ms).` }));
  if (waits) parts.push(element("p", { textContent: "The clock waited for your answers, so there are no reaction times." }));
  if (beside?.performance?.length) {
    const others = beside.performance.map(([who, value]) => [who, percent(value)]);
    parts.push(table(["who", "performance"], [["you", percent(mean(rows, "performance"))], ...others], "Beside you"));
  }
  const points = psychometric(trials, rows), others = beside?.curves ?? [];
  if (points.length > 1) {
    const title = `Answers "${trials.names[ofSlot(trials, "choice")][1]}" by evidence`;
    const share = (x, { points: all }) => {
      const [, k, m] = all.find(([at]) => Math.abs(at - x) < 1e-6) ?? [];
      return m ? percent(k / m) : "";
    };
    const lines = points.map(({ x, k, n: m }) => [+x.toFixed(3), m, percent(k / m), ...others.map((one) => share(x, one))]);
    const own = others.length ? "you" : "share";
    parts.push(curve(points, title, others), table(["evidence", "answers", own, ...others.map(({ name }) => name)], lines, title));
  } else parts.push(...byCondition(trials, rows, percent));
  return parts;
}

const mean = (rows, name) => rows.reduce((sum, row) => sum + row[name], 0) / rows.length;

/** A table of the performance for each condition with two to eight values. */
function byCondition(trials, rows, percent) {
  return trials.conditions.flatMap((name) => {
    const groups = Map.groupBy(rows, (row) => String(row[name]));
    if (groups.size < 2 || groups.size > 8) return [];
    const lines = [...groups].sort(([a], [b]) => a.localeCompare(b, "en", { numeric: true }))
      .map(([value, some]) => [value, some.length, percent(mean(some, "performance"))]);
    return [table([name.replaceAll("_", " "), "trials", "performance"], lines, `By ${name.replaceAll("_", " ")}`)];
  });
}

function table(head, lines, title) {
  return element("table", {}, element("caption", { textContent: title }),
    element("thead", {}, element("tr", {}, ...head.map((text) => element("th", { scope: "col", textContent: text })))),
    element("tbody", {}, ...lines.map(([first, ...others]) => element("tr", {},
      element("th", { scope: "row", textContent: first }), ...others.map((text) => element("td", { textContent: text }))))));
}

/** The psychometric curve with Wilson's 95 % intervals, and the curves of others as lines. */
function curve(points, title, others) {
  const every = [...points.map(({ x }) => x), ...others.flatMap((one) => one.points.map(([at]) => at))];
  const [low, high] = [Math.min(...every), Math.max(...every)], x = (value) => 50 + (380 * (value - low)) / (high - low);
  const y = (share) => 210 - 190 * share;
  const label = (at, text, anchor) => drawn("text", { x: at[0], y: at[1], "text-anchor": anchor }, text);
  const line = (x1, y1, x2, y2, kind) => drawn("line", { x1, y1, x2, y2, class: kind });
  const path = (at) => at.map(([one, share]) => `${x(one)},${y(share)}`).join(" ");
  const kinds = others.map((_, i) => `other other${i}`), height = 255 + (others.length ? 18 * (others.length + 1) : 0);
  return drawn("svg", { viewBox: `0 0 450 ${height}`, width: 450, class: "plot", role: "img", "aria-label": `${title}: the numbers are in the table below` },
    line(50, 210, 430, 210, "axis"), line(50, 20, 50, 210, "axis"), line(50, y(0.5), 430, y(0.5), "chance"),
    ...[0, 0.5, 1].map((share) => label([44, y(share) + 4], `${100 * share} %`, "end")),
    ...[low, high].map((at) => label([x(at), 228], `${+at.toFixed(2)}`, "middle")),
    label([240, 246], "evidence", "middle"), label([50, 12], title, "start"),
    ...others.map((one, i) => drawn("polyline", { class: kinds[i], points: path(one.points.map(([at, k, n]) => [at, k / n])) })),
    drawn("polyline", { class: "curve", points: path(points.map(({ x: at, k, n }) => [at, k / n])) }),
    ...(others.length ? ["you", ...others.map(({ name }) => name)] : []).flatMap((name, i) =>
      [line(50, 262 + 18 * i, 90, 262 + 18 * i, i ? kinds[i - 1] : "curve"), label([98, 266 + 18 * i], name, "start")]),
    ...points.flatMap(({ x: at, k, n }) => {
      const [from, to] = interval(k, n);
      return [line(x(at), y(from), x(at), y(to), "bar"), drawn("circle", { cx: x(at), cy: y(k / n), r: 4, class: "point" })];
    }));
}
