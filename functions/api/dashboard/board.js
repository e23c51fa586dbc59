/** The board of current tasks. It refreshes at most every two seconds, however many events arrive. */

import { explainDifference, listActions } from "./actions.js";
import { isAborted } from "./api.js";
import {
  createBreakerRow, createBudgetRow, createDueRow, createPersonRow, createRetryRow, createRunningRow,
} from "./board_rows.js";
import { onTick } from "./clock.js";
import { h, setText, syncRows } from "./dom.js";
import { createEventFeed } from "./event_feed.js";
import { formatCount } from "./format.js";
import { createFigure, createLoadStatus, renderPanel } from "./panel.js";
import { createRefresher } from "./refresh.js";
import { linkTo } from "./router.js";
import { announce } from "./toast.js";

const REFRESH_INTERVAL = 2000;
const API_LIMIT = 50; // items of each list in one response
const LOADING = "Loading…"; // in each list, so that the layout does not move
const COLLAPSED_SIZE = 8; // rows of each list before "Show all"

const LISTS = {
  needs_person: ["Needs a person", "No tasks need a person", createPersonRow, explainRows],
  running: ["Running", "Idle", createRunningRow],
  retries: ["Pending retries", "No pending retries", createRetryRow],
  due_soon: ["Next up", "No upcoming tasks. Create one with /remind in chat or POST /tasks.", createDueRow],
};
// What failed comes first: it has to be visible without scrolling.
const COMPACT_ORDER = ["needs_person", "retries", "running", "due_soon"];

/** Create the board. A compact board has one column and no figures, to stand beside other content. */
export function createBoard({ api, signal, isCompact = false, formatTime }) {
  const status = createLoadStatus();
  const refresher = createRefresher(load, REFRESH_INTERVAL);
  const tools = { api, onDone: refresher.requestNow };
  const limit = isCompact ? COLLAPSED_SIZE / 2 : COLLAPSED_SIZE;
  const lists = Object.fromEntries(Object.entries(LISTS).map(
    ([name, options]) => [name, createTaskList(name, options, tools, limit)]));
  const sideLists = {
    breakers: createSideList("breakers", "Circuit breakers", "All closed", createBreakerRow, (breaker) => breaker.provider),
    budgets: createSideList("budgets", "Budgets", "No budget used today", createBudgetRow, (budget) => budget.name),
  };
  const figures = isCompact ? null : createFigures();
  const feed = createEventFeed(isCompact ? 8 : 20, formatTime);
  const stopTicking = onTick(feed.draw);
  let personCount = null;

  async function load() {
    try {
      show(await api.get("/now", { signal }));
      status.clear();
    } catch (error) {
      if (!isAborted(error)) status.showFailure(error, refresher.requestNow);
    }
  }

  function show(current) {
    for (const name of Object.keys(LISTS)) lists[name].show(current[name]);
    for (const name of Object.keys(sideLists)) sideLists[name].show(current[name]);
    figures?.show(current);
    feed.draw();
    const count = current.needs_person.length;
    if (personCount !== null && count > personCount) {
      announce(`${formatCount(count, "task needs", "tasks need")} a person.`);
    }
    personCount = count;
  }

  const events = renderPanel("Latest events", { id: "events" }, feed.node);
  refresher.request();
  return {
    node: isCompact
      ? h("div", { class: "board compact" }, status.node, COMPACT_ORDER.map((name) => lists[name].node), events)
      : h("div", { class: "board" }, status.node, figures.node,
        h("div", { class: "columns" },
          h("div", {}, Object.values(lists).map((list) => list.node)),
          h("div", {}, Object.values(sideLists).map((list) => list.node), events))),
    refresh: refresher.request,
    handleEvent: refresher.request,
    close() {
      refresher.stop();
      stopTicking();
    },
  };
}

/** Explain once, below the rows, how two actions of these tasks differ. */
function explainRows(tasks) {
  return tasks.map((task) => explainDifference(listActions(task))).find(Boolean) || "";
}

function createTaskList(name, [title, empty, createRow, explain = () => ""], tools, limit) {
  const count = h("span", { class: "count number" });
  const rows = h("ul", { class: "rows" });
  const emptyNode = h("p", { class: "empty" }, LOADING);
  const note = h("p", { class: "note", hidden: true });
  const expand = h("button", { type: "button", class: "expand", hidden: true, on: { click: () => toggle() } });
  let isExpanded = false;
  let latest = [];

  function toggle() {
    isExpanded = !isExpanded;
    show(latest);
  }

  function show(items) {
    latest = items;
    setText(count, items.length ? formatLimited(items.length) : "");
    setText(emptyNode, empty);
    emptyNode.hidden = items.length > 0;
    expand.hidden = items.length <= limit;
    setText(expand, expand.hidden ? "" : isExpanded ? "Show fewer" : `Show all ${items.length}`);
    const visible = isExpanded ? items : items.slice(0, limit);
    setText(note, explain(visible));
    note.hidden = note.textContent === "";
    syncRows(rows, visible, (item) => item.id, () => createRow(tools));
  }

  const options = { aside: count, id: name.replace("_", "-") };
  return { node: renderPanel(title, options, rows, expand, note, emptyNode), show };
}

function createSideList(id, title, empty, createRow, getKey) {
  const rows = h("ul", { class: "rows" });
  const emptyNode = h("p", { class: "empty" }, LOADING);
  return {
    node: renderPanel(title, { id }, rows, emptyNode),
    show(items) {
      setText(emptyNode, empty);
      emptyNode.hidden = items.length > 0;
      syncRows(rows, items, getKey, createRow);
    },
  };
}

function formatLimited(number) {
  return number >= API_LIMIT ? `${API_LIMIT}+` : String(number);
}

function createFigures() {
  const figures = {
    due_soon: createFigure("Next up", { href: linkTo("tasks", "", { status: "pending" }) }),
    running: createFigure("Running", { href: linkTo("tasks", "", { status: "in_progress" }), tone: "running" }),
    retries: createFigure("Retries", { panelId: "retries", tone: "failing" }),
    needs_person: createFigure("Needs a person", { panelId: "needs-person", tone: "blocked" }),
  };
  return {
    node: h("div", { class: "figures" }, Object.values(figures).map((figure) => figure.node)),
    show(current) {
      for (const [name, figure] of Object.entries(figures)) {
        figure.show(formatLimited(current[name].length), "", current[name].length === 0);
      }
    },
  };
}
