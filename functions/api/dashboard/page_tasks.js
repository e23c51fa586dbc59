/** The Tasks page: search, filters, paging and bulk actions. */

import { isAborted } from "./api.js";
import { createBulkBar } from "./bulk_actions.js";
import { h, renderUserText } from "./dom.js";
import { createFilterBar, FILTERS } from "./filters.js";
import { getLastClass, renderClass } from "./kinds.js";
import { getTaskState, renderBadge } from "./labels.js";
import { createPager } from "./pager.js";
import { createLoadStatus, renderPageHeading } from "./panel.js";
import { createRefresher } from "./refresh.js";
import { linkTo, replaceQuery } from "./router.js";
import { createTable } from "./table.js";
import { renderRelativeTime, renderTime } from "./time.js";

const PAGE_SIZE = 50;
const MAX_CALLS = 8; // a page of the API may be empty and still have a next one
const REFRESH_INTERVAL = 4000;
const SEARCH_INTERVAL = 30_000; // a search reads many tasks, so events repeat it less often
const NO_MATCHES_YET = "No matches so far. Choose “Older” to search further.";

export function open(main, { api, signal, query }) {
  const status = createLoadStatus();
  const refresher = createRefresher(load, REFRESH_INTERVAL);
  const filters = createFilterBar({ api, signal, initial: readFilters(query), onChange: restart });
  const bulk = createBulkBar({ api, signal, getFilters: filters.getValues, onDone: load, onChange: updateBoxes });
  const table = createTaskTable(bulk);
  const pager = createPager(() => load());
  let loadId = 0;
  let loadedAt = 0;

  function restart(values) {
    replaceQuery("tasks", values);
    pager.restart();
    bulk.clear();
    load();
  }

  async function load() {
    const id = (loadId += 1);
    const values = filters.getValues();
    try {
      const page = await loadPage(api, { ...values, cursor: pager.getCursor() }, signal);
      if (id !== loadId) return; // a later request replaces this one
      table.show(page.items, page.next_cursor === null ? renderNoMatches(values) : NO_MATCHES_YET);
      pager.show(page);
      bulk.setPage(page.items);
      status.clear();
    } catch (error) {
      if (id === loadId && !isAborted(error)) status.showFailure(error, load);
    } finally {
      loadedAt = performance.now();
    }
  }

  function refresh() {
    if (!filters.getValues().search || performance.now() - loadedAt >= SEARCH_INTERVAL) refresher.request();
  }

  function updateBoxes() {
    for (const box of table.body.querySelectorAll("input[type=checkbox]")) {
      box.checked = bulk.isSelected(box.value);
    }
  }

  main.append(renderPageHeading("Tasks", "Search, inspect and change tasks"),
    filters.node, bulk.node, status.node, table.node, pager.node);
  status.showLoading();
  refresher.request();
  return { refresh, handleEvent: refresh, close: refresher.stop };
}

/** Return null if no filter is set: then there are no tasks at all. */
function renderNoMatches(filters) {
  if (!Object.values(filters).some(Boolean)) return null;
  return h("p", {}, "No tasks match. ", h("a", { href: linkTo("tasks") }, "Clear filters"));
}

function readFilters(query) {
  return Object.fromEntries(FILTERS.map((name) => [name, query.get(name) || ""]));
}

/** Load enough tasks to fill a page, or fewer if that takes too many calls. */
async function loadPage(api, query, signal) {
  const items = [];
  let { cursor } = query;
  for (let call = 0; call < MAX_CALLS; call += 1) {
    const page = await api.get("/tasks", { query: { ...query, cursor, limit: PAGE_SIZE - items.length }, signal });
    items.push(...page.items);
    cursor = page.next_cursor;
    if (cursor === null || items.length >= PAGE_SIZE) break;
  }
  return { items, next_cursor: cursor };
}

function createTaskTable(bulk) {
  // The label enlarges the box for touch.
  const renderBox = (task) => h("label", { class: "tick" }, h("input", {
    type: "checkbox", value: task.id, checked: bulk.isSelected(task.id), "aria-label": `Select task ${task.short_id}`,
    on: { change: (event) => bulk.setSelected(task, event.target.checked) },
  }));
  return createTable({
    caption: "Tasks",
    isDense: true,
    getKey: (task) => task.id,
    empty: "No tasks yet. Create one with POST /tasks or with /remind in chat.",
    columns: [
      { label: "Selected", isLabelHidden: true, kind: "select", cell: renderBox },
      { label: "Task", kind: "wide", cell: renderTitle },
      { label: "Status", kind: "short", cell: (task) => renderBadge(getTaskState(task)) },
      { label: "Type", kind: "short", cell: (task) => renderUserText(task.type) },
      { label: "Owner", kind: "owner", cell: (task) => renderUserText(`${task.channel} / ${task.sender_id}`, "span", "clamp") },
      { label: "Time", kind: "short", cell: renderTaskTime },
      { label: "Last error", kind: "short", cell: (task) => (task.last_error_category ? renderClass(getLastClass(task)) : "") },
    ],
  });
}

function renderTitle(task) {
  return [h("a", { class: "user-text clamp", dir: "auto", href: linkTo("task", task.id) }, task.description),
    h("span", { class: "id" }, task.short_id)];
}

function renderTaskTime(task) {
  if (task.status === "pending" && !task.paused) return renderRelativeTime("due", task.due_at);
  return renderTime(task.delivered_at || task.due_at);
}
