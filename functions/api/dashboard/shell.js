/** What stays around the pages: their links, how live it is, and signing out. */

import { isAbandoned } from "./api.js";
import { closeQuestions } from "./dialog.js";
import { h, say } from "./dom.js";
import { keysButton, listenForKeys } from "./keys.js";
import { navigation } from "./navigation.js";
import { linkTo } from "./router.js";
import * as deadLetters from "./page_dead_letters.js";
import * as failures from "./page_failures.js";
import * as lateness from "./page_lateness.js";
import * as now from "./page_now.js";
import * as task from "./page_task.js";
import * as tasks from "./page_tasks.js";
import { warn } from "./toast.js";

const PAGES = [
  { name: "now", title: "Now", key: "n", open: now.open },
  { name: "tasks", title: "Tasks", key: "t", open: tasks.open },
  { name: "failures", title: "Failures", key: "f", open: failures.open },
  { name: "lateness", title: "Lateness", key: "l", open: lateness.open },
  { name: "dead-letters", title: "Dead letters", key: "d", open: deadLetters.open },
  { name: "task", title: "Task", within: "tasks", open: task.open },
];
const STATES = {
  live: ["Live", "Events arrive in real time."],
  reconnecting: ["Reconnecting", "Live events are interrupted. The page refreshes every 5 seconds."],
  off: ["Polling", "Live events are off. The page refreshes every 5 seconds."],
};

export function shell(main, { tools, onSignOut }) {
  let pages = PAGES;
  let shown = null;
  let isFirst = true;
  const links = navigation(document.getElementById("nav"));
  const connection = session(onSignOut);
  const foot = document.getElementById("foot");
  foot.replaceChildren(keysButton(() => pages));
  foot.hidden = false;

  function offer(modules) {
    pages = [...modules, ...PAGES];
    links.offer(pages);
  }

  function show({ page, rest, query }) {
    const found = pages.find((one) => one.name === page) || (page ? null : pages[0]);
    close();
    main.replaceChildren();
    main.dataset.page = found?.name || "unknown";
    document.title = `${found?.title || "Page not found"} · Duecourse`;
    links.at(found);
    if (found) open(found, rest, query);
    else main.append(nowhere());
    if (!isFirst) focusOn(main);
    isFirst = false;
  }

  function open(page, rest, query) {
    const leaving = new AbortController();
    const own = { ...tools, signal: leaving.signal, rest, query };
    try {
      shown = { leaving, ...page.open(main, own) };
    } catch (error) {
      warn(`Could not show this page: ${error.message}`);
    }
    main.scrollTop = 0;
    window.scrollTo(0, 0);
  }

  function close() {
    closeQuestions();
    shown?.leaving.abort();
    shown?.close?.();
    shown = null;
  }

  listenForKeys(() => pages);
  return {
    offer, connection, show,
    heard: (event) => shown?.heard?.(event),
    refresh: () => shown?.refresh?.(),
  };
}

/** How live it is, and the way out. Gives what tells of the first. */
function session(onSignOut) {
  const state = h("span", { class: "connection", id: "connection", data: { state: "off" } });
  const leave = h("button", { type: "button", class: "quiet-button" }, "Sign out");
  leave.addEventListener("click", onSignOut);
  const node = document.getElementById("session");
  node.replaceChildren(state, leave);
  node.hidden = false;
  return (name) => {
    const [label, about] = STATES[name];
    say(state, label);
    state.title = about;
    state.dataset.state = name;
  };
}

function nowhere() {
  return h("div", { class: "empty" }, h("h1", {}, "Page not found"),
    h("p", {}, h("a", { href: linkTo("now") }, "Go to Now")));
}

/** Whoever goes by keys, or listens, begins at the top of the page that came. */
export function focusOn(main) {
  const title = main.querySelector("h1");
  if (title) title.tabIndex = -1;
  (title || main).focus({ preventScroll: true });
}

// A page that was left wants no answers any more.
window.addEventListener("unhandledrejection", (event) => {
  if (isAbandoned(event.reason || {})) event.preventDefault();
});
