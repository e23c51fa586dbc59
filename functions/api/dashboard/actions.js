/** The actions on a task. Only actions that its status allows are offered. */

import { buildTaskPath } from "./api.js";
import { askChoice, askConfirmation, askText } from "./dialog.js";
import { truncate } from "./format.js";
import { adviseKind, describeClass } from "./kinds.js";
import { renderButton } from "./panel.js";
import { applyScope } from "./permissions.js";
import { showError, showSuccess } from "./toast.js";

const OUTCOMES = [
  ["applied", "It took effect", "The task does not run it again."],
  ["not_applied", "It did not take effect", "The task runs it now."],
  ["skip", "Skip it", "The task takes no further action."],
];
const MAX_QUOTE = 120; // characters
const NO_BODY = undefined;

/** List the actions for a task. `latestRun` is its last run, or null if unknown. */
export function listActions(task, latestRun = null) {
  switch (task.status) {
    case "pending":
      return listPendingActions(task, latestRun);
    case "blocked":
      return listBlockedActions(task, latestRun);
    case "pending_verification":
      return ["approve", "reject", "cancel"];
    case "failed":
      return ["retry", "reclassify"];
    default:
      return [];
  }
}

function listPendingActions(task, latestRun) {
  if (task.paused) return ["resume", "cancel"];
  const afterFailure = task.next_retry_at ? ["retry", "reclassify"] : [];
  const canResolve = !task.next_retry_at && task.repeat && isIndeterminate(latestRun);
  return [...(canResolve ? ["resolve"] : []), "run", ...afterFailure, "pause", "cancel"];
}

function listBlockedActions(task, latestRun) {
  if (task.recovery_action === "ask_person") return ["resolve", "cancel"];
  const resolve = isIndeterminate(latestRun) ? ["resolve"] : [];
  return [...resolve, "unblock", "retry", "reclassify", "cancel"];
}

/** Explain how Unblock and Retry differ, if both are offered. */
export function explainDifference(actions) {
  return actions.includes("unblock") && actions.includes("retry") ? DIFFERENCE : "";
}

function isIndeterminate(run) {
  return run?.mutation?.status === "indeterminate";
}

/** Bulk actions: only those that need no further input. The API refuses both for a running task. */
export const BULK = {
  retry: {
    label: "Retry",
    participle: "retried",
    isAllowed: (task) => ["failed", "blocked"].includes(task.status) || Boolean(task.next_retry_at),
  },
  cancel: {
    label: "Cancel",
    participle: "cancelled",
    warning: "Cancelled tasks do not run again. This cannot be undone.",
    isAllowed: (task) => ["pending", "blocked", "pending_verification"].includes(task.status),
  },
};

const ACTIONS = {
  run: { label: "Run now", result: "queued to run now" },
  pause: { label: "Pause", result: "paused" },
  resume: { label: "Resume", result: "resumed" },
  retry: { label: "Retry", result: "queued to retry" },
  unblock: { label: "Unblock", result: "unblocked" },
  approve: { label: "Approve", result: "approved" },
  reject: { label: "Reject…", result: "rejected", askBody: askReason },
  resolve: { label: "Resolve…", result: "resolved", askBody: askOutcome },
  reclassify: { label: "Reclassify…", result: "reclassified", askBody: askClass },
  cancel: { label: "Cancel…", result: "cancelled", kind: "danger", askBody: confirmCancel },
};
const DIFFERENCE = "Unblock: one more attempt, past failures still count. Retry: start over, past failures no longer count.";
const PRIMARY = new Set(["approve", "unblock", "resolve", "resume"]);

async function askReason() {
  const reason = await askText("Reject this work", "What should be improved?", "Reject");
  return reason && { reason };
}

async function askOutcome() {
  const outcome = await askChoice("Did it take effect?", OUTCOMES, "Resolve");
  return outcome && { outcome };
}

async function askClass(task, api, button) {
  const policy = await api.get(`/policies/${encodeURIComponent(task.policy)}`);
  if (!button.isConnected) return null; // the user left the page
  const choices = policy.categories.flatMap((category) => listClasses(category, task));
  const choice = await askChoice("Correct the kind of this failure", choices, "Reclassify");
  if (!choice) return null;
  const [field, value] = choice.split(":");
  return { [field]: value };
}

/** List the kinds that the category holds as choices, or the category itself if it holds none. */
function listClasses({ name, kinds, suggested_fix: fix }, task) {
  if (!kinds.length) return name === task.last_error_category ? [] : [[`category:${name}`, name, fix]];
  return kinds.filter((kind) => kind !== task.last_error_kind)
    .map((kind) => [`kind:${kind}`, describeClass({ kind, category: name }), [name, adviseKind(kind)].filter(Boolean).join(": ")]);
}

async function confirmCancel(task) {
  const text = `“${truncate(task.description, MAX_QUOTE)}” will not run again. This cannot be undone.`;
  const isConfirmed = await askConfirmation(`Cancel task ${task.short_id}?`, text, "Cancel task", "danger");
  return isConfirmed ? NO_BODY : null;
}

/**
 * Return a function that renders the buttons for the actions of one task. It reuses the buttons, so that
 * they keep the focus. `onDone` receives the changed task, or null if the action failed.
 */
export function createActionButtons(tools) {
  const buttons = new Map();
  let latestTask = null;
  return (task, actions) => {
    latestTask = task;
    return actions.map((action) => {
      if (!buttons.has(action)) buttons.set(action, renderActionButton(action, () => latestTask, tools));
      applyScope(buttons.get(action)); // it may have been off the page when the scope became known
      return buttons.get(action);
    });
  };
}

function renderActionButton(action, getTask, tools) {
  const { label, kind = PRIMARY.has(action) ? "strong" : "" } = ACTIONS[action];
  const name = `${label.replace("…", "")} task ${getTask().short_id}`;
  const button = renderButton(label, () => runAction(button, action, getTask(), tools), { kind, name, scope: "write" });
  button.dataset.action = action;
  return button;
}

async function runAction(button, action, task, { api, onDone }) {
  if (button.getAttribute("aria-disabled")) return;
  button.setAttribute("aria-disabled", "true"); // a disabled button would lose the focus
  try {
    const { askBody, result } = ACTIONS[action];
    const body = askBody ? await askBody(task, api, button) : NO_BODY;
    if (body === null) return; // the user went back
    const changed = await api.post(buildTaskPath(task.id, action), body);
    showSuccess(`Task ${task.short_id} ${result}.`);
    onDone(changed);
  } catch (error) {
    showError(error.message);
    onDone(null);
  } finally {
    button.removeAttribute("aria-disabled");
  }
}
