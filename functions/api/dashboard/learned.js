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
    empty: "No failure has been seen yet. Those that differ only in ids and numbers are counted together here.",
    columns: [
      { label: "Pattern", kind: "wide", cell: example },
      { label: "Category", cell: category },
      { label: "Seen", kind: "number", cell: (one) => one.count.toLocaleString("en") },
      { label: "The fix worked", cell: worked },
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
  const was = isSaid && rule && rule !== name ? `, the rules say ${rule}` : "";
  return h("span", {}, said(name), isSaid ? h("span", { class: "quiet" }, ` a person said so${was}`) : null);
}

function worked({ tried, worked: well, success_percent: share }) {
  return tried ? barOf("It worked", share, `${percent(share)} (${well} of ${tried})`) : "not tried yet";
}

function forgetting({ policy, fingerprint, category: name, said_by_person: isSaid }, { api, onDone }) {
  if (!isSaid) return null;
  return button("Forget…", async () => {
    const text = `From now on the rules decide again whether this is ${name}.`;
    if (!(await confirmed("Forget what a person said of this pattern?", text, "Forget"))) return;
    try {
      await api.del(`/patterns/${encodeURIComponent(policy)}/${encodeURIComponent(fingerprint)}`);
      tell("It is forgotten: the rules decide again.");
      onDone();
    } catch (error) {
      warn(error.message);
    }
  }, { name: `Forget what was said of ${fingerprint.slice(0, 12)}` });
}

export function delaysPanel() {
  const about = h("p", { class: "quiet" });
  const rows = table({
    caption: "How long it was worth waiting",
    key: (one) => `${one.policy}#${one.category}#${one.delay_seconds}`,
    empty: "No retry has been tried yet. What each delay was good for is counted here.",
    columns: [
      { label: "Policy", cell: (one) => said(one.policy) },
      { label: "Category", cell: (one) => said(one.category) },
      { label: "Waited", kind: "number", cell: (one) => seconds(one.delay_seconds) },
      { label: "Worked", cell: worked },
    ],
  });
  return {
    node: panel("Delays that worked", { id: "delays" }, about, rows.node),
    show({ adapting, items }) {
      say(about, adapting
        ? "Retries wait as long as has worked best, within what their policy allows."
        : "Retries wait as their policy says. AdaptDelays=on makes use of this evidence.");
      rows.show(items);
    },
  };
}
