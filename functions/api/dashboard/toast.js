/** Messages in a corner: a success disappears by itself, an error stays until dismissed. */

import { h, renderUserText } from "./dom.js";

const SUCCESS_DURATION = 6000;
const MAX_TOASTS = 4;

export function showSuccess(text) {
  const toast = showToast(text, "ok", "status");
  setTimeout(() => toast.remove(), SUCCESS_DURATION);
}

export function showError(text) {
  showToast(text, "blocked", "alert");
}

function showToast(text, tone, role) {
  const container = document.getElementById("toasts");
  const close = h("button", { type: "button", class: "text-button", "aria-label": "Dismiss" }, "×");
  const toast = h("div", { class: `toast ${tone}`, role }, renderUserText(text, "p"), close);
  close.addEventListener("click", () => toast.remove());
  container.append(toast);
  while (container.children.length > MAX_TOASTS) container.firstChild.remove();
  return toast;
}

/** Announce `text` to screen readers. A later announcement replaces it. */
export function announce(text) {
  document.getElementById("announcements").textContent = text;
}
