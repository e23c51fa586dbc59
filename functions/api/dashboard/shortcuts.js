/** Keyboard shortcuts and their list. They are off while the user types. */

import { showInfo } from "./dialog.js";
import { h } from "./dom.js";
import { renderButton } from "./panel.js";
import { linkTo } from "./router.js";

const SEARCH = "/";
const HELP = "?";
const GO = "g";

/** Listen for shortcuts. "g" and then a page's letter opens one of `getPages()`. */
export function listenForShortcuts(getPages) {
  let isGoing = false;
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input, textarea, select, dialog");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isGoing) openPage(getPages().find((page) => page.key === event.key));
    else if (event.key === SEARCH) focusSearch(event);
    else if (event.key === HELP) showShortcuts(getPages());
    isGoing = event.key === GO;
  });
}

function openPage(page) {
  if (page) location.hash = linkTo(page.name);
}

function focusSearch(event) {
  const field = document.querySelector("input[type=search]");
  if (field) event.preventDefault();
  field?.focus();
}

function showShortcuts(pages) {
  const shortcuts = [
    ...pages.filter((page) => page.key).map(({ key, title }) => [[GO, key], title]),
    [[SEARCH], "Search tasks (on the Tasks page)"],
    [[HELP], "Show shortcuts"],
  ];
  showInfo("Shortcuts", h("dl", { class: "facts" }, shortcuts.map(([keys, description]) =>
    [h("dt", {}, keys.flatMap((key, n) => [n ? " " : "", h("kbd", {}, key)])), h("dd", {}, description)])));
}

export function renderShortcutsButton(getPages) {
  const button = renderButton("Shortcuts", () => showShortcuts(getPages()));
  button.className = "text-button";
  return button;
}
