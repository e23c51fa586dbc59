/** A meter that shows a percentage, with text beside it: colour never carries the meaning alone. */

import { h, setText } from "./dom.js";

export function createMeter(label, tone = "ok") {
  const fill = h("span", { class: `meter-fill ${tone}` });
  const meter = h("span", {
    class: "meter", role: "meter", "aria-label": label, "aria-valuemin": "0", "aria-valuemax": "100",
  }, fill);
  const value = h("span", { class: "number" });
  return {
    node: h("span", { class: "meter-row" }, meter, value),
    show(percent, text, newTone = tone) {
      const clamped = Math.max(0, Math.min(100, percent ?? 0));
      fill.style.inlineSize = `${clamped}%`;
      fill.className = `meter-fill ${newTone}`;
      meter.setAttribute("aria-valuenow", Math.round(clamped));
      meter.setAttribute("aria-valuetext", text);
      setText(value, text);
    },
  };
}

export function renderMeter(label, percent, text, tone) {
  const meter = createMeter(label, tone);
  meter.show(percent, text);
  return meter.node;
}
