/** What can be done by keys alone, and where that is told. Never while somebody types. */

import { inform } from "./dialog.js";
import { h } from "./dom.js";
import { button } from "./panel.js";
import { linkTo } from "./router.js";

const SEARCH = "/";
const HELP = "?";
const GO = "g";

/** "g" and then a letter goes to one of `pages()`. */
export function listenForKeys(pages) {
  let isGoing = false;
  document.addEventListener("keydown", (event) => {
    const isTyping = event.target.closest?.("input, textarea, select, dialog");
    if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    if (isGoing) go(pages().find((one) => one.key === event.key));
    else if (event.key === SEARCH) search(event);
    else if (event.key === HELP) tellKeys(pages());
    isGoing = event.key === GO;
  });
}

function go(page) {
  if (page) location.hash = linkTo(page.name);
}

function search(event) {
  const field = document.querySelector("input[type=search]");
  if (field) event.preventDefault();
  field?.focus();
}

function tellKeys(pages) {
  const told = [
    ...pages.filter((one) => one.key).map(({ key, title }) => [[GO, key], title]),
    [[SEARCH], "Search tasks (on the Tasks page)"],
    [[HELP], "Show shortcuts"],
  ];
  inform("Shortcuts", h("dl", { class: "facts" }, told.map(([keys, about]) =>
    [h("dt", {}, keys.flatMap((key, n) => [n ? " " : "", h("kbd", {}, key)])), h("dd", {}, about)])));
}

/** A small button that tells them. */
export function keysButton(pages) {
  const made = button("Shortcuts", () => tellKeys(pages()));
  made.className = "quiet-button";
  return made;
}
