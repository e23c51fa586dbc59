/** A bar that shows a share, with the words beside it: colour is never all that tells. */

import { h, say } from "./dom.js";

export function bar(label, tone = "ok") {
  const filled = h("span", { class: `bar-filled ${tone}` });
  const node = h("span", {
    class: "bar", role: "meter", "aria-label": label, "aria-valuemin": "0", "aria-valuemax": "100",
  }, filled);
  const words = h("span", { class: "number" });
  return {
    node: h("span", { class: "bar-row" }, node, words),
    show(share, text, newTone = tone) {
      const held = Math.max(0, Math.min(100, share ?? 0));
      filled.style.inlineSize = `${held}%`;
      filled.className = `bar-filled ${newTone}`;
      node.setAttribute("aria-valuenow", Math.round(held));
      node.setAttribute("aria-valuetext", text);
      say(words, text);
    },
  };
}

export function barOf(label, share, text, tone) {
  const made = bar(label, tone);
  made.show(share, text);
  return made.node;
}
