/** One task: what it is, how it stands, what became of each attempt, and what can be done. */

import { actionButtons, actionsFor } from "./actions.js";
import { isAbandoned, taskPath } from "./api.js";
import { h, memo, said } from "./dom.js";
import { history } from "./history.js";
import { fact, panel, standing, taskLink } from "./panel.js";
import { refresher } from "./refresh.js";
import { linkTo } from "./router.js";
import { runs } from "./runs.js";
import { local, tickingAt, utc } from "./time.js";
import { badge, RECOVERY, retriesUsed, stateOf } from "./words.js";

const READ_EVERY = 1500;

export function open(main, { api, signal, rest }) {
  const id = rest[0] || "";
  const state = standing();
  const refresh = refresher(read, READ_EVERY);
  const parts = places();
  let whole = null; // the address may hold only the beginning of the id

  async function read() {
    try {
      const task = await api.get(taskPath(id), { signal });
      const [chain, errors, events] = await Promise.all(
        ["runs", "errors", "history"].map((of) => api.get(taskPath(id, of), { signal })));
      whole = task.id;
      document.title = `${task.description.slice(0, 60)} · Duecourse`;
      parts.show({ task, runs: chain.items, errors: errors.items, events: events.items });
      state.read();
    } catch (error) {
      if (!isAbandoned(error)) state.failed(error, refresh.soon);
    }
  }

  const buttons = actionButtons({ api, onDone: refresh.soon });
  const head = memo(parts.head, ({ task, latest }) => title(task, latest, buttons));
  parts.show = ({ task, runs: chain, errors, events }) => {
    head({ task, latest: chain.at(-1) ?? null });
    parts.reason(task);
    parts.facts(task);
    parts.guidance(task.guidance);
    parts.runs({ runs: chain, errors, max: task.max_retries });
    parts.events(events);
    parts.payload(task.payload);
  };

  main.append(h("p", { class: "crumb" }, h("a", { href: linkTo("tasks") }, "Tasks")), state.node, parts.node);
  state.reading();
  refresh.poke();
  return {
    refresh: refresh.poke,
    heard: (event) => { if (event.task_id === whole) refresh.poke(); },
    close: refresh.stop,
  };
}

function places() {
  const part = (build, tag = "div") => {
    const node = h(tag, {});
    return [node, memo(node, build)];
  };
  const head = h("header", { class: "task-head" });
  const [reasonNode, reason] = part(why);
  const [factsNode, facts] = part(factsOf);
  const [guidanceNode, guidance] = part(guided);
  const [runsNode, showRuns] = part(runs);
  const [eventsNode, events] = part(history);
  const [payloadNode, payload] = part(payloadOf);
  return {
    head, reason, facts, guidance, runs: showRuns, events, payload,
    node: h("div", {}, head, reasonNode, h("div", { class: "columns" },
      h("div", {}, runsNode, guidanceNode, eventsNode),
      h("div", {}, factsNode, payloadNode))),
  };
}

function title(task, latest, buttons) {
  const verbs = actionsFor(task, latest);
  return [
    h("div", { class: "task-title" }, said(task.description, "h1", "prose"),
      h("p", { class: "row-about" }, badge(stateOf(task)), " ", h("span", { class: "id" }, task.id))),
    h("div", { class: "task-actions", role: "group", "aria-label": "Actions" },
      verbs.length ? buttons(task, verbs) : h("p", { class: "quiet" }, idle(task))),
  ];
}

function idle(task) {
  return task.status === "in_progress"
    ? "It is running right now: wait until it has ended."
    : "It has ended: there is nothing left to do.";
}

/** Why it does not simply go on, where that is so. */
function why(task) {
  const isOpen = !["delivered", "completed", "cancelled"].includes(task.status);
  if (!isOpen || !(task.last_error || task.waits_for)) return [];
  const tone = stateOf(task)[1];
  const isFailure = task.last_error && task.status !== "in_progress";
  return [h("div", { class: `notice ${tone}` },
    isFailure ? h("p", { class: "row-about" }, h("strong", {}, task.last_error_category || "failed"),
      ` · ${retriesUsed(task.retry_count, task.max_retries)}`) : null,
    isFailure ? said(task.last_error, "p", "error-text") : null,
    task.waits_for ? h("p", {}, "Waits for: ", said(task.waits_for)) : null,
    isFailure && RECOVERY[task.recovery_action] ? h("p", {}, RECOVERY[task.recovery_action]) : null,
    task.next_retry_at ? h("p", {}, "Next try ", tickingAt("until", task.next_retry_at)) : null)];
}

function guided(guidance) {
  if (!guidance.length) return [];
  return [panel("Guidance for the next try", { id: "guidance" },
    h("ol", { class: "plain-list" }, guidance.map((one) => said(one, "li"))))];
}

function factsOf(task) {
  const review = task.payload?.spec_review?.of;
  return [panel("About", { id: "about" }, h("dl", { class: "facts" },
    fact("Due", when(task.due_at)),
    task.nominal_at !== task.due_at && fact("Its own time", when(task.nominal_at)),
    task.delivered_at && fact("Done", when(task.delivered_at)),
    fact("Created", when(task.created_at), task.created_by && said(`by the token ${task.created_by}`)),
    fact("Type", said(task.type)),
    fact("Repeats", said(task.repeat || "once")),
    fact("Time zone", said(task.timezone)),
    fact("For", said(`${task.channel} / ${task.sender_id}`)),
    task.reply_target !== task.sender_id && fact("Told to", said(task.reply_target)),
    fact("Policy", said(task.policy)),
    fact("Retries", retriesUsed(task.retry_count, task.max_retries)),
    task.subject && fact("Subject", said(task.subject)),
    task.verify && fact("Verified", "its work is checked before it counts as done"),
    review && fact("Reviews", taskLink(review), "the task whose specification this one looks at")))];
}

function when(text) {
  return h("span", { class: "when" },
    h("time", { datetime: text }, local(text)), h("span", { class: "quiet" }, utc(text)));
}

function payloadOf(payload) {
  if (!Object.keys(payload || {}).length) return [];
  return [panel("Payload", { id: "payload" },
    h("pre", { tabindex: "0", "aria-label": "Payload as JSON" }, JSON.stringify(payload, null, 2)))];
}
