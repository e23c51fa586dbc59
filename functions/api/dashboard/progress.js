/** Many requests, a few at a time, with a bar, a way to stop, and what came of them in the end. */

import { frame, showWhileBusy } from "./dialog.js";
import { h, said, say } from "./dom.js";
import { count } from "./words.js";

const AT_A_TIME = 4;
const NOT_ALLOWED = new Set([401, 403]); // of one, and so of all

/** Calls `work` for each of `items`; what it raises is kept as the reason. Never raises. */
async function runAll(items, work, { onStep, isStopped }) {
  const done = [];
  const refused = [];
  let ended = null;
  const waiting = items[Symbol.iterator]();
  async function lane() {
    for (let next = waiting.next(); !next.done; next = waiting.next()) {
      try {
        await work(next.value);
        done.push(next.value);
      } catch (error) {
        refused.push({ item: next.value, reason: error.detail || error.message });
        if (NOT_ALLOWED.has(error.status)) ended = error.message;
      }
      onStep(done.length, refused.length);
      if (ended || isStopped()) return;
    }
  }
  await Promise.all(Array.from({ length: AT_A_TIME }, lane));
  return { done, refused, ended };
}

/** The same in a dialog that ends with a summary. Resolves when it is closed. */
export async function runWithBar(title, items, work) {
  let isStopped = false;
  const line = h("p", { role: "status" }, `0 of ${count(items.length, "task")}`);
  const bar = h("progress", { max: String(items.length), value: 0, "aria-label": title });
  const button = h("button", { type: "button", class: "button" }, "Stop");
  const { dialog, form } = frame(title, [bar, line]);
  form.append(h("div", { class: "dialog-end" }, button));
  const stop = () => { isStopped = true; };
  button.addEventListener("click", stop);
  const release = showWhileBusy(dialog, stop);
  const result = await runAll(items, work, {
    isStopped: () => isStopped,
    onStep: (done, refused) => {
      bar.value = done + refused;
      say(line, `${(done + refused).toLocaleString("en")} of ${count(items.length, "task")}`);
    },
  });
  release();
  await summed(dialog, form, title, { ...result, of: items.length });
  return result;
}

function summed(dialog, form, title, { done, refused, ended, of }) {
  const left = of - done.length - refused.length;
  const close = h("button", { type: "button", class: "button strong" }, "Close");
  const told = [
    h("h2", {}, title),
    h("p", { role: "status" }, `${count(done.length, "task")} done.`),
    refused.length && h("p", {}, `${count(refused.length, "task")} could not be changed:`),
    refused.length && reasonsOf(refused),
    left && h("p", {}, `${count(left, "task")} skipped: ${ended || "you stopped it."}`),
    h("div", { class: "dialog-end" }, close),
  ];
  form.replaceChildren(...told.filter(Boolean));
  if (!dialog.open) dialog.showModal(); // closed a moment ago, before it could be shown again
  close.focus();
  return new Promise((resolve) => {
    close.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => {
      if (dialog.open) return; // told late, of the time before it was shown again
      dialog.remove();
      resolve();
    });
  });
}

/** The same reason is told once, with how many it holds for: ids in it differ. */
function reasonsOf(refused) {
  const found = new Map();
  for (const { reason } of refused) {
    const kind = reason.replace(/[0-9a-f]{8}(-[0-9a-f-]+)?/g, "…");
    found.set(kind, (found.get(kind) || 0) + 1);
  }
  const rows = [...found].sort((a, b) => b[1] - a[1]).slice(0, 10);
  return h("ul", { class: "reasons" }, rows.map(([reason, many]) =>
    h("li", {}, h("span", { class: "number" }, `${many} × `), said(reason))));
}
