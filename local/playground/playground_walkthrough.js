/** Three steps for new users. Each is marked as done when it has happened. */

const STORED = "playground.walkthrough";
const EXAMPLE = "/remind in 10s stretch";
const SENDER = "you";
const MAX_FAILING_TASKS = 5;

export function createWalkthrough(tools, { onSend, onFail }) {
  const { announce, api, h, renderButton, setText, signal } = tools;
  const state = { failingTasks: [], done: [], isHidden: false, ...readStored() };
  const steps = {
    set: ["Set a reminder", [h("code", {}, EXAMPLE)], renderButton("Try it", () => onSend(EXAMPLE))],
    arrived: ["See it arrive", ["Wait ten seconds, or advance the clock by a minute."], null],
    recovered: ["Watch it fail and recover", ["The task retries automatically."], renderButton("Make it fail", onFail)],
  };
  const rows = Object.entries(steps).map(([name, [title, text, button]], n) =>
    createRow(h, { name, title, text, button, n }));
  const refresher = tools.createRefresher(loadProgress, 1500);
  const hideButton = h("button", { type: "button", class: "text-button" }, "Hide");
  const heading = h("h2", { id: "walkthrough-title" });
  const node = h("section", { class: "panel play-walkthrough", "aria-labelledby": "walkthrough-title", id: "walkthrough" },
    h("div", { class: "panel-head" }, heading, hideButton),
    h("ol", { class: "play-steps" }, rows.map((row) => row.node)));
  hideButton.addEventListener("click", () => {
    state.isHidden = true;
    store();
    node.hidden = true;
  });

  function store() {
    sessionStorage.setItem(STORED, JSON.stringify(state));
  }

  function isDone(name) {
    return state.done.includes(name);
  }

  function markDone(name) {
    if (isDone(name)) return;
    state.done.push(name);
    store();
    show();
    announce(`Done: ${steps[name][0]}`);
  }

  function show() {
    const next = rows.find((row) => !isDone(row.name));
    setText(heading, next ? "New here? Three steps" : "All three steps done");
    for (const row of rows) row.show(isDone(row.name), row === next);
  }

  async function loadProgress() {
    try {
      if (!isDone("set") || !isDone("arrived")) await checkReminders();
      if (!isDone("recovered")) await checkFailingTasks();
    } catch {
      // the clock and the board show that the stack is disconnected
    }
  }

  async function checkReminders() {
    const query = { type: "reminder", channel: "console" };
    const reminders = (await api.get("/tasks", { query, signal })).items.filter((task) => task.sender_id === SENDER);
    if (reminders.length) markDone("set");
    if (reminders.some((task) => task.delivered_at)) markDone("arrived");
  }

  async function checkFailingTasks() {
    for (const id of state.failingTasks) {
      const task = await api.get(`/tasks/${encodeURIComponent(id)}`, { signal }).catch(() => null);
      if (task?.status === "completed") markDone("recovered");
    }
  }

  function refresh() {
    if (rows.some((row) => !isDone(row.name))) refresher.request();
  }

  node.hidden = state.isHidden;
  show();
  refresh();
  return {
    node, refresh,
    addFailingTask(id) {
      state.failingTasks = [...state.failingTasks, id].slice(-MAX_FAILING_TASKS);
      store();
      refresh();
    },
    /** Start again: the stack was restarted or emptied. */
    reset() {
      Object.assign(state, { failingTasks: [], done: [] });
      store();
      show();
    },
    close: refresher.stop,
  };
}

function createRow(h, { name, title, text, button, n }) {
  const mark = h("span", { class: "play-mark", "aria-hidden": "true" });
  const status = h("span", { class: "visually-hidden" });
  const node = h("li", { data: { step: name } }, mark,
    h("div", {}, h("h3", {}, title, " ", status), h("p", { class: "muted" }, text)), button);
  return {
    name, node,
    show(isDone, isNext) {
      node.classList.toggle("done", isDone);
      node.classList.toggle("next", isNext);
      node.dataset.done = String(isDone);
      mark.textContent = isDone ? "✓" : String(n + 1);
      status.textContent = isDone ? "(done)" : "";
      if (button) button.hidden = isDone;
    },
  };
}

function readStored() {
  try {
    return JSON.parse(sessionStorage.getItem(STORED)) || {};
  } catch {
    return {};
  }
}
