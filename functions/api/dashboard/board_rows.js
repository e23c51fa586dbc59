/** The rows of the board. Each row is created once and then updated in place. */

import { createActionButtons, listActions } from "./actions.js";
import { renderDeadline } from "./deadline.js";
import { h, setText } from "./dom.js";
import { formatCount, formatDollars, formatPercent } from "./format.js";
import { describeClass } from "./kinds.js";
import { describeRecovery, getTaskState, renderBadge } from "./labels.js";
import { createMeter } from "./meter.js";
import { linkTo } from "./router.js";
import { createRelativeTime } from "./time.js";

const BREAKERS = {
  open: ["Open", "blocked"],
  half_open: ["Half-open", "failing"],
  returning: ["Recovering", "failing"],
  closed: ["Closed", "ok"],
};
const BUDGET_WARNING = 80; // percent of a budget

/** Create the row of a task: a title, a line of details, and controls at the end. */
function createTaskRow(...controls) {
  const title = h("a", { class: "row-title user-text", dir: "auto" });
  const details = h("p", { class: "row-details" });
  const node = h("li", { class: "row" }, h("div", { class: "row-main" }, title, details),
    h("div", { class: "row-end" }, controls));
  return {
    node,
    setDetails(...parts) {
      const present = parts.flat().filter(Boolean);
      details.replaceChildren(...present.flatMap((part, n) => (n ? [" · ", part] : [part])));
    },
    setTask(task) {
      setText(title, task.description);
      title.setAttribute("href", linkTo("task", task.id));
      node.dataset.task = task.id;
    },
  };
}

function renderOwner(task) {
  return renderText(`${task.channel} / ${task.sender_id}`);
}

function renderText(text) {
  return h("span", { class: "user-text", dir: "auto" }, text);
}

function renderId(task) {
  return h("span", { class: "id" }, task.short_id);
}

export function createDueRow() {
  const due = createRelativeTime("due");
  const row = createTaskRow(due.node);
  return {
    node: row.node,
    show(task) {
      row.setTask(task);
      row.setDetails(renderId(task), task.type, renderOwner(task),
        task.repeat && renderText(`repeats ${task.repeat}`), task.wait_text && renderText(task.wait_text));
      due.show(task.due_at);
    },
  };
}

export function createRunningRow() {
  const elapsed = createRelativeTime("running");
  const row = createTaskRow(elapsed.node);
  return {
    node: row.node,
    show(task) {
      row.setTask(task);
      row.setDetails(renderId(task), task.type, renderOwner(task));
      elapsed.show(task.started_at);
    },
  };
}

export function createRetryRow(tools) {
  const due = createRelativeTime("due");
  const actions = h("span", { class: "row-actions" });
  const renderButtons = createActionButtons(tools);
  const row = createTaskRow(due.node, actions);
  return {
    node: row.node,
    show(retry) {
      row.setTask(retry);
      row.setDetails(renderId(retry), retry.category && renderText(describeClass(retry)), `attempt ${retry.attempt}`,
        retry.last_error && renderText(retry.last_error));
      due.show(retry.next_retry_at);
      actions.replaceChildren(...renderButtons(retry, ["retry"]));
    },
  };
}

export function createPersonRow(tools) {
  const actions = h("span", { class: "row-actions" });
  const renderButtons = createActionButtons(tools);
  const row = createTaskRow(actions);
  return {
    node: row.node,
    show(task) {
      row.setTask(task);
      const until = task.status === "blocked" ? task.blocked_until : task.due_at;
      row.setDetails(renderBadge(getTaskState(task)), renderId(task), renderDeadline(until),
        task.last_error ? renderText(task.last_error) : describeRecovery(task));
      actions.replaceChildren(...renderButtons(task, listActions(task)));
    },
  };
}

export function createBreakerRow() {
  const name = h("span", { class: "row-title user-text", dir: "auto" });
  const details = h("p", { class: "row-details" });
  const state = h("span", {});
  const until = createRelativeTime("due");
  const node = h("li", { class: "row" }, h("div", { class: "row-main" }, name, details),
    h("div", { class: "row-end" }, state));
  return {
    node,
    show(breaker) {
      const isOpen = breaker.state === "open";
      setText(name, breaker.provider);
      state.replaceChildren(renderBadge(BREAKERS[breaker.state] || [breaker.state, "muted"]));
      until.show(isOpen ? breaker.until : null);
      const problem = breaker.key_refused ? "Refuses its key" : formatCount(breaker.failures, "consecutive failure");
      details.replaceChildren(...(isOpen ? ["Next attempt ", until.node, " · "] : []), problem);
    },
  };
}

export function createBudgetRow() {
  const name = h("span", { class: "row-title user-text", dir: "auto" });
  const meter = createMeter("Budget used");
  const details = h("p", { class: "row-details" });
  const node = h("li", { class: "row stacked" }, name, meter.node, details);
  return {
    node,
    show(budget) {
      setText(name, budget.name);
      const used = budget.used_percent;
      const tone = used >= 100 ? "blocked" : used >= BUDGET_WARNING ? "failing" : "ok";
      meter.show(used, formatPercent(used), tone);
      const reserved = budget.reserved ? ` + ${formatDollars(budget.reserved)} reserved` : "";
      setText(details, `${formatDollars(budget.spend)}${reserved} of ${formatDollars(budget.limit)} · `
        + formatCount(budget.calls, "call"));
    },
  };
}
