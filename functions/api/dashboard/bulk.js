/** What is done to many tasks at once: chosen, counted, confirmed, then done a few at a time. */

import { BULK } from "./actions.js";
import { taskPath } from "./api.js";
import { ask } from "./dialog.js";
import { h, say } from "./dom.js";
import { button } from "./panel.js";
import { runWithBar } from "./progress.js";
import { selection } from "./selection.js";
import { warn } from "./toast.js";
import { count, stateOf } from "./words.js";

/** `filters()` says what the list shows; `onChange` hears that its boxes may be out of date. */
export function bulkBar({ api, signal, filters, onDone, onChange }) {
  const chosen = selection({ api, signal, filters, onChange: changed });
  let page = [];

  const pageBox = h("input", { type: "checkbox", id: "select-page", on: { change: choosePage } });
  const tally = h("span", { class: "number", role: "status" });
  const all = button("Select all matching tasks", chosen.walk);
  const clearing = button("Clear", chosen.clear);
  const verbs = Object.entries(BULK).map(([verb, { label }]) =>
    button(`${label}…`, () => act(verb), { kind: toneOf(verb), name: `${label} selected tasks` }));
  const chosenPart = h("span", { class: "bulk-chosen" }, tally, clearing, verbs);
  const node = h("div", { class: "bulk", role: "group", "aria-label": "Selected tasks" },
    h("label", { class: "check" }, pageBox, "Select this page"), all, chosenPart);

  function choosePage() {
    for (const task of page) chosen.put(task, pageBox.checked);
    changed();
  }

  function changed() {
    draw();
    onChange();
  }

  function draw() {
    const here = page.filter((task) => chosen.has(task.id)).length;
    const isWalking = chosen.isWalking();
    const isNone = chosen.size() === 0;
    pageBox.checked = page.length > 0 && here === page.length;
    pageBox.indeterminate = here > 0 && here < page.length;
    chosenPart.hidden = isNone && !isWalking;
    for (const one of [clearing, ...verbs]) one.hidden = isNone || isWalking;
    say(all, isWalking ? "Stop selecting" : "Select all matching tasks");
    const many = chosen.size().toLocaleString("en");
    say(tally, isWalking ? `Selecting: ${many} found` : `${many} selected`);
  }

  async function act(verb) {
    const { label, fits } = BULK[verb];
    const able = chosen.all().filter(fits);
    if (!(await isConfirmed(label, able, chosen.all(), verb))) return;
    await runWithBar(`${label} ${count(able.length, "task")}`, able,
      (task) => api.post(taskPath(task.id, verb)));
    chosen.clear();
    onDone();
  }

  draw();
  return {
    node,
    clear: chosen.clear,
    has: chosen.has,
    choose(task, isChosen) {
      chosen.put(task, isChosen);
      draw();
    },
    onPage(tasks) {
      page = tasks;
      for (const task of tasks) if (chosen.has(task.id)) chosen.put(task, true);
      draw();
    },
  };
}

function isConfirmed(label, able, chosen, verb) {
  const states = new Map();
  for (const task of able) states.set(stateOf(task)[0], (states.get(stateOf(task)[0]) || 0) + 1);
  const left = chosen.length - able.length;
  if (!able.length) {
    warn(`No selected task can be ${BULK[verb].done} in its current state.`);
    return false;
  }
  return ask({
    title: `${label} ${count(able.length, "task")}?`,
    body: [
      h("ul", { class: "reasons" }, [...states].map(([name, many]) =>
        h("li", {}, h("span", { class: "number" }, many.toLocaleString("en")), ` ${name.toLowerCase()}`))),
      left ? h("p", { class: "quiet" }, `${count(left, "selected task")} cannot be ${BULK[verb].done} in the current state: skipped.`) : null,
      BULK[verb].warning ? h("p", {}, BULK[verb].warning) : null,
    ],
    confirm: `${label} ${count(able.length, "task")}`,
    tone: toneOf(verb),
  });
}

function toneOf(verb) {
  return BULK[verb].warning ? "danger" : "";
}
