/** Three steps for somebody who is new here; each ticks itself off when it has happened. */

const KEPT = "playground.story";
const TRY = "/remind in 10s stretch";

export function story(tools, { onSay, onFail }) {
  const { api, button, h, signal } = tools;
  const state = { made: [], done: [], isClosed: false, ...remembered() };
  const steps = {
    set: ["Set a reminder", [h("code", {}, TRY)], button("Try it", () => onSay(TRY))],
    arrived: ["See it arrive", ["Wait ten seconds, or advance the clock by a minute."], null],
    recovered: ["Watch it fail and recover", ["The task retries automatically."],
      button("Make it fail", onFail)],
  };
  const rows = Object.entries(steps).map(([name, [title, about, action]], n) =>
    row(h, { name, title, about, action, n }));
  const asking = tools.refresher(look, 1500);
  const close = h("button", { type: "button", class: "quiet-button" }, "Hide");
  const heading = h("h2", { id: "story-title" });
  const node = h("section", { class: "panel play-story", "aria-labelledby": "story-title", id: "story" },
    h("div", { class: "panel-head" }, heading, close),
    h("ol", { class: "play-steps" }, rows.map((one) => one.node)));
  close.addEventListener("click", () => {
    state.isClosed = true;
    keep();
    node.hidden = true;
  });

  function keep() {
    sessionStorage.setItem(KEPT, JSON.stringify(state));
  }

  function tickOff(name) {
    if (state.done.includes(name)) return;
    state.done.push(name);
    keep();
    show();
    tools.announce(`Done: ${steps[name][0]}`);
  }

  function show() {
    const next = rows.find((one) => !state.done.includes(one.name));
    tools.say(heading, next ? "New here? Three steps" : "All three steps done");
    for (const one of rows) one.show(state.done.includes(one.name), one === next);
  }

  /** What was made to fail, and what has become of it. */
  async function look() {
    if (state.done.includes("recovered")) return;
    for (const id of state.made) {
      try {
        const task = await api.get(`/tasks/${encodeURIComponent(id)}`, { signal });
        if (task.status === "completed") tickOff("recovered");
      } catch {
        // it may be gone with a stack that was started anew
      }
    }
  }

  node.hidden = state.isClosed;
  show();
  asking.poke();
  return {
    node,
    heard(items) {
      if (items.some((one) => one.text.startsWith("Reminder ") && one.text.includes(" set for "))) tickOff("set");
      if (items.some((one) => one.text.startsWith("Reminder: "))) tickOff("arrived");
    },
    made(id) {
      state.made = [...state.made, id].slice(-5);
      keep();
      asking.poke();
    },
    /** What was done is gone, with the stack that it was done in. */
    beginAnew() {
      Object.assign(state, { made: [], done: [] });
      keep();
      show();
    },
    poke: () => { if (state.made.length) asking.poke(); },
    close: asking.stop,
  };
}

function row(h, { name, title, about, action, n }) {
  const mark = h("span", { class: "play-mark", "aria-hidden": "true" });
  const state = h("span", { class: "unseen" });
  const node = h("li", { data: { step: name } }, mark,
    h("div", {}, h("h3", {}, title, " ", state), h("p", { class: "quiet" }, about)), action);
  return {
    name, node,
    show(isDone, isNext) {
      node.classList.toggle("done", isDone);
      node.classList.toggle("next", isNext);
      node.dataset.done = String(isDone);
      mark.textContent = isDone ? "✓" : String(n + 1);
      state.textContent = isDone ? "(done)" : "";
      if (action) action.hidden = isDone;
    },
  };
}

function remembered() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT)) || {};
  } catch {
    return {};
  }
}
