/** The runs of a task as a timeline: the phase that each reached, and why it failed. */

import { h, renderUserText } from "./dom.js";
import { capitalize, formatDollars, formatPercent, formatRetries } from "./format.js";
import { renderClass } from "./kinds.js";
import { getRunState, REASONS, renderBadge } from "./labels.js";
import { renderFact } from "./panel.js";
import { createRecentList } from "./recent_list.js";
import { formatElapsed, formatLocalAndUtc, formatSeconds, formatShort } from "./time.js";

const PHASES = ["preparing", "prepared", "mutating", "mutated", "emitting", "committed"];
const LIMIT = 30;

export function createRunTimeline() {
  const list = createRecentList({
    title: "Runs", id: "runs", kind: "timeline", limit: LIMIT, noun: "runs",
    empty: "No runs yet. Each attempt appears here.",
    getKey: ({ run }) => run.id, createRow,
  });
  return {
    node: list.node,
    show({ runs, errors, maxRetries }) {
      const reports = new Map(errors.map((report) => [report.id, report]));
      list.show(runs.map((run) => ({ run, report: reports.get(run.id), maxRetries })));
    },
  };
}

function createRow() {
  const node = h("li", {});
  return { node, show: (item) => fillRow(node, item) };
}

/** Details that the user opened stay open. */
function fillRow(node, { run, report, maxRetries }) {
  const isOpen = node.querySelector("details")?.open ?? false;
  node.className = `run ${getRunState(run)[1]}`;
  node.dataset.run = run.id;
  const sections = [renderHead(run), renderPhases(run), renderMutation(run),
    run.error && renderFailure(run, report, maxRetries), renderResult(run, isOpen), run.call && renderCall(run.call)];
  node.replaceChildren(...sections.filter(Boolean));
}

function renderHead(run) {
  return h("div", { class: "run-head" },
    h("h3", {}, `Attempt ${run.attempt}`),
    h("span", { class: "muted" }, REASONS[run.reason] || capitalize(run.reason)),
    renderBadge(getRunState(run)), renderRunTime(run));
}

function renderRunTime(run) {
  // A run that is neither ended nor active waits for a person.
  const running = run.status === "active" ? "still running" : "";
  const elapsed = run.ended_at ? formatElapsed(Date.parse(run.ended_at) - Date.parse(run.started_at)) : running;
  return h("span", { class: "run-time number", title: formatLocalAndUtc(run.started_at) },
    [formatShort(run.started_at), elapsed].filter(Boolean).join(" · "));
}

function renderPhases(run) {
  const current = PHASES.indexOf(run.phase);
  return h("ol", { class: "phases", "aria-label": `Phase: ${run.phase}` },
    PHASES.map((name, n) => h("li", { class: getPhaseClass(n - current), title: name }, h("span", {}, name))));
}

function getPhaseClass(distance) {
  if (distance === 0) return "current";
  return distance < 0 ? "complete" : null;
}

function renderMutation({ mutation: { status } }) {
  if (status !== "indeterminate" && status !== "in_flight") return null;
  return h("p", { class: "row-details" }, status === "in_flight"
    ? "The side effect is in progress." : "Unknown whether the side effect happened.");
}

function renderFailure(run, report, maxRetries) {
  return h("div", { class: "failure" },
    renderUserText(report?.message || run.error, "p", "error-text"),
    h("dl", { class: "facts" },
      renderFact("Kind", renderClass(run.category ? run : report || run), report && renderConfidence(report)),
      report && renderReport(report, maxRetries)));
}

function renderReport(report, maxRetries) {
  const code = formatCode(report);
  return [
    renderFact("Matched rule", renderUserText(describeRule(report))),
    report.location && renderFact("Location", renderUserText(formatLocation(report.location), "code")),
    report.suggested_fix && renderFact("Suggested fix", renderUserText(report.suggested_fix)),
    code && renderFact("Code", renderUserText(code, "code")),
    renderFact("Decision", `${capitalize(report.action || "none")}, ${formatRetries(report.retry_count, maxRetries)}`,
      !report.counted && "(not counted)"),
    renderAdaptedDelay(report),
  ];
}

function renderConfidence({ confidence }) {
  if (confidence === null || confidence === undefined) return null;
  return h("span", { class: "muted number" }, `${formatPercent(confidence * 100)} confidence`);
}

function describeRule({ pattern, learned: isLearned }) {
  if (pattern === "person") return "none, classified by a person";
  if (isLearned) return `${pattern}, learned from a person's correction`;
  return pattern || "none, the policy's fallback applies";
}

function formatLocation({ file, line }) {
  return line ? `${file}:${line}` : file;
}

function formatCode({ type, code, status }) {
  return [type, code, status].filter((value) => value !== null && value !== undefined).join(" · ");
}

function renderAdaptedDelay({ adapted }) {
  if (!adapted) return null;
  return renderFact("Delay",
    `${formatSeconds(adapted.delay_seconds)} instead of ${formatSeconds(adapted.policy_delay_seconds)}: `,
    renderUserText(adapted.because || `${adapted.worked} of ${adapted.tried} succeeded`));
}

function renderResult(run, isOpen) {
  const result = run.mutation.result ?? run.prepare_result;
  if (result === null || result === undefined || run.error) return null;
  const text = typeof result === "string" ? result : JSON.stringify(result, null, 2);
  return h("details", { open: isOpen }, h("summary", {}, "Result"), h("pre", { tabindex: "0" }, text));
}

function renderCall({ provider, model, milliseconds, cost }) {
  const details = [provider, model, milliseconds !== undefined && formatElapsed(milliseconds),
    cost !== undefined && formatDollars(cost / 1_000_000)];
  return h("p", { class: "row-details" }, "Provider call: ", renderUserText(details.filter(Boolean).join(" · ")));
}
