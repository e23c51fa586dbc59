/** What a person may do to a task as it stands: only that is offered. */

import { taskPath } from "./api.js";
import { askChoice, askText, confirmed } from "./dialog.js";
import { button } from "./panel.js";
import { tell, warn } from "./toast.js";
import { shortened } from "./words.js";

const OUTCOMES = [
  ["applied", "It took effect", "The task does not run it again."],
  ["not_applied", "It did not take effect", "The task runs it now."],
  ["skip", "Skip it", "The task takes no further action."],
];

const QUOTED = 120;
const NOTHING = undefined; // to say beside the wish itself

/** `latest` is the task's last run, where it is known. */
export function actionsFor(task, latest = null) {
  switch (task.status) {
    case "pending":
      return pending(task, latest);
    case "blocked":
      return blocked(task, latest);
    case "pending_verification":
      return ["approve", "reject", "cancel"];
    case "failed":
      return ["retry", "reclassify"];
    default:
      return [];
  }
}

function pending(task, latest) {
  if (task.paused) return ["resume", "cancel"];
  const failed = task.next_retry_at ? ["retry", "reclassify"] : [];
  const inDoubt = !task.next_retry_at && task.repeat && isIndeterminate(latest) ? ["resolve"] : [];
  return [...inDoubt, "run", ...failed, "pause", "cancel"];
}

function blocked(task, latest) {
  if (task.recovery_action === "ask_person") return ["resolve", "cancel"];
  const inDoubt = isIndeterminate(latest) ? ["resolve"] : [];
  return [...inDoubt, "unblock", "retry", "reclassify", "cancel"];
}

/** Said where two that seem alike are both offered. */
export function differenceIn(verbs) {
  return verbs.includes("unblock") && verbs.includes("retry") ? DIFFERENCE : "";
}

function isIndeterminate(run) {
  return run?.mutation?.status === "indeterminate";
}

/** By bulk, only what needs no answer of its own; a running task refuses both. */
export const BULK = {
  retry: {
    label: "Retry",
    done: "retried",
    fits: (task) => ["failed", "blocked"].includes(task.status) || Boolean(task.next_retry_at),
  },
  cancel: {
    label: "Cancel",
    done: "cancelled",
    warning: "Cancelled tasks do not run again. This cannot be undone.",
    fits: (task) => ["pending", "blocked", "pending_verification"].includes(task.status),
  },
};

const ACTIONS = {
  run: { label: "Run now", done: "queued to run now" },
  pause: { label: "Pause", done: "paused" },
  resume: { label: "Resume", done: "resumed" },
  retry: { label: "Retry", done: "queued to retry" },
  unblock: { label: "Unblock", done: "unblocked" },
  approve: { label: "Approve", done: "approved" },
  reject: { label: "Reject…", done: "rejected", ask: askReason },
  resolve: { label: "Resolve…", done: "resolved", ask: askOutcome },
  reclassify: { label: "Reclassify…", done: "reclassified", ask: askCategory },
  cancel: { label: "Cancel…", done: "cancelled", kind: "danger", ask: sureToCancel },
};
const DIFFERENCE = "Unblock: one more attempt, past failures still count. Retry: start over, past failures no longer count.";
const STRONG = new Set(["approve", "unblock", "resolve", "resume"]);

async function askReason() {
  const reason = await askText("Reject this work", "What should be improved?", "Reject");
  return reason && { reason };
}

async function askOutcome() {
  const outcome = await askChoice("Did it take effect?", OUTCOMES, "Resolve");
  return outcome && { outcome };
}

async function askCategory(task, api, pressed) {
  const policy = await api.get(`/policies/${encodeURIComponent(task.policy)}`);
  if (!pressed.isConnected) return null; // its page was left meanwhile
  const others = policy.categories.filter((one) => one.name !== task.last_error_category);
  const choices = others.map((one) => [one.name, one.name, one.suggested_fix]);
  const category = await askChoice("Correct the category of this failure", choices, "Reclassify");
  return category && { category };
}

async function sureToCancel(task) {
  const text = `“${shortened(task.description, QUOTED)}” will not run again. This cannot be undone.`;
  const isSure = await confirmed(`Cancel task ${task.short_id}?`, text, "Cancel task", "danger");
  return isSure ? NOTHING : null;
}

/**
 * Gives what makes a button for each of `verbs` of one task; the same one as long as it is offered,
 * so that the focus finds it again. `onDone` hears the task as it is afterwards.
 */
export function actionButtons(tools) {
  const made = new Map();
  let latest = null;
  return (task, verbs) => {
    latest = task;
    return verbs.map((verb) => {
      if (!made.has(verb)) made.set(verb, buttonFor(verb, () => latest, tools));
      return made.get(verb);
    });
  };
}

function buttonFor(verb, task, tools) {
  const { label, kind = STRONG.has(verb) ? "strong" : "" } = ACTIONS[verb];
  const name = `${label.replace("…", "")} task ${task().short_id}`;
  const made = button(label, () => act(made, verb, task(), tools), { kind, name });
  made.dataset.action = verb;
  return made;
}

async function act(pressed, verb, task, { api, onDone }) {
  if (pressed.getAttribute("aria-disabled")) return;
  pressed.setAttribute("aria-disabled", "true"); // what is disabled outright loses the focus
  try {
    const { ask } = ACTIONS[verb];
    const body = ask ? await ask(task, api, pressed) : NOTHING;
    if (body === null) return; // somebody thought better of it
    const after = await api.post(taskPath(task.id, verb), body);
    tell(`Task ${task.short_id} ${ACTIONS[verb].done}.`);
    onDone(after);
  } catch (error) {
    warn(error.message);
    onDone(null);
  } finally {
    pressed.removeAttribute("aria-disabled");
  }
}
