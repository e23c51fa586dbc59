/** What past failures taught: error patterns, and the success rate of each retry delay. */

import { askConfirmation } from "./dialog.js";
import { h, renderUserText, setText } from "./dom.js";
import { formatNumber, formatPercent } from "./format.js";
import { renderClass } from "./kinds.js";
import { renderMeter } from "./meter.js";
import { renderButton, renderPanel } from "./panel.js";
import { createTable } from "./table.js";
import { formatSeconds, renderRelativeTime } from "./time.js";
import { showError, showSuccess } from "./toast.js";

export function createPatternTable({ api, onDone }) {
  const table = createTable({
    caption: "Common patterns",
    getKey: (pattern) => `${pattern.policy}#${pattern.fingerprint}`,
    empty: "No failures yet. Errors that differ only in IDs and numbers are grouped here.",
    columns: [
      { label: "Pattern", kind: "wide", cell: renderExample },
      { label: "Kind", cell: renderCategory },
      { label: "Count", kind: "number", cell: (pattern) => formatNumber(pattern.count) },
      { label: "Retries succeeded", cell: renderSuccessRate },
      { label: "Last seen", cell: (pattern) => renderRelativeTime("past", pattern.last_seen) },
      { label: "Forget", isLabelHidden: true, kind: "end", cell: (pattern) => renderForgetButton(pattern, { api, onDone }) },
    ],
  });
  return { node: renderPanel("Common patterns", { id: "patterns" }, table.node), show: table.show };
}

function renderExample({ example, policy, fingerprint }) {
  return [renderUserText(example, "span", "clamp error-text"),
    renderUserText(`${policy} · ${fingerprint.slice(0, 12)}`, "span", "id")];
}

function renderCategory({ kind, category, read_as: ruleCategory, said_by_person: isCorrected }) {
  const original = isCorrected && ruleCategory && ruleCategory !== category ? ` (the rules say ${ruleCategory})` : "";
  return h("span", {}, renderClass({ kind, category }),
    isCorrected ? h("span", { class: "muted" }, ` corrected by a person${original}`) : null);
}

function renderSuccessRate({ tried, worked, success_percent: percent }) {
  if (!tried) return "no retries yet";
  return renderMeter("Retries succeeded", percent, `${formatPercent(percent)} (${worked} of ${tried})`);
}

function renderForgetButton({ policy, fingerprint, category, said_by_person: isCorrected }, { api, onDone }) {
  if (!isCorrected) return null;
  return renderButton("Forget…", async () => {
    const text = `The policy's rules will classify this pattern again, instead of always ${category}.`;
    if (!(await askConfirmation("Forget the correction of this pattern?", text, "Forget"))) return;
    try {
      await api.del(`/patterns/${encodeURIComponent(policy)}/${encodeURIComponent(fingerprint)}`);
      showSuccess("Correction removed. The rules classify this pattern again.");
      onDone();
    } catch (error) {
      showError(error.message);
    }
  }, { name: `Forget the correction of ${fingerprint.slice(0, 12)}`, scope: "admin" });
}

export function createDelayTable() {
  const note = h("p", { class: "muted" });
  const table = createTable({
    caption: "Success by retry delay",
    getKey: (delay) => `${delay.policy}#${delay.category}#${delay.delay_seconds}`,
    empty: "No retries yet. The success rate of each delay appears here.",
    columns: [
      { label: "Policy", cell: (delay) => renderUserText(delay.policy) },
      { label: "Category", cell: (delay) => renderUserText(delay.category) },
      { label: "Delay", kind: "number", cell: (delay) => formatSeconds(delay.delay_seconds) },
      { label: "Succeeded", cell: renderSuccessRate },
    ],
  });
  return {
    node: renderPanel("Retry delays", { id: "delays" }, note, table.node),
    show({ adapting: isAdapting, items }) {
      setText(note, isAdapting
        ? "Retries use the delay that worked best, within the policy's limits."
        : "Retries use the policy's delays. Set AdaptDelays=on to use these results.");
      table.show(items);
    },
  };
}
