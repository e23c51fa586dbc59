/** Many requests, a few at a time, in a dialog with a progress bar, a stop button and a summary. */

import { createDialog, showBusyDialog } from "./dialog.js";
import { h, renderUserText, setText } from "./dom.js";
import { formatCount, formatNumber } from "./format.js";

const CONCURRENCY = 4;
const MAX_REASONS = 10;
const AUTH_ERRORS = new Set([401, 403]); // they apply to every request

/** Call `work` for each of `items`, and collect its errors. Never throws. */
async function runAll(items, work, { onStep, isStopped }) {
  const done = [];
  const failures = [];
  let abortReason = null;
  const queue = items[Symbol.iterator]();
  async function runQueue() {
    for (let next = queue.next(); !next.done; next = queue.next()) {
      try {
        await work(next.value);
        done.push(next.value);
      } catch (error) {
        failures.push({ item: next.value, reason: error.detail || error.message });
        if (AUTH_ERRORS.has(error.status)) abortReason = error.message;
      }
      onStep(done.length + failures.length);
      if (abortReason || isStopped()) return;
    }
  }
  await Promise.all(Array.from({ length: CONCURRENCY }, runQueue));
  return { done, failures, abortReason };
}

/** Run `work` for each of `items` in a dialog. Resolves when the user closes the summary. */
export async function runWithProgress(title, items, work) {
  let isStopped = false;
  const status = h("p", { role: "status" }, `0 of ${formatCount(items.length, "task")}`);
  const progress = h("progress", { max: String(items.length), value: 0, "aria-label": title });
  const stopButton = h("button", { type: "button", class: "button" }, "Stop");
  const { dialog, form } = createDialog(title, [progress, status]);
  form.append(h("div", { class: "dialog-end" }, stopButton));
  const stop = () => { isStopped = true; };
  stopButton.addEventListener("click", stop);
  const allowClosing = showBusyDialog(dialog, stop);
  const result = await runAll(items, work, {
    isStopped: () => isStopped,
    onStep: (finished) => {
      progress.value = finished;
      setText(status, `${formatNumber(finished)} of ${formatCount(items.length, "task")}`);
    },
  });
  allowClosing();
  await showSummary(dialog, form, title, { ...result, total: items.length });
  return result;
}

function showSummary(dialog, form, title, { done, failures, abortReason, total }) {
  const skipped = total - done.length - failures.length;
  const close = h("button", { type: "button", class: "button strong" }, "Close");
  const content = [
    h("h2", {}, title),
    h("p", { role: "status" }, `${formatCount(done.length, "task")} done.`),
    failures.length && h("p", {}, `${formatCount(failures.length, "task")} could not be changed:`),
    failures.length && renderReasons(failures),
    skipped && h("p", {}, `${formatCount(skipped, "task")} skipped: ${abortReason || "you stopped it."}`),
    h("div", { class: "dialog-end" }, close),
  ];
  form.replaceChildren(...content.filter(Boolean));
  if (!dialog.open) dialog.showModal(); // the browser closed it before it could be shown again
  close.focus();
  return new Promise((resolve) => {
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => {
      if (dialog.open) return; // a late event, from before it was shown again
      dialog.remove();
      resolve();
    });
  });
}

/** Group the reasons by their text without task ids, and count each. */
function renderReasons(failures) {
  const counts = new Map();
  for (const { reason } of failures) {
    const group = reason.replace(/[0-9a-f]{8}(-[0-9a-f-]+)?/g, "…");
    counts.set(group, (counts.get(group) || 0) + 1);
  }
  const rows = [...counts].sort((a, b) => b[1] - a[1]).slice(0, MAX_REASONS);
  return h("ul", { class: "reasons" }, rows.map(([reason, number]) =>
    h("li", {}, h("span", { class: "number" }, `${number} × `), renderUserText(reason))));
}
