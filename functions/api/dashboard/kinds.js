/** The kinds of failures in words. A test compares them with those that chat uses. */

import { h, renderUserText } from "./dom.js";
import { capitalize } from "./format.js";

export const KINDS = {
  auth: ["not authenticated", "a person has to add or renew the key"],
  permission: ["permission denied", "a person has to grant access"],
  not_found: ["not found", "check the name or the address"],
  invalid_request: ["invalid request", "it is refused until the request changes"],
  conflict: ["conflict", ""],
  quota: ["quota used up", "pay the provider or raise its limit"],
  budget: ["budget used up", ""],
  rate_limit: ["rate limit", ""],
  network: ["network error", ""],
  server_error: ["server error", ""],
  timeout: ["timeout", ""],
  memory: ["out of memory", ""],
  disk: ["disk full", ""],
  capacity: ["out of capacity", ""],
  syntax: ["syntax error", "change the code"],
  type: ["type error", "change the code"],
  import: ["missing dependency", "install or declare it"],
  lint: ["lint error", "change the code"],
  assertion: ["failed test", "change the code or the test"],
  crash: ["crash", "change the code"],
  content_policy: ["refused content", "it is refused until the input changes"],
  token_limit: ["input too long", "shorten or split it"],
  bad_json: ["invalid JSON", ""],
  data: ["unexpected data", "correct the data or the code"],
  config: ["wrong configuration", "correct the settings"],
  unknown: ["unknown error", ""],
};

const CLEARING = {
  waiting: "waiting", code_change: "a code change", person: "a person", money: "money", never: "never, as it is",
};

/** Name the kind, or what it probably is. Without a kind, return the category. */
export function describeClass({ kind, category, likely }) {
  if (likely) return `Probably ${nameKind(likely.kind)}`;
  return kind && kind !== "unknown" ? capitalize(nameKind(kind)) : category || "";
}

/** Describe what has to happen before such failures stop. */
export function describeClearing(clearsBy) {
  return CLEARING[clearsBy] || "–";
}

/** Describe what a person can do about failures of this kind; "" if nothing, or if it is unknown. */
export function adviseKind(kind) {
  return KINDS[kind]?.[1] || "";
}

/** Render the kind, with the category that decides on retries beside it, unless that says no more. */
export function renderClass(failure) {
  const text = describeClass(failure);
  const isTold = ["unknown", text.toLowerCase()].includes((failure.category || "unknown").replaceAll("_", " "));
  return h("span", { class: "failure-class", title: adviseKind(failure.kind) || null },
    renderUserText(text || "–"), isTold ? null : renderUserText(` ${failure.category}`, "span", "muted"));
}

/** Return the class of a task's or subject's last error, as runs and errors have theirs. */
export function getLastClass(item) {
  return { kind: item.last_error_kind, category: item.last_error_category };
}

function nameKind(kind) {
  return KINDS[kind]?.[0] || kind;
}
