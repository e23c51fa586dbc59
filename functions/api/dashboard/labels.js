/** The labels and tones of statuses, events and recovery actions. */

import { h } from "./dom.js";
import { capitalize, formatCount } from "./format.js";
import { describeClass } from "./kinds.js";

export const STATUSES = {
  pending: ["Pending", "waiting"],
  in_progress: ["In progress", "running"],
  pending_verification: ["Awaiting verification", "failing"],
  delivered: ["Delivered", "ok"],
  completed: ["Completed", "ok"],
  failed: ["Failed", "blocked"],
  blocked: ["Blocked", "blocked"],
  cancelled: ["Cancelled", "muted"],
};
const RUNS = {
  active: ["Running", "running"],
  committed: ["Committed", "ok"],
  "paused:transient": ["Failed, retry scheduled", "failing"],
  "paused:budget": ["Waiting for budget", "failing"],
  "paused:approval": ["Waiting for approval", "failing"],
  "paused:reconciliation": ["Outcome unknown", "blocked"],
  "failed:logic": ["Code error", "blocked"],
  "failed:permanent": ["Failed permanently", "blocked"],
  crashed: ["Crashed", "failing"],
  cancelled: ["Cancelled", "muted"],
};
export const REASONS = {
  first: "first attempt",
  transient: "retry after a failure",
  logic_fix: "retry with fixed code",
  crashed_recovery: "retry after a crash",
  user_retry: "manual retry",
  recurrence: "next occurrence",
};
// In these events `reason` is the reason of the run, not a sentence.
const RUN_EVENTS = new Set(["task:started", "task:retry_executed"]);
// By status: an action that was chosen in an earlier status no longer applies.
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
  "task:cancelled": ["Cancelled", "muted"],
  "task:indeterminate": ["Outcome unknown", "blocked"],
  "task:skipped": ["Occurrences skipped", "muted"],
  "task:reclassified": ["Reclassified", "waiting"],
  "task:corrected": ["Corrected by its worker", "waiting"],
  "task:resolved": ["Outcome resolved", "ok"],
  "task:approved": ["Approved", "ok"],
  "task:verification_requested": ["Verification requested", "failing"],
  "task:paused": ["Paused", "muted"],
  "task:resumed": ["Resumed", "waiting"],
  "task:parked": ["Deferred", "muted"],
  "task:undelivered": ["Requeued", "failing"],
  "task:changed": ["Changed", "muted"],
  "budget:exceeded": ["Budget exceeded", "failing"],
  "breaker:opened": ["Circuit breaker opened", "blocked"],
  "breaker:closed": ["Circuit breaker closed", "ok"],
};

export function renderBadge([label, tone]) {
  return h("span", { class: `badge ${tone}` }, label);
}

/** The label and tone of a task. A pending task may also be paused or waiting for a retry. */
export function getTaskState(task) {
  if (task.status === "pending" && task.paused) return ["Paused", "muted"];
  if (task.status === "pending" && task.next_retry_at) return ["Retrying", "failing"];
  return STATUSES[task.status] || [capitalize(task.status), "muted"];
}

export function getRunState(run) {
  return RUNS[run.status] || [capitalize(run.status), "muted"];
}

export function getEventLabel(type) {
  return EVENTS[type] || [capitalize(type), "muted"];
}

/** Describe what follows the last failure; null if nothing does. `attempts` counts the runs so far. */
export function describeRecovery({ status, recovery_action: action }, attempts = 1) {
  const text = RECOVERY[status]?.[action] ?? null;
  return text && text.replace("{attempts}", formatCount(attempts, "attempt"));
}

/** Describe the most useful details of an event in one line. */
export function describeEvent({ type, detail = {} }) {
  const details = [];
  if (detail.provider) details.push(detail.provider);
  if (detail.category) details.push(describeClass(detail));
  if (detail.attempt) details.push(`attempt ${detail.attempt}`);
  if (detail.action) details.push(capitalize(detail.action));
  if (detail.budget) details.push(`budget ${detail.budget}`);
  if (detail.count) details.push(formatCount(detail.count, "occurrence"));
  if (detail.fields) details.push([detail.fields].flat().join(", "));
  if (detail.reason) details.push(RUN_EVENTS.has(type) ? REASONS[detail.reason] : detail.reason);
  if (detail.late_ms > 1000) details.push(`${Math.round(detail.late_ms / 1000)} s late`);
  return details.join(" · ");
}
