/** The chain of runs as a timeline: how far each came, and why it failed, if it did. */

import { h, said } from "./dom.js";
import { newestFirst } from "./newest_first.js";
import { fact } from "./panel.js";
import { local, seconds, short, took, utc } from "./time.js";
import { badge, dollars, plain, REASONS, retriesUsed, runState } from "./words.js";

const PHASES = ["preparing", "prepared", "mutating", "mutated", "emitting", "committed"];
const SHOWN = 30;

export function runs() {
  const list = newestFirst({
    title: "Runs", id: "runs", kind: "timeline", most: SHOWN, noun: "runs",
    empty: "No runs yet. Each attempt appears here.",
    key: ({ run }) => run.id, makeRow: row,
  });
  return {
    node: list.node,
    show({ chain, errors, max }) {
      const whys = new Map(errors.map((one) => [one.id, one]));
      list.show(chain.map((run) => ({ run, why: whys.get(run.id), max })));
    },
  };
}

function row() {
  const node = h("li", {});
  return { node, show: (item) => fill(node, item) };
}

/** What somebody has opened stays open. */
function fill(node, { run, why, max }) {
  const isOpen = node.querySelector("details")?.open ?? false;
  node.className = `run ${runState(run)[1]}`;
  node.dataset.run = run.id;
  const parts = [head(run), phases(run), mutation(run), run.error && failure(run, why, max),
    outcome(run, isOpen), run.call && call(run.call)];
  node.replaceChildren(...parts.filter(Boolean));
}

function head(run) {
  return h("div", { class: "run-head" },
    h("h3", {}, `Attempt ${run.attempt}`),
    h("span", { class: "quiet" }, REASONS[run.reason] || plain(run.reason)),
    badge(runState(run)), timed(run));
}

function timed(run) {
  // Others that have not ended wait for somebody.
  const running = run.status === "active" ? "still running" : "";
  const lasted = run.ended_at ? took(Date.parse(run.ended_at) - Date.parse(run.started_at)) : running;
  return h("span", { class: "run-time number", title: `${local(run.started_at)} · ${utc(run.started_at)}` },
    [short(run.started_at), lasted].filter(Boolean).join(" · "));
}

/** How far it came: a step for each phase, the one it ended in named. */
function phases(run) {
  const reached = PHASES.indexOf(run.phase);
  return h("ol", { class: "phases", "aria-label": `Phase: ${run.phase}` },
    PHASES.map((name, n) => h("li", { class: stepOf(n - reached), title: name }, h("span", {}, name))));
}

function stepOf(distance) {
  if (distance === 0) return "reached";
  return distance < 0 ? "passed" : null;
}

function mutation({ mutation: { status } }) {
  if (status !== "indeterminate" && status !== "in_flight") return null;
  return h("p", { class: "row-about" }, status === "in_flight"
    ? "The side effect is in progress." : "Unknown whether the side effect happened.");
}

function failure(run, why, max) {
  return h("div", { class: "failure" },
    said(why?.message || run.error, "p", "error-text"),
    h("dl", { class: "facts" },
      fact("Category", said(run.category || why?.category || "–"), why && sure(why)),
      why && [
        fact("Matched rule", patternOf(why)),
        why.location && fact("Location", said(place(why.location), "code")),
        why.suggested_fix && fact("Suggested fix", said(why.suggested_fix)),
        evidence(why) && fact("Code", said(evidence(why), "code")),
        fact("Decision", `${plain(why.action || "none")}, ${retriesUsed(why.retry_count, max)}`,
          !why.counted && "(not counted)"),
        adapted(why),
      ]));
}

function sure({ confidence }) {
  if (confidence === null || confidence === undefined) return null;
  return h("span", { class: "quiet number" }, `${Math.round(confidence * 100)}% confidence`);
}

function patternOf(why) {
  if (why.pattern === "person") return "none, classified by a person";
  const read = why.pattern || "none, the policy's fallback applies";
  return said(why.learned ? `${why.pattern}, learned from a person's correction` : read);
}

function place({ file, line }) {
  return line ? `${file}:${line}` : file;
}

function evidence({ type, code, status }) {
  return [type, code, status].filter((one) => one !== null && one !== undefined).join(" · ");
}

function adapted({ adapted: found }) {
  if (!found) return null;
  return fact("Delay", `${seconds(found.delay_seconds)} instead of ${seconds(found.policy_delay_seconds)}: `,
    said(found.because || `${found.worked} of ${found.tried} succeeded`));
}

function outcome(run, isOpen) {
  const result = run.mutation.result ?? run.prepare_result;
  if (result === null || result === undefined || run.error) return null;
  const text = typeof result === "string" ? result : JSON.stringify(result, null, 2);
  return h("details", { open: isOpen }, h("summary", {}, "Result"), h("pre", { tabindex: "0" }, text));
}

function call({ provider, model, milliseconds, cost }) {
  const told = [provider, model, milliseconds !== undefined && took(milliseconds),
    cost !== undefined && dollars(cost / 1_000_000)];
  return h("p", { class: "row-about" }, "Provider call: ", said(told.filter(Boolean).join(" · ")));
}
