// Filters of the wall of tasks. Without scripts, the wall is a list of all tasks.
document.addEventListener("DOMContentLoaded", () => {
  const wall = document.getElementById("wall");
  if (!wall) return;
  const items = [...wall.querySelectorAll("li")];
  const valuesOf = (item, name) =>
    name === "package" ? [item.dataset.package] : JSON.parse(item.dataset[name]);
  const bar = document.createElement("div");
  bar.className = "wall-filters";
  bar.setAttribute("role", "search");
  bar.setAttribute("aria-label", "Tasks");
  const add = (text, control) => {
    const label = document.createElement("label");
    label.textContent = text;
    label.append(control);
    bar.append(label);
    control.addEventListener("input", update);
    return control;
  };
  const choose = (text, name) => {
    const select = document.createElement("select");
    select.dataset.name = name;
    const all = [...new Set(items.flatMap((item) => valuesOf(item, name)))].sort();
    for (const value of ["", ...all]) select.add(new Option(value || "all", value));
    return add(text, select);
  };
  const words = document.createElement("input");
  words.type = "search";
  add("Name, paper or text", words);
  const selects = [choose("Tag", "tags"), choose("Species", "species"), choose("Package", "package")];
  const count = document.createElement("p");
  count.setAttribute("role", "status");
  wall.before(bar, count);
  function update() {
    const sought = words.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const item of items) {
      const fits =
        sought.every((word) => item.dataset.text.includes(word)) &&
        selects.every((one) => !one.value || valuesOf(item, one.dataset.name).includes(one.value));
      item.hidden = !fits;
      shown += fits;
    }
    count.textContent = `${shown} of ${items.length} tasks`;
  }
  update();
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
