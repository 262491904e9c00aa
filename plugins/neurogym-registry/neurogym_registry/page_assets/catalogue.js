"use strict";
// The page is complete without this script, which only filters the tasks and copies texts.
const search = document.getElementById("search");
const filters = ["tags", "species", "package"].map((name) => document.getElementById(name));
const tasks = [...document.querySelectorAll("details.task")];
const count = document.getElementById("count");

function fits(task, words) {
  const text = task.dataset.text;
  if (!words.every((word) => text.includes(word))) return false;
  return filters.every((filter) => !filter.value || task.dataset[filter.id].split(" ").includes(filter.value));
}

function update() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0;
  for (const task of tasks) {
    task.hidden = !fits(task, words);
    shown += task.hidden ? 0 : 1;
  }
  count.textContent = `${shown} of ${tasks.length} tasks`;
}

async function copy(button) {
  const text = document.getElementById(button.dataset.copies).textContent;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Some browsers allow the clipboard on https pages only.
    const area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  const label = button.textContent;
  if (label === "Copied") return;
  button.textContent = "Copied";
  setTimeout(() => { button.textContent = label; }, 2000);
}

function openNamed() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (named instanceof HTMLDetailsElement) {
    named.open = true;
    named.scrollIntoView();
  }
}

search.addEventListener("input", update);
filters.forEach((filter) => filter.addEventListener("change", update));
document.addEventListener("click", (event) => {
  if (event.target instanceof HTMLButtonElement && event.target.dataset.copies) copy(event.target);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "/" && !(event.target instanceof HTMLInputElement)) {
    event.preventDefault();
    search.focus();
  }
  if (event.key === "Escape" && event.target === search) {
    search.value = "";
    update();
  }
});
window.addEventListener("hashchange", openNamed);
document.getElementById("reset").addEventListener("click", () => {
  search.value = "";
  filters.forEach((filter) => { filter.value = ""; });
  update();
  search.focus();
});
document.querySelectorAll(".needs-script").forEach((element) => { element.hidden = false; });
update();
openNamed();
