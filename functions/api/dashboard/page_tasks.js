/** Tasks: search, filters, pages, and what is done to many at once. */

import { isAbandoned } from "./api.js";
import { bulkBar } from "./bulk.js";
import { h, said } from "./dom.js";
import { filterBar, FILTERS } from "./filters.js";
import { button, heading, standing } from "./panel.js";
import { refresher } from "./refresh.js";
import { linkTo, note } from "./router.js";
import { table } from "./table.js";
import { tickingAt, at } from "./time.js";
import { badge, stateOf } from "./words.js";

const A_PAGE = 50;
const MOST_CALLS = 8; // a page may be empty and yet have a next one
const READ_EVERY = 4000;
const SEARCH_EVERY = 30_000; // it looks through many tasks: news alone do not repeat it sooner
const SO_FAR = "No matches so far. Choose “Older” to search further.";

export function open(main, tools) {
  const { api, signal } = tools;
  const state = standing();
  const refresh = refresher(read, READ_EVERY);
  const filters = filterBar({ api, signal, given: asked(tools.query), onChange: restart });
  const bulk = bulkBar({ api, signal, filters: filters.values, onDone: read, onChange: mark });
  const rows = listing(bulk);
  const walk = pager(() => read());
  let latest = 0;
  let readAt = 0;

  function restart(values) {
    note("tasks", values);
    walk.restart();
    bulk.clear();
    read();
  }

  async function read() {
    const mine = (latest += 1);
    try {
      const page = await pageOf(api, { ...filters.values(), cursor: walk.cursor() }, signal);
      if (mine !== latest) return; // somebody has asked for something else meanwhile
      rows.show(page.items, page.next_cursor === null ? noMatches(filters.values()) : SO_FAR);
      walk.show(page);
      bulk.onPage(page.items);
      state.read();
    } catch (error) {
      if (mine === latest && !isAbandoned(error)) state.failed(error, read);
    } finally {
      readAt = performance.now();
    }
  }

  function again() {
    if (!filters.values().search || performance.now() - readAt >= SEARCH_EVERY) refresh.poke();
  }

  function mark() {
    for (const box of rows.body.querySelectorAll("input[type=checkbox]")) {
      box.checked = bulk.has(box.value);
    }
  }

  main.append(heading("Tasks", "Search, inspect and change tasks"),
    filters.node, bulk.node, state.node, rows.node, walk.node);
  state.reading();
  refresh.poke();
  return { refresh: again, heard: again, close: refresh.stop };
}

/** Null where no filter is set: then there are no tasks at all. */
function noMatches(filters) {
  if (!Object.values(filters).some(Boolean)) return null;
  return h("p", {}, "No tasks match. ", h("a", { href: linkTo("tasks") }, "Clear filters"));
}

function asked(query) {
  return Object.fromEntries(FILTERS.map((name) => [name, query.get(name) || ""]));
}

/** As many tasks as fill a page, or fewer where asking on would take too long. */
async function pageOf(api, query, signal) {
  const items = [];
  let { cursor } = query;
  for (let call = 0; call < MOST_CALLS; call += 1) {
    const page = await api.get("/tasks", { query: { ...query, cursor, limit: A_PAGE - items.length }, signal });
    items.push(...page.items);
    cursor = page.next_cursor;
    if (cursor === null || items.length >= A_PAGE) break;
  }
  return { items, next_cursor: cursor };
}

function listing(bulk) {
  // The label is what a finger finds: the box alone is small.
  const box = (task) => h("label", { class: "tick" }, h("input", {
    type: "checkbox", value: task.id, checked: bulk.has(task.id), "aria-label": `Select task ${task.short_id}`,
    on: { change: (event) => bulk.choose(task, event.target.checked) },
  }));
  return table({
    caption: "Tasks",
    isDense: true,
    key: (task) => task.id,
    empty: "No tasks yet. Create one with POST /tasks or with /remind in chat.",
    columns: [
      { label: "Selected", unseen: true, kind: "select", cell: box },
      { label: "Task", kind: "wide", cell: titled },
      { label: "Status", kind: "short", cell: (task) => badge(stateOf(task)) },
      { label: "Type", kind: "short", cell: (task) => said(task.type) },
      { label: "Owner", kind: "owner", cell: (task) => said(`${task.channel} / ${task.sender_id}`, "span", "clamp") },
      { label: "Time", kind: "short", cell: when },
      { label: "Category", kind: "short", cell: (task) => said(task.last_error_category || "") },
    ],
  });
}

function titled(task) {
  return [h("a", { class: "said clamp", dir: "auto", href: linkTo("task", task.id) }, task.description),
    h("span", { class: "id" }, task.short_id)];
}

function when(task) {
  if (task.status === "pending" && !task.paused) return tickingAt("until", task.due_at);
  return at(task.delivered_at || task.due_at);
}

/** Pages by cursor: the way back is remembered, not asked for. One step at a time. */
function pager(onMove) {
  const trail = [];
  let current = null;
  let following = null;
  let pressed = null;
  const back = button("Newer", () => {
    current = trail.pop();
    move(back);
  });
  const next = button("Older", () => {
    trail.push(current);
    current = following;
    move(next);
  });
  const where = h("span", { class: "quiet number" });
  const node = h("nav", { class: "pager", "aria-label": "Pagination" }, back, where, next);
  node.hidden = true;

  function rest() {
    back.disabled = true;
    next.disabled = true;
  }

  function move(by) {
    pressed = by;
    rest();
    onMove();
  }

  /** What is disabled loses the focus, which whoever goes on by keys wants back. */
  function refocus() {
    if (pressed && document.activeElement === document.body) (pressed.disabled ? back : pressed).focus();
    pressed = null;
  }

  return {
    node,
    cursor: () => current,
    restart() {
      trail.length = 0;
      current = null;
      rest();
    },
    show(page) {
      following = page.next_cursor;
      back.disabled = trail.length === 0;
      next.disabled = following === null;
      node.hidden = trail.length === 0 && following === null;
      where.textContent = `Page ${trail.length + 1}`;
      refocus();
    },
  };
}
