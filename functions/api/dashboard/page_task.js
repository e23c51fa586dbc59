/** One task: what it is, how it stands, what became of each attempt, and what can be done. */

import { actionButtons } from "./actions.js";
import { isAbandoned, taskPath } from "./api.js";
import { h, memo } from "./dom.js";
import { history } from "./history.js";
import { standing } from "./panel.js";
import { refresher } from "./refresh.js";
import { linkTo } from "./router.js";
import { runs } from "./runs.js";
import { described, factsOf, guided, payloadOf, title, why } from "./task_parts.js";

const READ_EVERY = 1500;
const UNKNOWN = 404;

export function open(main, { api, signal, rest }) {
  const id = rest[0] || "";
  if (!id) {
    missing(main);
    return {};
  }
  const state = standing();
  const refresh = refresher(read, READ_EVERY);
  const parts = places(actionButtons({ api, onDone: refresh.soon }));
  let whole = null; // the address may hold only the beginning of the id

  async function read() {
    try {
      const task = await api.get(taskPath(id), { signal });
      const [chain, errors, events] = await Promise.all(
        ["runs", "errors", "history"].map((of) => api.get(taskPath(id, of), { signal })));
      whole = task.id;
      document.title = `${task.description.slice(0, 60)} · Duecourse`;
      parts.show({ task, chain: chain.items, errors: errors.items, events: events.items });
      state.read();
    } catch (error) {
      failed(error);
    }
  }

  function failed(error) {
    if (isAbandoned(error)) return;
    if (error.status !== UNKNOWN) {
      state.failed(error, refresh.soon);
      return;
    }
    refresh.stop(); // it does not come back
    missing(main);
  }

  main.append(h("p", { class: "crumb" }, h("a", { href: linkTo("tasks") }, "Tasks")), state.node, parts.node);
  state.reading();
  refresh.poke();
  return {
    refresh: refresh.poke,
    heard: (event) => { if (event.task_id === whole) refresh.poke(); },
    close: refresh.stop,
  };
}

function missing(main) {
  document.title = "Task not found · Duecourse";
  main.replaceChildren(h("div", { class: "empty" }, h("h1", {}, "Task not found"),
    h("p", {}, "The task may have expired, or the ID is incomplete."),
    h("p", {}, h("a", { href: linkTo("tasks") }, "Show all tasks"))));
}

function places(buttons) {
  const head = h("header", { class: "task-head" });
  const [description, reason, guidance, facts, payload] = Array.from({ length: 5 }, () => h("div", {}));
  const chain = runs();
  const events = history();
  const node = h("div", { hidden: true }, head, reason, h("div", { class: "columns" },
    h("div", {}, description, chain.node, guidance, events.node),
    h("div", {}, facts, payload)));
  const show = {
    head: memo(head, ({ task, latest }) => title(task, latest, buttons)),
    description: memo(description, described),
    reason: memo(reason, why),
    guidance: memo(guidance, guided),
    facts: memo(facts, factsOf),
    payload: memo(payload, payloadOf),
  };
  return {
    node,
    show(found) {
      const { task } = found;
      show.head({ task, latest: found.chain.at(-1) ?? null });
      show.description(task.description);
      show.reason({ task, attempts: found.chain.at(-1)?.attempt });
      show.guidance(task.guidance);
      show.facts(task);
      show.payload(task.payload);
      chain.show({ chain: found.chain, errors: found.errors, max: task.max_retries });
      events.show(found.events);
      node.hidden = false;
    },
  };
}
