/** The playground: a chat, a live board, a clock to fast-forward, and tasks that fail on purpose. */

import { createChat } from "./playground_chat.js";
import { createClockBar, pollClock } from "./playground_clock.js";
import { createFailurePanel } from "./playground_failures.js";
import { createWalkthrough } from "./playground_walkthrough.js";

const STORED = ["playground.chat", "playground.walkthrough"]; // in sessionStorage

export const page = { name: "playground", title: "Playground", key: "p" };

/** Load the style sheet, and poll the stack's clock on every page. */
export function start(tools) {
  const styleSheet = tools.h("link", { rel: "stylesheet" });
  styleSheet.href = new URL("playground.css", import.meta.url);
  document.head.append(styleSheet);
  pollClock(tools);
}

export function mount(container, dashboardTools) {
  const { h, createBoard, formatShortUtc, renderPageHeading } = dashboardTools;
  const controller = new AbortController();
  const tools = { ...dashboardTools, signal: controller.signal };
  const board = createBoard({ api: tools.api, signal: controller.signal, isCompact: true, formatTime: formatShortUtc });
  const walkthrough = createWalkthrough(tools, { onSend: sendMessage, onFail: () => failures.createTask("transient") });
  const chat = createChat(tools, { onMessages: walkthrough.refresh, onReset: walkthrough.reset });
  const failures = createFailurePanel(tools, { onCreated: showCreated });
  const clock = createClockBar(tools, { onAdvanced: () => { chat.refresh(); board.refresh(); } });
  const panes = h("div", { class: "play-panes" },
    h("div", { class: "play-chat" }, chat.node),
    h("div", { class: "play-board" }, failures.node, board.node));
  const tabs = createTabs(h, panes);

  function sendMessage(text) {
    tabs.select("chat");
    chat.send(text);
  }

  function showCreated(taskId) {
    tabs.select("board");
    walkthrough.addFailingTask(taskId);
  }

  container.append(
    h("div", { class: "play-head" },
      renderPageHeading("Playground", "Everything runs on this machine. You cannot break anything."), clock.node),
    walkthrough.node, tabs.node, panes, h("p", { class: "play-reset" }, renderResetButton(tools)));
  return {
    handleEvent(event) {
      board.handleEvent(event);
      chat.refresh();
      walkthrough.refresh();
    },
    refresh() {
      board.refresh();
      walkthrough.refresh();
    },
    close() {
      controller.abort();
      for (const part of [board, chat, walkthrough, clock]) part.close();
    },
  };
}

/** Create the tabs that switch between the panes on a phone. */
function createTabs(h, panes) {
  const tabs = [["chat", "Chat"], ["board", "Board"]].map(([name, label]) =>
    h("button", { type: "button", class: "play-tab", data: { name }, on: { click: () => select(name) } }, label));

  function select(name) {
    panes.dataset.pane = name;
    for (const tab of tabs) tab.setAttribute("aria-pressed", String(tab.dataset.name === name));
  }

  select("chat");
  return { node: h("div", { class: "play-tabs", role: "group", "aria-label": "Panes" }, tabs), select };
}

function renderResetButton({ api, askConfirmation, renderButton, showError }) {
  return renderButton("Reset…", async () => {
    const text = "This deletes all tasks, messages and history of this local stack. The clock keeps its time.";
    if (!(await askConfirmation("Reset the local stack?", text, "Delete everything", "danger"))) return;
    try {
      await api.post("/_local/reset");
      for (const key of STORED) sessionStorage.removeItem(key);
      location.reload();
    } catch (error) {
      showError(error.message);
    }
  }, { kind: "danger" });
}
