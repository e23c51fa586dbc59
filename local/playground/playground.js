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
  const board = tools.board({ api: tools.api, signal: leaving.signal, isCompact: true, told: tools.shortUtc });
  const steps = story(given, { onSay: sayIt, onFail: () => failing.make("transient") });
  const talk = chat(given, { onHeard: steps.heard, onAnew: steps.beginAnew });
  const failing = failures(given, { onMade });
  const clock = clockBar(given, { onMoved: () => { talk.poke(); board.refresh(); } });
  const panes = h("div", { class: "play-panes" },
    h("div", { class: "play-chat" }, talk.node),
    h("div", { class: "play-board" }, failing.node, board.node));
  const tabs = tabsOf(h, panes);

  function sayIt(text) {
    tabs.turnTo("chat");
    talk.say(text);
  }

  function onMade(id) {
    tabs.turnTo("board");
    steps.made(id);
  }

  container.append(
    h("div", { class: "play-head" },
      heading("Playground", "Everything runs on this machine. You cannot break anything."), clock.node),
    steps.node, tabs.node, panes, h("p", { class: "play-reset" }, resetting(given)));
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
function tabsOf(h, panes) {
  const tabs = [["chat", "Chat"], ["board", "Board"]].map(([name, label]) =>
    h("button", { type: "button", class: "play-tab", data: { name }, on: { click: () => turnTo(name) } }, label));

  function turnTo(name) {
    panes.dataset.pane = name;
    for (const one of tabs) one.setAttribute("aria-pressed", String(one.dataset.name === name));
  }

  turnTo("chat");
  return { node: h("div", { class: "play-tabs", role: "group", "aria-label": "Panes" }, tabs), turnTo };
}

function resetting({ api, button, confirmed, warn }) {
  return button("Reset…", async () => {
    const text = "This deletes all tasks, messages and history of this local stack. The clock keeps its time.";
    if (!(await confirmed("Reset the local stack?", text, "Delete everything", "danger"))) return;
    try {
      await api.post("/_local/reset");
      for (const name of ["said", "story"]) sessionStorage.removeItem(`playground.${name}`);
      location.reload();
    } catch (error) {
      warn(error.message);
    }
  }, { kind: "danger" });
}
