/** What states, events and actions are called, and which of four tones each has. */

import { h } from "./dom.js";

export const STATUSES = {
  pending: ["Pending", "waiting"],
  in_progress: ["In progress", "running"],
  pending_verification: ["Awaiting verification", "failing"],
  delivered: ["Delivered", "ok"],
  completed: ["Completed", "ok"],
  failed: ["Failed", "blocked"],
  blocked: ["Blocked", "blocked"],
  cancelled: ["Cancelled", "quiet"],
};
const RUNS = {
  active: ["Running", "running"],
  committed: ["Committed", "ok"],
  "paused:transient": ["Failed, retrying", "failing"],
  "paused:budget": ["Waiting for budget", "failing"],
  "paused:approval": ["Waiting for approval", "failing"],
  "paused:reconciliation": ["Outcome unknown", "blocked"],
  "failed:logic": ["Code error", "blocked"],
  "failed:permanent": ["Failed permanently", "blocked"],
  crashed: ["Crashed", "failing"],
  cancelled: ["Cancelled", "quiet"],
};
export const REASONS = {
  first: "first attempt",
  transient: "retry after a failure",
  logic_fix: "retry with fixed code",
  crashed_recovery: "retry after a crash",
  user_retry: "manual retry",
  recurrence: "next occurrence",
};
const STARTS = new Set(["task:started", "task:retry_executed"]); // their reason is that of the run
/** By the state in which each is so: what was decided once says nothing of what came later. */
const RECOVERY = {
  pending: {
    retry: "Retrying",
    retry_with_guidance: "Retrying with a hint",
    wait_for_budget: "Waiting for the budget to reset",
  },
  blocked: {
    retry_with_spec_refresh: "The specification is under review. The task retries after it",
    escalate_to_human: "Escalated to a person",
    mark_as_blocked: "No retries left. A person must decide",
    await_fix: "Bug in the handler. The task retries when new code is deployed",
    ask_person: "Unknown outcome. A person must check whether it took effect",
  },
  failed: {
    give_up: "Gave up after {attempts}",
  },
};
const EVENTS = {
  "task:created": ["Created", "waiting"],
  "task:started": ["Started", "running"],
  "task:delivered": ["Delivered", "ok"],
  "task:completed": ["Completed", "ok"],
  "task:failed": ["Failed", "blocked"],
  "task:retry_scheduled": ["Failed, retry scheduled", "failing"],
  "task:retry_executed": ["Retried", "running"],
  "task:retry_exhausted": ["No retries left", "blocked"],
  "task:recovery_action": ["Recovery action", "failing"],
  "task:spec_refresh_requested": ["Specification review requested", "failing"],
  "task:escalated": ["Escalated", "blocked"],
  "task:permanently_blocked": ["Blocked", "blocked"],
  "task:unblocked": ["Unblocked", "waiting"],
  "task:cancelled": ["Cancelled", "quiet"],
  "task:indeterminate": ["Outcome unknown", "blocked"],
  "task:skipped": ["Occurrences skipped", "quiet"],
  "task:reclassified": ["Reclassified", "waiting"],
  "task:resolved": ["Outcome resolved", "ok"],
  "task:approved": ["Approved", "ok"],
  "task:verification_requested": ["Verification requested", "failing"],
  "task:paused": ["Paused", "quiet"],
  "task:resumed": ["Resumed", "waiting"],
  "task:parked": ["Deferred", "quiet"],
  "task:undelivered": ["Requeued", "failing"],
  "task:changed": ["Changed", "quiet"],
  "budget:exceeded": ["Budget exceeded", "failing"],
  "breaker:opened": ["Circuit breaker opened", "blocked"],
  "breaker:closed": ["Circuit breaker closed", "ok"],
};

/** "spec_refresh" -> "Spec refresh": what has no name of its own. */
export function plain(text) {
  const words = String(text).replaceAll("_", " ").replace(/^task:/, "");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export function badge([label, tone]) {
  return h("span", { class: `badge ${tone}` }, label);
}

/** What a task is doing; of a pending one also whether it is paused, or waits to be retried. */
export function stateOf(task) {
  if (task.status === "pending" && task.paused) return ["Paused", "quiet"];
  if (task.status === "pending" && task.next_retry_at) return ["Retrying", "failing"];
  return STATUSES[task.status] || [plain(task.status), "quiet"];
}

export function runState(run) {
  return RUNS[run.status] || [plain(run.status), "quiet"];
}

export function eventName(type) {
  return EVENTS[type] || [plain(type), "quiet"];
}

/** What follows from its last failure, in words; null where that is over. */
export function recoveryOf({ status, recovery_action: action }, attempts = 1) {
  const text = RECOVERY[status]?.[action] ?? null;
  return text && text.replace("{attempts}", count(attempts, "attempt"));
}

/** The few details of an event that matter in one line. */
export function eventDetail({ type, detail = {} }) {
  const told = [];
  if (detail.provider) told.push(detail.provider);
  if (detail.category) told.push(detail.category);
  if (detail.attempt) told.push(`attempt ${detail.attempt}`);
  if (detail.action) told.push(plain(detail.action));
  if (detail.budget) told.push(`budget ${detail.budget}`);
  if (detail.count) told.push(`${detail.count} occurrences`);
  if (detail.fields) told.push([detail.fields].flat().join(", "));
  if (detail.reason) told.push(STARTS.has(type) ? REASONS[detail.reason] : detail.reason);
  if (detail.late_ms > 1000) told.push(`${Math.round(detail.late_ms / 1000)} s late`);
  return told.join(" · ");
}

export function shortened(text, most) {
  const signs = [...text]; // not half of one
  return signs.length > most ? `${signs.slice(0, most - 1).join("").trimEnd()}…` : text;
}

export function count(number, one, many = `${one}s`) {
  return `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
}

/** A person who wants it tried again is not held to the limit. */
export function retriesUsed(used, most) {
  return used > most ? `no retries left (limit ${most})` : `${used} of ${count(most, "retry", "retries")} used`;
}

/** Dollars, with as many decimals as a small sum needs. */
export function dollars(sum) {
  return `$${sum.toFixed(sum !== 0 && sum < 0.1 ? 4 : 2)}`;
}

export function percent(value) {
  return value === null || value === undefined ? "–" : `${Math.round(value)}%`;
}
