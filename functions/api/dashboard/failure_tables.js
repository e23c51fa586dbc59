/** The tables of the Failures page: recovery, subjects, recurring failures and providers. */

import { askConfirmation } from "./dialog.js";
import { h, renderUserText } from "./dom.js";
import { formatNumber, formatPercent } from "./format.js";
import { describeClass, describeClearing, getLastClass, renderClass } from "./kinds.js";
import { renderBadge } from "./labels.js";
import { renderMeter } from "./meter.js";
import { renderButton, renderPanel, renderTaskLink } from "./panel.js";
import { linkTo } from "./router.js";
import { createTable } from "./table.js";
import { formatElapsed, renderRelativeTime } from "./time.js";
import { showError, showSuccess } from "./toast.js";

const SUBJECTS = {
  pending: ["Failing", "failing"],
  success: ["Healthy", "ok"],
  permanent_failure: ["Gave up", "blocked"],
};
const GOOD_RATE = 80; // percent of the failed occurrences that recovered
const POOR_RATE = 50;

export function createRecoveryTable() {
  const table = createTable({
    caption: "Recovery by category",
    getKey: (rate) => rate.category,
    empty: "No failures in this range",
    columns: [
      { label: "Category", cell: ({ category }) => renderCategoryLink(category) },
      { label: "Occurrences", kind: "number", cell: (rate) => formatNumber(rate.failures) },
      { label: "Recovered", cell: renderRecoveryRate },
    ],
  });
  const node = renderPanel("Recovery rate", { id: "recovery" }, table.node,
    h("p", { class: "note" }, "Each occurrence counts once, under its first failure."));
  return { node, show: (stats) => table.show(stats.recovery_rate) };
}

export function createKindTable() {
  const table = createTable({
    caption: "Failures by kind",
    getKey: ({ kind }) => kind,
    empty: "No failures in this range",
    columns: [
      { label: "Kind", cell: ({ kind }) => renderUserText(describeClass({ kind, category: kind })) },
      { label: "Failures", kind: "number", cell: ({ count }) => formatNumber(count) },
      { label: "Clears by", cell: ({ clears_by: clearsBy }) => describeClearing(clearsBy) },
    ],
  });
  const node = renderPanel("Failures by kind", { id: "kinds" }, table.node);
  return { node, show: (stats) => table.show(stats.errors_by_kind) };
}

function renderCategoryLink(category) {
  return h("a", { class: "user-text", href: linkTo("tasks", "", { category }) }, category);
}

function renderRecoveryRate({ category, percent, recovered, failures }) {
  const tone = percent >= GOOD_RATE ? "ok" : percent >= POOR_RATE ? "failing" : "blocked";
  const text = percent === null ? "–" : `${formatPercent(percent)} (${recovered} of ${failures})`;
  return renderMeter(`${category} recovered`, percent, text, tone);
}

/**
 * Create the table of subjects: what tasks work on, counted over all tasks. It lists the subjects that
 * fail most; any other can be looked up.
 */
export function createSubjectTable({ api, onDone }) {
  let lookup = null;
  let topFailing = [];
  const table = createTable({
    caption: "Top failing subjects",
    getKey: (subject) => subject.subject,
    empty: "No failing subjects. A subject is what tasks work on, such as a repository.",
    columns: [
      { label: "Subject", kind: "wide", cell: renderSubject },
      { label: "Status", cell: (subject) => renderBadge(SUBJECTS[subject.status] || ["Not tried yet", "muted"]) },
      { label: "Failures", kind: "number", cell: (subject) => formatNumber(subject.failure_count) },
      { label: "Reset", isLabelHidden: true, kind: "end", cell: (subject) => renderResetButton(subject, { api, onDone: reload }) },
    ],
  });
  const field = h("input", {
    type: "text", "aria-label": "Subject", placeholder: "Look up a subject, such as owner/repository", maxlength: "200",
  });
  const form = h("form", { class: "lookup" }, field,
    h("button", { type: "submit", class: "button" }, "Look up"));

  function draw() {
    table.show(lookup ? [lookup, ...topFailing.filter((other) => other.subject !== lookup.subject)] : topFailing);
  }

  async function lookUp() {
    const name = field.value.trim();
    try {
      lookup = name ? toListItem(await api.get(buildSubjectPath(name))) : null;
      draw();
    } catch (error) {
      showError(error.message);
    }
  }

  function reload() {
    if (lookup) lookUp();
    onDone();
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    lookUp();
  });
  return {
    node: renderPanel("Top failing subjects", { id: "subjects" }, table.node, form),
    show(stats) {
      topFailing = stats.top_failing;
      draw();
    },
  };
}

function renderSubject({ subject, last_error_message: message }) {
  return [renderUserText(subject), message ? renderUserText(message, "span", "muted clamp") : null];
}

/** Rename `id` to `subject`, as in the statistics. */
function toListItem({ id, ...fields }) {
  return { subject: id, ...fields };
}

/** Encode the slashes of the name too: as path segments, dots between them would lead to another route. */
function buildSubjectPath(name) {
  return `/subjects/${encodeURIComponent(name)}`;
}

function renderResetButton({ subject, status }, { api, onDone }) {
  if (status === null) return null;
  return renderButton("Reset…", async () => {
    const text = "This clears the subject's failures. Tasks may work on it again at once.";
    if (!(await askConfirmation(`Reset ${subject}?`, text, "Reset"))) return;
    try {
      await api.post(`${buildSubjectPath(subject)}/reset`);
      showSuccess(`Subject ${subject} reset.`);
      onDone();
    } catch (error) {
      showError(error.message);
    }
  }, { name: `Reset subject ${subject}`, scope: "admin" });
}

export function createRecurringTable() {
  const table = createTable({
    caption: "Recurring failures",
    getKey: (failure) => `${failure.subject}#${failure.task_id}`,
    empty: "No recurring failures",
    columns: [
      { label: "Subject or task", kind: "wide", cell: renderSubjectAndTask },
      { label: "Kind", cell: (failure) => renderClass(getLastClass(failure)) },
      { label: "Errors", kind: "number", cell: (failure) => formatNumber(failure.total_errors) },
      { label: "Last error", cell: (failure) => renderRelativeTime("past", failure.last_error_at) },
    ],
  });
  const node = renderPanel("Recurring failures", { id: "recurring" }, table.node);
  return { node, show: (stats) => table.show(stats.repeated_failures) };
}

function renderSubjectAndTask({ subject, task_id }) {
  return [subject ? renderUserText(subject) : null, subject && task_id ? " " : null,
    task_id ? renderTaskLink(task_id) : null];
}

export function createProviderTable() {
  const table = createTable({
    caption: "By provider",
    getKey: (provider) => provider.provider,
    empty: "No provider calls in this range",
    columns: [
      { label: "Provider", cell: (provider) => renderUserText(provider.provider) },
      { label: "Runs", kind: "number", cell: (provider) => formatNumber(provider.runs) },
      { label: "Failed", kind: "number", cell: (provider) => formatPercent(provider.failure_percent) },
      { label: "Average time", kind: "number", cell: ({ avg_duration_ms: ms }) => (ms === null ? "–" : formatElapsed(ms)) },
    ],
  });
  const node = renderPanel("Providers", { id: "providers" }, table.node);
  return { node, show: (stats) => table.show(stats.by_provider) };
}
