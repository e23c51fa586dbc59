/** Actions on many tasks: select, confirm with a count, then run a few at a time. */

import { BULK } from "./actions.js";
import { buildTaskPath } from "./api.js";
import { runWithProgress } from "./batch_progress.js";
import { openDialog } from "./dialog.js";
import { h, setText } from "./dom.js";
import { formatCount, formatNumber } from "./format.js";
import { getTaskState } from "./labels.js";
import { renderButton } from "./panel.js";
import { createSelection } from "./selection.js";
import { showError } from "./toast.js";

/** Create the bar above the list. `onChange` is called when the checkboxes of the list may be outdated. */
export function createBulkBar({ api, signal, getFilters, onDone, onChange }) {
  const selection = createSelection({ api, signal, getFilters, onChange: update });
  let page = [];

  const pageBox = h("input", { type: "checkbox", id: "select-page", on: { change: selectPage } });
  const count = h("span", { class: "number", role: "status" });
  const selectAll = renderButton("Select all matching tasks", selection.toggleSelectAll);
  const clear = renderButton("Clear", selection.clear);
  const actions = Object.entries(BULK).map(([action, { label }]) =>
    renderButton(`${label}…`, () => runAction(action),
      { kind: getTone(action), name: `${label} selected tasks`, scope: "write" }));
  const controls = h("span", { class: "bulk-controls" }, count, clear, actions);
  const node = h("div", { class: "bulk", role: "group", "aria-label": "Selected tasks" },
    h("label", { class: "check" }, pageBox, "Select this page"), selectAll, controls);

  function selectPage() {
    for (const task of page) selection.set(task, pageBox.checked);
    update();
  }

  function update() {
    draw();
    onChange();
  }

  function draw() {
    const selectedOnPage = page.filter((task) => selection.has(task.id)).length;
    const isSelecting = selection.isSelecting();
    const isEmpty = selection.getSize() === 0;
    pageBox.checked = page.length > 0 && selectedOnPage === page.length;
    pageBox.indeterminate = selectedOnPage > 0 && selectedOnPage < page.length;
    controls.hidden = isEmpty && !isSelecting;
    for (const button of [clear, ...actions]) button.hidden = isEmpty || isSelecting;
    setText(selectAll, isSelecting ? "Stop selecting" : "Select all matching tasks");
    const size = formatNumber(selection.getSize());
    setText(count, isSelecting ? `Selecting: ${size} found` : `${size} selected`);
  }

  async function runAction(action) {
    const { label, isAllowed } = BULK[action];
    const tasks = selection.getTasks();
    const allowed = tasks.filter(isAllowed);
    if (!(await confirmAction(action, allowed, tasks.length - allowed.length))) return;
    await runWithProgress(`${label} ${formatCount(allowed.length, "task")}`, allowed,
      (task) => api.post(buildTaskPath(task.id, action)));
    selection.clear();
    onDone();
  }

  draw();
  return {
    node,
    clear: selection.clear,
    isSelected: selection.has,
    setSelected(task, isSelected) {
      selection.set(task, isSelected);
      draw();
    },
    setPage(tasks) {
      page = tasks;
      for (const task of tasks) if (selection.has(task.id)) selection.set(task, true);
      draw();
    },
  };
}

function confirmAction(action, allowed, skipped) {
  const { label, participle, warning } = BULK[action];
  if (!allowed.length) {
    showError(`No selected task can be ${participle} in its current state.`);
    return false;
  }
  const counts = new Map();
  for (const [state] of allowed.map(getTaskState)) counts.set(state, (counts.get(state) || 0) + 1);
  return openDialog({
    title: `${label} ${formatCount(allowed.length, "task")}?`,
    body: [
      h("ul", { class: "reasons" }, [...counts].map(([state, number]) =>
        h("li", {}, h("span", { class: "number" }, formatNumber(number)), ` ${state.toLowerCase()}`))),
      skipped ? h("p", { class: "muted" },
        `${formatCount(skipped, "selected task")} cannot be ${participle} in the current state: skipped.`) : null,
      warning ? h("p", {}, warning) : null,
    ],
    confirm: `${label} ${formatCount(allowed.length, "task")}`,
    tone: getTone(action),
  });
}

function getTone(action) {
  return BULK[action].warning ? "danger" : "";
}
