/** The playground: a chat beside the board, a clock to move, and things that fail on purpose. */

import { chat } from "./playground_chat.js";
import { clockBar, watchClock } from "./playground_clock.js";
import { failures } from "./playground_failures.js";
import { story } from "./playground_story.js";

export const page = { name: "playground", title: "Playground", key: "p" };

/** Whatever page is shown, times are told by the stack's own clock. */
export function start(tools) {
  const { h } = tools;
  const sheet = h("link", { rel: "stylesheet" });
  sheet.href = new URL("playground.css", import.meta.url);
  document.head.append(sheet);
  watchClock(tools);
}

export function mount(container, tools) {
  const { h, heading } = tools;
  const leaving = new AbortController();
  const given = { ...tools, signal: leaving.signal };
  const board = tools.board({ api: tools.api, signal: leaving.signal, isCompact: true });
  const steps = story(given, { onSay: (text) => talk.say(text), onFail: () => failing.make("transient") });
  const talk = chat(given, { onHeard: steps.heard });
  const failing = failures(given, { onMade: steps.made });
  const clock = clockBar(given, { onMoved: () => { talk.poke(); board.refresh(); } });
  const panes = h("div", { class: "play-panes", data: { pane: "chat" } },
    h("div", { class: "play-chat" }, talk.node),
    h("div", { class: "play-board" }, failing.node, board.node));
  container.append(
    h("div", { class: "play-head" },
      heading("Playground", "Everything here runs on this machine. Nothing you do can break anything."), clock.node),
    steps.node, tabs(h, panes), panes, h("p", { class: "play-reset" }, resetting(given)));
  return {
    heard(event) {
      board.heard(event);
      talk.poke();
      steps.poke();
    },
    refresh() {
      board.refresh();
      steps.poke();
    },
    close() {
      leaving.abort();
      for (const one of [board, talk, steps, clock]) one.close();
    },
  };
}

/** On a phone, one pane at a time. */
function tabs(h, panes) {
  const made = [["chat", "Chat"], ["board", "Board"]].map(([name, label]) => {
    const tab = h("button", { type: "button", class: "play-tab", "aria-pressed": String(name === "chat") }, label);
    tab.addEventListener("click", () => {
      panes.dataset.pane = name;
      for (const one of made) one.setAttribute("aria-pressed", String(one === tab));
    });
    return tab;
  });
  return h("div", { class: "play-tabs", role: "group", "aria-label": "Panes" }, made);
}

function resetting({ api, button, confirmed, warn }) {
  return button("Start over…", async () => {
    const text = "All tasks, messages and history of this local stack are deleted. The clock stays where it is.";
    if (!(await confirmed("Start over with an empty system?", text, "Delete everything", "danger"))) return;
    try {
      await api.post("/_local/reset");
      for (const name of ["said", "story"]) sessionStorage.removeItem(`playground.${name}`);
      location.reload();
    } catch (error) {
      warn(error.message);
    }
  }, { kind: "danger" });
}
