/** The tables of the failures: what recovered, which subjects fail, what fails again and again. */

import { barOf } from "./bar.js";
import { confirmed } from "./dialog.js";
import { h, said } from "./dom.js";
import { button, panel, taskLink } from "./panel.js";
import { linkTo } from "./router.js";
import { table } from "./table.js";
import { tickingAt, took } from "./time.js";
import { tell, warn } from "./toast.js";
import { badge, percent } from "./words.js";

const SUBJECTS = {
  pending: ["Failing", "failing"],
  success: ["Healthy", "ok"],
  permanent_failure: ["Gave up", "blocked"],
};
const GOOD = 80; // percent of what failed and recovered
const POOR = 50;

export function recovery() {
  const rows = table({
    caption: "Recovery by category",
    key: (one) => one.category,
    empty: "No failures in this range",
    columns: [
      { label: "Category", cell: ({ category }) => tasksOf(category) },
      { label: "Occurrences", kind: "number", cell: (one) => one.failures.toLocaleString("en") },
      { label: "Recovered", cell: recovered },
    ],
  });
  const node = panel("Recovery rate", { id: "recovery" }, rows.node,
    h("p", { class: "note" }, "Each occurrence counts once, under its first failure."));
  return { node, show: (stats) => rows.show(stats.recovery_rate) };
}

function tasksOf(category) {
  return h("a", { class: "said", href: linkTo("tasks", "", { category }) }, category);
}

function recovered({ category, percent: share, recovered: many, failures }) {
  const tone = share >= GOOD ? "ok" : share >= POOR ? "failing" : "blocked";
  const text = share === null ? "–" : `${percent(share)} (${many} of ${failures})`;
  return barOf(`${category} recovered`, share, text, tone);
}

/**
 * Subjects are the second level of tracking: what tasks work on, whichever task it is. Those that
 * were given up are listed; any other can be looked up.
 */
export function subjects({ api, onDone }) {
  let lookedUp = null;
  let givenUp = [];
  const rows = table({
    caption: "Top failing subjects",
    key: (one) => one.subject,
    empty: "No failing subjects. A subject is what tasks work on, such as a repository.",
    columns: [
      { label: "Subject", kind: "wide", cell: named },
      { label: "Status", cell: (one) => badge(SUBJECTS[one.status] || ["Not tried yet", "quiet"]) },
      { label: "Failures", kind: "number", cell: (one) => one.failure_count.toLocaleString("en") },
      { label: "Reset", unseen: true, kind: "end", cell: (one) => resetting(one, { api, onDone: again }) },
    ],
  });
  const field = h("input", {
    type: "text", "aria-label": "Subject", placeholder: "Look up a subject, such as owner/repository", maxlength: "200",
  });
  const form = h("form", { class: "look-up" }, field,
    h("button", { type: "submit", class: "button" }, "Look up"));

  function draw() {
    rows.show(lookedUp ? [lookedUp, ...givenUp.filter((one) => one.subject !== lookedUp.subject)] : givenUp);
  }

  async function lookUp() {
    const name = field.value.trim();
    try {
      lookedUp = name ? asListed(await api.get(subjectPath(name))) : null;
      draw();
    } catch (error) {
      warn(error.message);
    }
  }

  function again() {
    if (lookedUp) lookUp();
    onDone();
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    lookUp();
  });
  return {
    node: panel("Top failing subjects", { id: "subjects" }, rows.node, form),
    show(stats) {
      givenUp = stats.top_failing;
      draw();
    },
  };
}

function named({ subject, last_error_message: message }) {
  return [said(subject), message ? said(message, "span", "quiet clamp") : null];
}

function asListed({ id, ...subject }) {
  return { subject: id, ...subject };
}

/** Its slashes are part of the name: as parts of the path, dots between them would lead elsewhere. */
function subjectPath(name) {
  return `/subjects/${encodeURIComponent(name)}`;
}

function resetting({ subject, status }, { api, onDone }) {
  if (status === null) return null;
  return button("Reset…", async () => {
    const text = "This clears the subject's failures. Tasks may work on it again at once.";
    if (!(await confirmed(`Reset ${subject}?`, text, "Reset"))) return;
    try {
      await api.post(`${subjectPath(subject)}/reset`);
      tell(`Subject ${subject} reset.`);
      onDone();
    } catch (error) {
      warn(error.message);
    }
  }, { name: `Reset subject ${subject}` });
}

export function repeated() {
  const rows = table({
    caption: "Recurring failures",
    key: (one) => `${one.subject}#${one.task_id}`,
    empty: "No recurring failures",
    columns: [
      { label: "Subject or task", kind: "wide", cell: whatOf },
      { label: "Category", cell: (one) => said(one.last_error_category || "–") },
      { label: "Errors", kind: "number", cell: (one) => one.total_errors.toLocaleString("en") },
      { label: "Last error", cell: (one) => tickingAt("since", one.last_error_at) },
    ],
  });
  const node = panel("Recurring failures", { id: "repeated" }, rows.node);
  return { node, show: (stats) => rows.show(stats.repeated_failures) };
}

function whatOf({ subject, task_id }) {
  return [subject ? said(subject) : null, subject && task_id ? " " : null,
    task_id ? taskLink(task_id) : null];
}

export function providers() {
  const rows = table({
    caption: "By provider",
    key: (one) => one.provider,
    empty: "No provider calls in this range",
    columns: [
      { label: "Provider", cell: (one) => said(one.provider) },
      { label: "Runs", kind: "number", cell: (one) => one.runs.toLocaleString("en") },
      { label: "Failed", kind: "number", cell: (one) => percent(one.failure_percent) },
      { label: "Average time", kind: "number", cell: ({ avg_duration_ms: ms }) => (ms === null ? "–" : took(ms)) },
    ],
  });
  const node = panel("Providers", { id: "providers" }, rows.node);
  return { node, show: (stats) => rows.show(stats.by_provider) };
}
