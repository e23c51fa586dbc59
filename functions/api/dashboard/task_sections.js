/** The sections of a task's page: header, notice, guidance, facts and payload. */

import { explainDifference, listActions } from "./actions.js";
import { renderDeadline } from "./deadline.js";
import { h, renderUserText } from "./dom.js";
import { capitalize, formatRetries, truncate } from "./format.js";
import { adviseKind, describeClass, getLastClass } from "./kinds.js";
import { describeRecovery, getTaskState, renderBadge } from "./labels.js";
import { renderFact, renderPanel, renderTaskLink } from "./panel.js";
import { formatLocal, formatUtc, renderRelativeTime } from "./time.js";

const MAX_TITLE = 160; // characters; a longer description gets its own panel

export function renderHeader(task, latestRun, renderButtons) {
  const actions = listActions(task, latestRun);
  const difference = explainDifference(actions);
  return [
    h("div", { class: "task-title" }, renderUserText(getTitle(task.description), "h1"),
      h("p", { class: "row-details" }, renderBadge(getTaskState(task)), " ", h("span", { class: "id" }, task.id))),
    h("div", { class: "task-controls" },
      h("div", { class: "task-actions", role: "group", "aria-label": "Actions" },
        actions.length ? renderButtons(task, actions) : h("p", { class: "muted" }, explainNoActions(task))),
      difference ? h("p", { class: "row-details" }, difference) : null),
  ];
}

function getTitle(description) {
  return truncate(description.trim().split("\n", 1)[0], MAX_TITLE);
}

function explainNoActions(task) {
  return task.status === "in_progress"
    ? "The task is running. Wait until the run ends."
    : "The task is finished. No actions available.";
}

/** Render the full description, if the title shows only its beginning. */
export function renderDescription(description) {
  if (getTitle(description) === description.trim()) return [];
  return [renderPanel("Description", { id: "description" },
    h("div", { class: "long-text", tabindex: "0", role: "group", "aria-label": "Description" },
      renderUserText(description, "p", "prose")))];
}

/** Render why an open task does not run: its failure, what it waits for, and its deadline. */
export function renderNotice({ task, attempts }) {
  const isOpen = !["delivered", "completed", "cancelled"].includes(task.status);
  if (!isOpen || !(task.last_error || task.wait_text)) return [];
  const isFailure = task.last_error && task.status !== "in_progress";
  const recovery = isFailure ? describeRecovery(task, attempts) : null;
  return [h("div", { class: `notice ${getTaskState(task)[1]}` },
    isFailure ? renderFailure(task) : null,
    task.wait_text ? h("p", {}, "Waiting for: ", renderUserText(task.wait_text)) : null,
    recovery ? h("p", {}, recovery) : null,
    renderDeadline(task.blocked_until, "p"),
    task.next_retry_at ? h("p", {}, "Next attempt ", renderRelativeTime("due", task.next_retry_at)) : null)];
}

function renderFailure(task) {
  return [
    h("p", { class: "row-details" }, h("strong", {}, describeClass(getLastClass(task)) || "failed"),
      ` · ${formatRetries(task.retry_count, task.max_retries)}`),
    // While the effect is in doubt, nothing is to be done about the error.
    task.recovery_action === "ask_person" ? null : renderAdvice(task.last_error_kind),
    renderUserText(task.last_error, "p", "error-text"),
  ];
}

function renderAdvice(kind) {
  const advice = adviseKind(kind);
  return advice ? h("p", {}, `${capitalize(advice)}.`) : null;
}

export function renderGuidance(guidance) {
  if (!guidance.length) return [];
  return [renderPanel("Guidance", { id: "guidance" },
    h("ol", { class: "plain-list" }, guidance.map((hint) => renderUserText(hint, "li"))))];
}

export function renderFacts(task) {
  // While a task awaits verification, `due_at` is the deadline for the decision.
  const dueLabel = task.status === "pending_verification" ? "Respond by" : "Due";
  return [renderPanel("About", { id: "about" }, h("dl", { class: "facts" },
    renderFact(dueLabel, renderTimestamp(task.due_at)),
    task.nominal_at !== task.due_at && renderFact("Originally due", renderTimestamp(task.nominal_at)),
    task.delivered_at && renderFact("Finished", renderTimestamp(task.delivered_at)),
    renderFact("Created", renderTimestamp(task.created_at),
      task.created_by && renderUserText(`by token ${task.created_by}`)),
    renderFact("Type", renderUserText(task.type)),
    renderFact("Repeats", renderUserText(task.repeat || "no")),
    renderFact("Time zone", renderUserText(task.timezone)),
    renderFact("Owner", renderUserText(`${task.channel} / ${task.sender_id}`)),
    task.reply_target !== task.sender_id && renderFact("Reply target", renderUserText(task.reply_target)),
    renderFact("Policy", renderUserText(task.policy)),
    renderFact("Retries", formatRetries(task.retry_count, task.max_retries)),
    task.subject && renderFact("Subject", renderUserText(task.subject)),
    task.verify && renderFact("Verification", "required"),
    task.snooze_of && renderFact("Snooze of", renderTaskLink(task.snooze_of)),
    task.review_of && renderFact("Spec review of", renderTaskLink(task.review_of))))];
}

function renderTimestamp(timestamp) {
  return h("span", { class: "timestamp" },
    h("time", { datetime: timestamp }, formatLocal(timestamp)), h("span", { class: "muted" }, formatUtc(timestamp)));
}

export function renderPayload(payload) {
  if (!Object.keys(payload || {}).length) return [];
  return [renderPanel("Payload", { id: "payload" },
    h("pre", { tabindex: "0", "aria-label": "Payload as JSON" }, JSON.stringify(payload, null, 2)))];
}
