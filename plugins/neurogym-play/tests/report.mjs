// Print the texts of the elements of a report, one line each.
// Input: { results: path of results.js, trials, rows, waits, beside, view } as JSON.

import { readFileSync } from "node:fs";

const { results, trials, rows, waits, beside, view } = JSON.parse(readFileSync(0, "utf8"));

/** An element of a page, as far as a report uses it. */
class Element {
  constructor() { this.children = []; }

  append(...children) { this.children.push(...children); }

  setAttribute() {}

  get texts() {
    const inner = this.children.flatMap((one) => (typeof one === "string" ? [one] : one.texts));
    return [...(this.textContent === undefined ? [] : [`${this.textContent}`]), ...inner];
  }
}

globalThis.document = { createElement: () => new Element(), createElementNS: () => new Element() };
Map.groupBy ??= (all, key) => { // Node before 21
  const groups = new Map();
  for (const one of all) groups.set(key(one), [...(groups.get(key(one)) ?? []), one]);
  return groups;
};
const { report } = await import(results);
console.log(JSON.stringify(report(trials, rows, waits, beside, view).flatMap((one) => one.texts)));
