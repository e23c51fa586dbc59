/** What an action came to, in a corner: good news goes by itself, bad news waits to be read. */

import { h, said } from "./dom.js";

const SHOWN_FOR = 6000;
const MOST = 4;

export function tell(text) {
  const made = show(text, "ok", "status");
  setTimeout(() => made.remove(), SHOWN_FOR);
}

export function warn(text) {
  show(text, "blocked", "alert");
}

function show(text, tone, role) {
  const place = document.getElementById("toasts");
  const close = h("button", { type: "button", class: "quiet-button", "aria-label": "Dismiss" }, "×");
  const made = h("div", { class: `toast ${tone}`, role }, said(text, "p"), close);
  close.addEventListener("click", () => made.remove());
  place.append(made);
  while (place.children.length > MOST) place.firstChild.remove();
  return made;
}

/** For those who do not see the page: told when there is a pause, and the latest only. */
export function announce(text) {
  document.getElementById("announcements").textContent = text;
}
