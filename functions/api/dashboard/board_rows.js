/** The rows of the board: each is made once and then told what to show. */

import { actionButtons, actionsFor } from "./actions.js";
import { bar } from "./bar.js";
import { deadline } from "./deadline.js";
import { h, say } from "./dom.js";
import { linkTo } from "./router.js";
import { ticking } from "./time.js";
import { badge, count, dollars, recoveryOf, stateOf } from "./words.js";

const BREAKERS = {
  open: ["Open", "blocked"],
  half_open: ["Half-open", "failing"],
  returning: ["Recovering", "failing"],
  closed: ["Closed", "ok"],
};
const NEARLY = 80; // percent of a budget

/** A row of a task: its words, a line about it, and what stands at the end. */
function taskRow(...end) {
  const title = h("a", { class: "row-title said", dir: "auto" });
  const about = h("p", { class: "row-about" });
  const node = h("li", { class: "row" }, h("div", { class: "row-main" }, title, about),
    h("div", { class: "row-end" }, end));
  return {
    node,
    about(...parts) {
      const shown = parts.flat().filter(Boolean);
      about.replaceChildren(...shown.flatMap((one, n) => (n ? [" · ", one] : [one])));
    },
    title(task) {
      say(title, task.description);
      title.setAttribute("href", linkTo("task", task.id));
      node.dataset.task = task.id;
    },
  };
}

function owner(task) {
  return quoted(`${task.channel} / ${task.sender_id}`);
}

function quoted(text) {
  return h("span", { class: "said", dir: "auto" }, text);
}

function idOf(task) {
  return h("span", { class: "id" }, task.short_id);
}

export function dueRow() {
  const left = ticking("until");
  const row = taskRow(left.node);
  return {
    node: row.node,
    show(task) {
      row.title(task);
      row.about(idOf(task), task.type, owner(task), task.repeat && quoted(`repeats ${task.repeat}`),
        task.wait_text && quoted(task.wait_text));
      left.show(task.due_at);
    },
  };
}

export function runningRow() {
  const since = ticking("running");
  const row = taskRow(since.node);
  return {
    node: row.node,
    show(task) {
      row.title(task);
      row.about(idOf(task), task.type, owner(task));
      since.show(task.started_at);
    },
  };
}

export function retryRow(tools) {
  const left = ticking("until");
  const actions = h("span", { class: "row-actions" });
  const buttons = actionButtons(tools);
  const row = taskRow(left.node, actions);
  return {
    node: row.node,
    show(retry) {
      row.title(retry);
      row.about(idOf(retry), retry.category && quoted(retry.category), `attempt ${retry.attempt}`,
        retry.last_error && quoted(retry.last_error));
      left.show(retry.next_retry_at);
      actions.replaceChildren(...buttons(retry, ["retry"]));
    },
  };
}

export function personRow(tools) {
  const actions = h("span", { class: "row-actions" });
  const buttons = actionButtons(tools);
  const row = taskRow(actions);
  return {
    node: row.node,
    show(task) {
      row.title(task);
      const until = task.status === "blocked" ? task.blocked_until : task.due_at;
      row.about(badge(stateOf(task)), idOf(task), deadline(until),
        task.last_error ? quoted(task.last_error) : recoveryOf(task));
      actions.replaceChildren(...buttons(task, actionsFor(task)));
    },
  };
}

export function breakerRow() {
  const name = h("span", { class: "row-title said", dir: "auto" });
  const about = h("p", { class: "row-about" });
  const state = h("span", {});
  const until = ticking("until");
  const node = h("li", { class: "row" }, h("div", { class: "row-main" }, name, about),
    h("div", { class: "row-end" }, state));
  return {
    node,
    show(breaker) {
      say(name, breaker.provider);
      state.replaceChildren(badge(BREAKERS[breaker.state] || [breaker.state, "quiet"]));
      until.show(breaker.state === "open" ? breaker.until : null);
      about.replaceChildren(...(breaker.state === "open" ? ["Next attempt ", until.node, " · "] : []),
        `${count(breaker.failures, "consecutive failure")}`);
    },
  };
}

export function budgetRow() {
  const name = h("span", { class: "row-title said", dir: "auto" });
  const filled = bar("Budget used");
  const about = h("p", { class: "row-about" });
  const node = h("li", { class: "row stacked" }, name, filled.node, about);
  return {
    node,
    show(budget) {
      say(name, budget.name);
      const used = budget.used_percent;
      const tone = used >= 100 ? "blocked" : used >= NEARLY ? "failing" : "ok";
      filled.show(used, `${Math.round(used)}%`, tone);
      const held = budget.reserved ? ` + ${dollars(budget.reserved)} reserved` : "";
      say(about, `${dollars(budget.spend)}${held} of ${dollars(budget.limit)} · ${count(budget.calls, "call")}`);
    },
  };
}
