/** What has been learned of failures: their patterns, and how long it was worth waiting. */

import { barOf } from "./bar.js";
import { confirmed } from "./dialog.js";
import { h, said, say } from "./dom.js";
import { button, panel } from "./panel.js";
import { table } from "./table.js";
import { seconds, tickingAt } from "./time.js";
import { tell, warn } from "./toast.js";
import { percent } from "./words.js";

export function patternsPanel({ api, onDone }) {
  const rows = table({
    caption: "Common patterns",
    key: (one) => `${one.policy}#${one.fingerprint}`,
    empty: "No failures yet. Errors that differ only in IDs and numbers are grouped here.",
    columns: [
      { label: "Pattern", kind: "wide", cell: example },
      { label: "Category", cell: category },
      { label: "Count", kind: "number", cell: (one) => one.count.toLocaleString("en") },
      { label: "Retries succeeded", cell: worked },
      { label: "Last seen", cell: (one) => tickingAt("since", one.last_seen) },
      { label: "Forget", unseen: true, kind: "end", cell: (one) => forgetting(one, { api, onDone }) },
    ],
  });
  return { node: panel("Common patterns", { id: "patterns" }, rows.node), show: rows.show };
}

function example({ example: text, policy, fingerprint }) {
  return [said(text, "span", "clamp error-text"), said(`${policy} · ${fingerprint.slice(0, 12)}`, "span", "id")];
}

function category({ category: name, read_as: rule, said_by_person: isSaid }) {
  const was = isSaid && rule && rule !== name ? ` (the rules say ${rule})` : "";
  return h("span", {}, said(name), isSaid ? h("span", { class: "quiet" }, ` corrected by a person${was}`) : null);
}

function worked({ tried, worked: well, success_percent: share }) {
  return tried ? barOf("Retries succeeded", share, `${percent(share)} (${well} of ${tried})`) : "no retries yet";
}

function forgetting({ policy, fingerprint, category: name, said_by_person: isSaid }, { api, onDone }) {
  if (!isSaid) return null;
  return button("Forget…", async () => {
    const text = `The policy's rules will classify this pattern again, instead of always ${name}.`;
    if (!(await confirmed("Forget the correction of this pattern?", text, "Forget"))) return;
    try {
      await api.del(`/patterns/${encodeURIComponent(policy)}/${encodeURIComponent(fingerprint)}`);
      tell("Correction removed. The rules classify this pattern again.");
      onDone();
    } catch (error) {
      warn(error.message);
    }
  }, { name: `Forget the correction of ${fingerprint.slice(0, 12)}` });
}

export function delaysPanel() {
  const about = h("p", { class: "quiet" });
  const rows = table({
    caption: "Success by retry delay",
    key: (one) => `${one.policy}#${one.category}#${one.delay_seconds}`,
    empty: "No retries yet. The success rate of each delay appears here.",
    columns: [
      { label: "Policy", cell: (one) => said(one.policy) },
      { label: "Category", cell: (one) => said(one.category) },
      { label: "Delay", kind: "number", cell: (one) => seconds(one.delay_seconds) },
      { label: "Succeeded", cell: worked },
    ],
  });
  return {
    node: panel("Retry delays", { id: "delays" }, about, rows.node),
    show({ adapting, items }) {
      say(about, adapting
        ? "Retries use the delay that worked best, within the policy's limits."
        : "Retries use the policy's delays. Set AdaptDelays=on to use these results.");
      rows.show(items);
    },
  };
}
