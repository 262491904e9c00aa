// Filters of the list of tasks, which its address has. Without scripts, it is a list of all tasks.
document.addEventListener("DOMContentLoaded", () => {
  const wall = document.getElementById("wall");
  const filters = { tag: "Topic", species: "Species", channel: "Inputs", networks: "Networks", play: "Played", package: "Package" };
  if (!wall || !document.getElementById("filters")) return;
  const items = [...wall.querySelectorAll("li")];
  const values = new Map(items.map((item) => [item, Object.fromEntries(
    Object.keys(filters).map((name) => [name, JSON.parse(item.dataset[name])]))]));
  const asked = new URLSearchParams(location.search);
  const bar = document.createElement("form");
  bar.className = "wall-filters";
  bar.setAttribute("role", "search");
  bar.setAttribute("aria-label", "Tasks");
  bar.addEventListener("submit", (event) => event.preventDefault());
  const add = (text, name, control) => {
    const label = document.createElement("label");
    label.append(text, control);
    control.name = name;
    bar.append(label);
    control.addEventListener("input", update);
    return control;
  };
  const words = add("Name, paper or text", "q", Object.assign(document.createElement("input"), { type: "search" }));
  words.value = asked.get("q") ?? "";
  const selects = Object.entries(filters).map(([name, text]) => {
    const select = document.createElement("select");
    const counts = new Map();
    for (const item of items) for (const one of values.get(item)[name]) counts.set(one, (counts.get(one) ?? 0) + 1);
    select.add(new Option("all", ""));
    for (const value of [...counts.keys()].sort()) select.add(new Option(`${value} (${counts.get(value)})`, value));
    select.value = counts.has(asked.get(name)) ? asked.get(name) : "";
    return add(text, name, select);
  });
  const reset = Object.assign(document.createElement("button"), { type: "button", textContent: "Show all" });
  reset.addEventListener("click", () => {
    for (const one of [words, ...selects]) one.value = "";
    update();
  });
  bar.append(reset);
  const count = document.createElement("p");
  count.setAttribute("role", "status");
  document.getElementById("filters").append(bar, count);
  function update() {
    const sought = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const item of items) {
      const fits =
        sought.every((word) => item.dataset.text.includes(word)) &&
        selects.every((one) => !one.value || values.get(item)[one.name].includes(one.value));
      item.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${items.length} tasks`;
    const given = [words, ...selects].filter((one) => one.value).map((one) => [one.name, one.value]);
    const query = new URLSearchParams(given).toString();
    history.replaceState(null, "", location.pathname + (query && `?${query}`) + location.hash);
  }
  update();
});

// Tables of results: a column sorts the rows, values with a range get a chart, and the table is a file.
document.addEventListener("DOMContentLoaded", () => {
  const page = /\/docs\/(gallery-results|leaderboard|agent-results|results|performance|neurons|coverage)\.html$/.exec(location.pathname);
  if (!page) return;
  const range = /^(-?[\d.]+)\*? ?[([](-?[\d.]+)(?:–|, | to )(-?[\d.]+)[)\]]$/;
  const number = (text) => (/^[≥≤]? ?[-+]?[\d.]/.test(text) ? parseFloat(text.replace(/^[≥≤] ?|,(?=\d{3})/g, "")) : NaN);
  const textOf = (row, k) => row.cells[k]?.dataset.value ?? row.cells[k]?.textContent.trim() ?? "";
  const svg = (name, attributes) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
  };
  for (const [at, table] of [...document.querySelectorAll(".bd-article table")].entries()) {
    const [body] = table.tBodies, heads = [...table.tHead?.rows[0]?.cells ?? []], rows = [...body?.rows ?? []];
    if (rows.length < 5) continue;
    const names = heads.map((one) => one.textContent.trim());
    // A chart in the cell, on one scale for the column; 0 and 1 are marked.
    names.forEach((_, k) => {
      const found = rows.map((row) => range.exec(textOf(row, k))?.slice(1).map(Number));
      const filled = rows.filter((row) => textOf(row, k)).length; // a network does not play all tasks
      if (!filled || found.filter(Boolean).length < filled / 2) return;
      const ends = [0, 1, ...found.filter(Boolean).flat()];
      const low = Math.max(Math.min(...ends), -1), high = Math.min(Math.max(...ends), 2);
      const x = (value) => 4 + (112 * (Math.min(Math.max(value, low), high) - low)) / (high - low);
      rows.forEach((row, i) => {
        if (!found[i]) return;
        const [value, from, to] = found[i], cell = row.cells[k];
        cell.dataset.value = cell.textContent.trim();
        const chart = svg("svg", { viewBox: "0 0 120 14", width: 120, height: 14, class: "range", "aria-hidden": "true" });
        for (const mark of [0, 1]) chart.append(svg("line", { x1: x(mark), x2: x(mark), y1: 0, y2: 14, class: "mark" }));
        chart.append(svg("line", { x1: x(from), x2: x(to), y1: 7, y2: 7, class: "bar" }), svg("circle", { cx: x(value), cy: 7, r: 3.5, class: value < low || value > high ? "outside" : "" }));
        cell.append(chart);
      });
    });
    heads.forEach((head, k) => {
      const button = document.createElement("button");
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const down = head.getAttribute("aria-sort") === "ascending";
        for (const one of heads) one.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const keys = new Map(rows.map((row) => [row, number(textOf(row, k))]));
        const numeric = rows.some((row) => !Number.isNaN(keys.get(row)));
        const empty = (row) => (numeric ? Number.isNaN(keys.get(row)) : textOf(row, k) === "");
        const compare = (a, b) => (numeric ? keys.get(a) - keys.get(b) : textOf(a, k).localeCompare(textOf(b, k), "en", { numeric: true }));
        body.append(...[...rows].sort((a, b) => empty(a) - empty(b) || (empty(a) ? 0 : (down ? -1 : 1) * compare(a, b))));
      });
    });
    const save = Object.assign(document.createElement("button"), { type: "button", className: "save-table", textContent: "Download this table (CSV)" });
    save.addEventListener("click", () => {
      const quoted = (text) => `"${text.replaceAll('"', '""')}"`;
      const lines = [names, ...[...body.rows].map((row) => names.map((_, k) => textOf(row, k)))];
      const csv = lines.map((line) => line.map(quoted).join(",")).join("\n");
      const url = URL.createObjectURL(new Blob([csv + "\n"], { type: "text/csv" }));
      Object.assign(document.createElement("a"), { href: url, download: `${page[1]}-${at + 1}.csv` }).click();
      setTimeout(() => URL.revokeObjectURL(url), 1000);
    });
    (table.closest(".pst-scrollable-table-container") ?? table).after(save);
  }
});

// Names that the theme's controls lack for screen readers.
document.addEventListener("DOMContentLoaded", () => {
  for (const summary of document.querySelectorAll("nav details > summary")) {
    const link = summary.closest("li")?.querySelector("a");
    summary.setAttribute("aria-label", `Pages below ${link ? link.textContent.trim() : "this"}`);
  }
  // Its visible text, "Search" and the keys, names it; the label leaves out the keys.
  document.querySelector(".search-button-field")?.removeAttribute("aria-label");
});

// "Play" on a task's page opens the game in the page; without scripts it is a link to the game.
document.addEventListener("DOMContentLoaded", () => {
  const link = document.querySelector("a.play");
  if (!link) return;
  link.setAttribute("role", "button");
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    const frame = document.createElement("iframe");
    Object.assign(frame, { className: "play", title: link.textContent, src: link.href, allow: "clipboard-write" });
    link.parentElement.replaceWith(frame);
    const fit = () => {
      frame.style.height = `${frame.contentDocument.documentElement.offsetHeight + 2}px`;
    };
    frame.addEventListener("load", () => {
      frame.contentWindow.focus();
      new ResizeObserver(fit).observe(frame.contentDocument.documentElement);
    });
  });
});
