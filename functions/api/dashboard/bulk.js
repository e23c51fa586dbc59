/** What is done to many tasks at once: chosen, counted, confirmed, then done a few at a time. */

import { BULK } from "./actions.js";
import { isAbandoned, taskPath } from "./api.js";
import { ask } from "./dialog.js";
import { h, say } from "./dom.js";
import { button } from "./panel.js";
import { runWithBar } from "./progress.js";
import { warn } from "./toast.js";
import { count, stateOf } from "./words.js";

const A_PAGE = 200;
const MOST = 10_000;

/** `filters()` says what the list shows; `onChange` hears that the choice is another one. */
export function bulkBar({ api, signal, filters, onDone, onChange }) {
  const chosen = new Map();
  let page = [];
  let isWalking = false;
  let latest = 0; // each walk has its own number: one that was called off touches nothing

  const pageBox = h("input", { type: "checkbox", id: "select-page", on: { change: choosePage } });
  const tally = h("span", { class: "number", role: "status" });
  const all = button("Select all that match", walk);
  const clearing = button("Clear", clear);
  const verbs = Object.entries(BULK).map(([verb, { label }]) =>
    button(`${label}…`, () => act(verb), { kind: toneOf(verb), name: `${label} selected tasks` }));
  const chosenPart = h("span", { class: "bulk-chosen" }, tally, clearing, verbs);
  const node = h("div", { class: "bulk", role: "group", "aria-label": "Selected tasks" },
    h("label", { class: "check" }, pageBox, "Select this page"), all, chosenPart);

  function choosePage() {
    for (const task of page) put(task, pageBox.checked);
    changed();
  }

  function put(task, isChosen) {
    if (isChosen) chosen.set(task.id, slim(task));
    else chosen.delete(task.id);
  }

  function changed(isListStale = true) {
    const here = page.filter((task) => chosen.has(task.id)).length;
    pageBox.checked = page.length > 0 && here === page.length;
    pageBox.indeterminate = here > 0 && here < page.length;
    chosenPart.hidden = chosen.size === 0 && !isWalking;
    clearing.hidden = chosen.size === 0 || isWalking;
    for (const one of verbs) one.hidden = isWalking || chosen.size === 0;
    say(all, isWalking ? "Stop looking" : "Select all that match");
    const many = chosen.size.toLocaleString("en");
    say(tally, isWalking ? `Looking: ${many} found` : `${many} selected`);
    if (isListStale) onChange();
  }

  function callOff() {
    latest += 1;
    isWalking = false;
  }

  function clear() {
    callOff();
    chosen.clear();
    changed();
  }

  /** Through all pages of what the filters let through; pressed again, it stops there. */
  async function walk() {
    if (isWalking) {
      callOff();
      changed();
      return;
    }
    clear();
    const mine = latest;
    isWalking = true;
    changed();
    try {
      const query = { ...filters(), limit: A_PAGE };
      for (let cursor; cursor !== null && chosen.size < MOST;) {
        const found = await api.get("/tasks", { query: { ...query, cursor }, signal });
        if (mine !== latest) return;
        for (const task of found.items) chosen.set(task.id, slim(task));
        cursor = found.next_cursor;
        changed();
      }
      if (chosen.size >= MOST) warn(`Only the first ${count(MOST, "task")} are selected: do these, then the rest.`);
    } catch (error) {
      if (mine !== latest) return;
      if (!isAbandoned(error)) warn(error.message);
    }
    isWalking = false;
    changed();
  }

  async function act(verb) {
    const { label, fits } = BULK[verb];
    const able = [...chosen.values()].filter(fits);
    if (!(await isConfirmed(label, able, [...chosen.values()], verb))) return;
    await runWithBar(`${label} ${count(able.length, "task")}`, able,
      (task) => api.post(taskPath(task.id, verb)));
    clear();
    onDone();
  }

  changed(false);
  return {
    node, clear,
    has: (id) => chosen.has(id),
    choose(task, isChosen) {
      put(task, isChosen);
      changed(false);
    },
    onPage(tasks) {
      page = tasks;
      for (const task of tasks) if (chosen.has(task.id)) chosen.set(task.id, slim(task));
      changed(false);
    },
  };
}

/** Of thousands, only what choosing needs. */
function slim({ id, short_id, status, paused, next_retry_at }) {
  return { id, short_id, status, paused, next_retry_at };
}

function isConfirmed(label, able, chosen, verb) {
  const states = new Map();
  for (const task of able) states.set(stateOf(task)[0], (states.get(stateOf(task)[0]) || 0) + 1);
  const left = chosen.length - able.length;
  if (!able.length) {
    warn(`None of the ${count(chosen.length, "selected task")} can be ${BULK[verb].done} as they stand.`);
    return false;
  }
  return ask({
    title: `${label} ${count(able.length, "task")}?`,
    body: [
      h("ul", { class: "reasons" }, [...states].map(([name, many]) =>
        h("li", {}, h("span", { class: "number" }, many.toLocaleString("en")), ` ${name.toLowerCase()}`))),
      left ? h("p", { class: "quiet" }, `${count(left, "selected task")} cannot be, as they stand: left alone.`) : null,
      BULK[verb].warning ? h("p", {}, BULK[verb].warning) : null,
    ],
    confirm: `${label} ${count(able.length, "task")}`,
    tone: toneOf(verb),
  });
}

function toneOf(verb) {
  return BULK[verb].warning ? "danger" : "";
}
