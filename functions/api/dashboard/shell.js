/** What surrounds the pages: navigation, connection state, sign-out and shortcuts. */

import { isAborted } from "./api.js";
import { closeDialogs } from "./dialog.js";
import { h, setText } from "./dom.js";
import { createNavigation } from "./navigation.js";
import * as deadLetters from "./page_dead_letters.js";
import * as failures from "./page_failures.js";
import * as lateness from "./page_lateness.js";
import * as now from "./page_now.js";
import * as task from "./page_task.js";
import * as tasks from "./page_tasks.js";
import { linkTo } from "./router.js";
import { listenForShortcuts, renderShortcutsButton } from "./shortcuts.js";
import { showError } from "./toast.js";

const PAGES = [
  { name: "now", title: "Now", key: "n", open: now.open },
  { name: "tasks", title: "Tasks", key: "t", open: tasks.open },
  { name: "failures", title: "Failures", key: "f", open: failures.open },
  { name: "lateness", title: "Lateness", key: "l", open: lateness.open },
  { name: "dead-letters", title: "Dead letters", key: "d", open: deadLetters.open },
  { name: "task", title: "Task", parent: "tasks", open: task.open },
];
const CONNECTION_STATES = {
  live: ["Live", "Events arrive in real time."],
  reconnecting: ["Reconnecting", "Live events are interrupted. The page refreshes every 5 seconds."],
  off: ["Polling", "Live events are off. The page refreshes every 5 seconds."],
};

export function createShell(main, { tools, onSignOut }) {
  let pages = PAGES;
  let current = null;
  let isFirstPage = true;
  const navigation = createNavigation(document.getElementById("nav"));
  const { setConnection, setScope } = createSessionBar(onSignOut);
  const footer = document.getElementById("footer");
  footer.replaceChildren(renderShortcutsButton(() => pages));
  footer.hidden = false;

  function addModules(modules) {
    pages = [...modules, ...PAGES];
    navigation.setPages(pages);
  }

  function show({ page: name, segments, query }) {
    const page = pages.find((candidate) => candidate.name === name) || (name ? null : pages[0]);
    closePage();
    main.replaceChildren();
    main.dataset.page = page?.name || "unknown";
    document.title = `${page?.title || "Page not found"} · Duecourse`;
    navigation.setCurrent(page);
    if (page) openPage(page, segments, query);
    else main.append(renderNotFound());
    if (!isFirstPage) focusHeading(main);
    isFirstPage = false;
  }

  function openPage(page, segments, query) {
    const controller = new AbortController();
    const pageTools = { ...tools, signal: controller.signal, segments, query };
    try {
      current = { controller, ...page.open(main, pageTools) };
    } catch (error) {
      showError(`Could not show this page: ${error.message}`);
    }
    main.scrollTop = 0;
    window.scrollTo(0, 0);
  }

  function closePage() {
    closeDialogs();
    current?.controller.abort();
    current?.close?.();
    current = null;
  }

  listenForShortcuts(() => pages);
  return {
    addModules, setConnection, setScope, show,
    handleEvent: (event) => current?.handleEvent?.(event),
    refresh: () => current?.refresh?.(),
  };
}

/** Show the connection state, whether the token only reads, and the sign-out button. */
function createSessionBar(onSignOut) {
  const connection = h("span", { class: "connection", id: "connection", data: { state: "off" } });
  const readOnly = h("span", { class: "muted", id: "read-only", hidden: true }, "Read-only");
  readOnly.title = "Your token may read and not change anything.";
  const signOut = h("button", { type: "button", class: "text-button" }, "Sign out");
  signOut.addEventListener("click", onSignOut);
  const node = document.getElementById("session");
  node.replaceChildren(connection, readOnly, signOut);
  node.hidden = false;
  return {
    setConnection(state) {
      const [label, explanation] = CONNECTION_STATES[state];
      setText(connection, label);
      connection.title = explanation;
      connection.dataset.state = state;
    },
    setScope(scope) { readOnly.hidden = scope !== "read"; },
  };
}

function renderNotFound() {
  return h("div", { class: "empty" }, h("h1", {}, "Page not found"),
    h("p", {}, h("a", { href: linkTo("now") }, "Go to Now")));
}

/** Move the focus to the heading of a new page, for keyboards and screen readers. */
export function focusHeading(main) {
  const heading = main.querySelector("h1");
  if (heading) heading.tabIndex = -1;
  (heading || main).focus({ preventScroll: true });
}

// Requests of a page that was left are aborted. That is not an error.
window.addEventListener("unhandledrejection", (event) => {
  if (isAborted(event.reason || {})) event.preventDefault();
});
