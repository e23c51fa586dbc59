/** What one task is, how it stands, and why it does not simply go on. */

import { actionsFor, differenceIn } from "./actions.js";
import { deadline } from "./deadline.js";
import { h, said } from "./dom.js";
import { fact, panel, taskLink } from "./panel.js";
import { local, tickingAt, utc } from "./time.js";
import { badge, recoveryOf, retriesUsed, shortened, stateOf } from "./words.js";

const TITLE = 160; // characters; what is longer has a place of its own

export function title(task, latest, buttons) {
  const verbs = actionsFor(task, latest);
  const difference = differenceIn(verbs);
  return [
    h("div", { class: "task-title" }, said(titleOf(task.description), "h1"),
      h("p", { class: "row-about" }, badge(stateOf(task)), " ", h("span", { class: "id" }, task.id))),
    h("div", { class: "task-do" },
      h("div", { class: "task-actions", role: "group", "aria-label": "Actions" },
        verbs.length ? buttons(task, verbs) : h("p", { class: "quiet" }, idle(task))),
      difference ? h("p", { class: "row-about" }, difference) : null),
  ];
}

function titleOf(description) {
  return shortened(description.trim().split("\n", 1)[0], TITLE);
}

function idle(task) {
  return task.status === "in_progress"
    ? "The task is running. Wait until the run ends."
    : "The task is finished. No actions available.";
}

/** The whole of it, where the title is only its beginning. */
export function described(description) {
  if (titleOf(description) === description.trim()) return [];
  return [panel("Description", { id: "description" },
    h("div", { class: "long-text", tabindex: "0", role: "group", "aria-label": "Description" },
      said(description, "p", "prose")))];
}

export function why({ task, attempts }) {
  const isOpen = !["delivered", "completed", "cancelled"].includes(task.status);
  if (!isOpen || !(task.last_error || task.wait_text)) return [];
  const isFailure = task.last_error && task.status !== "in_progress";
  return [h("div", { class: `notice ${stateOf(task)[1]}` },
    isFailure ? failure(task) : null,
    task.wait_text ? h("p", {}, "Waiting for: ", said(task.wait_text)) : null,
    isFailure && recoveryOf(task, attempts) ? h("p", {}, recoveryOf(task, attempts)) : null,
    deadline(task.blocked_until, "p"),
    task.next_retry_at ? h("p", {}, "Next attempt ", tickingAt("until", task.next_retry_at)) : null)];
}

function failure(task) {
  return [
    h("p", { class: "row-about" }, h("strong", {}, task.last_error_category || "failed"),
      ` · ${retriesUsed(task.retry_count, task.max_retries)}`),
    said(task.last_error, "p", "error-text"),
  ];
}

export function guided(guidance) {
  if (!guidance.length) return [];
  return [panel("Guidance for the next attempt", { id: "guidance" },
    h("ol", { class: "plain-list" }, guidance.map((one) => said(one, "li"))))];
}

export function factsOf(task) {
  return [panel("About", { id: "about" }, h("dl", { class: "facts" },
    // Until there is a verdict, nothing else is due.
    fact(task.status === "pending_verification" ? "Respond by" : "Due", when(task.due_at)),
    task.nominal_at !== task.due_at && fact("Originally due", when(task.nominal_at)),
    task.delivered_at && fact("Finished", when(task.delivered_at)),
    fact("Created", when(task.created_at), task.created_by && said(`by token ${task.created_by}`)),
    fact("Type", said(task.type)),
    fact("Repeats", said(task.repeat || "no")),
    fact("Time zone", said(task.timezone)),
    fact("Owner", said(`${task.channel} / ${task.sender_id}`)),
    task.reply_target !== task.sender_id && fact("Reply target", said(task.reply_target)),
    fact("Policy", said(task.policy)),
    fact("Retries", retriesUsed(task.retry_count, task.max_retries)),
    task.subject && fact("Subject", said(task.subject)),
    task.verify && fact("Verification", "required"),
    task.snooze_of && fact("Snooze of", taskLink(task.snooze_of)),
    task.review_of && fact("Spec review of", taskLink(task.review_of))))];
}

function when(text) {
  return h("span", { class: "when" },
    h("time", { datetime: text }, local(text)), h("span", { class: "quiet" }, utc(text)));
}

export function payloadOf(payload) {
  if (!Object.keys(payload || {}).length) return [];
  return [panel("Payload", { id: "payload" },
    h("pre", { tabindex: "0", "aria-label": "Payload as JSON" }, JSON.stringify(payload, null, 2)))];
}
