/** The board of what goes on now: read at most every two seconds, whatever is heard meanwhile. */

import { actionsFor, differenceIn } from "./actions.js";
import { isAbandoned } from "./api.js";
import { h, keyed, say } from "./dom.js";
import { onTick } from "./clock.js";
import { feed } from "./feed.js";
import { budgetRow, breakerRow, dueRow, personRow, retryRow, runningRow } from "./board_rows.js";
import { figure, panel, standing } from "./panel.js";
import { refresher } from "./refresh.js";
import { linkTo } from "./router.js";
import { announce } from "./toast.js";
import { count } from "./words.js";

const READ_EVERY = 2000;
const MOST = 50; // what one answer tells of each
const READING = "Loading…"; // where the list will be, so that nothing moves when it comes
const SHOWN = 8; // of each list, until somebody wants to see all

const LISTS = {
  needs_person: ["Needs a person", "No tasks need a person", personRow, difference],
  running: ["Running", "Idle", runningRow],
  retries: ["Pending retries", "No pending retries", retryRow],
  due_soon: ["Next up", "No upcoming tasks. Create one with /remind in chat or POST /tasks.", dueRow],
};
const COMPACT = ["due_soon", "running", "retries", "needs_person"];

/** `isCompact`: one column, without figures, for a place beside something else; `told`: as in feed. */
export function board({ api, signal, isCompact = false, told }) {
  const state = standing();
  const refresh = refresher(read, READ_EVERY);
  const tools = { api, onDone: refresh.soon };
  const shown = isCompact ? SHOWN / 2 : SHOWN;
  const lists = Object.fromEntries(Object.entries(LISTS).map(
    ([name, told]) => [name, list(name, told, tools, shown)]));
  const sides = {
    breakers: side("breakers", "Circuit breakers", "All closed", breakerRow, (one) => one.provider),
    budgets: side("budgets", "Budgets", "No budget used today", budgetRow, (one) => one.name),
  };
  const figures = isCompact ? null : tallies();
  const latest = feed(isCompact ? 8 : 20, told);
  const unwatch = onTick(latest.draw);
  let needed = null;

  async function read() {
    try {
      show(await api.get("/now", { signal }));
      state.read();
    } catch (error) {
      if (!isAbandoned(error)) state.failed(error, refresh.soon);
    }
  }

  function show(found) {
    for (const name of Object.keys(LISTS)) lists[name].show(found[name]);
    for (const name of Object.keys(sides)) sides[name].show(found[name]);
    figures?.show(found);
    latest.draw();
    if (needed !== null && found.needs_person.length > needed) {
      announce(`${count(found.needs_person.length, "task needs", "tasks need")} a person.`);
    }
    needed = found.needs_person.length;
  }

  const events = panel("Latest events", { id: "events" }, latest.node);
  refresh.poke();
  return {
    node: isCompact
      ? h("div", { class: "board compact" }, state.node, COMPACT.map((name) => lists[name].node), events)
      : h("div", { class: "board" }, state.node, figures.node,
        h("div", { class: "columns" },
          h("div", {}, Object.values(lists).map((one) => one.node)),
          h("div", {}, Object.values(sides).map((one) => one.node), events))),
    refresh: refresh.poke,
    heard: refresh.poke,
    close() {
      refresh.stop();
      unwatch();
    },
  };
}

/** Told once, below the rows that offer both. */
function difference(tasks) {
  return tasks.map((task) => differenceIn(actionsFor(task))).find(Boolean) || "";
}

function list(name, [title, empty, makeRow, note = () => ""], tools, most) {
  const tally = h("span", { class: "tally number" });
  const rows = h("ul", { class: "rows" });
  const nothing = h("p", { class: "empty" }, READING);
  const noted = h("p", { class: "note", hidden: true });
  const more = h("button", { type: "button", class: "more", hidden: true, on: { click: () => turn() } });
  let isWhole = false;
  let latest = [];

  function turn() {
    isWhole = !isWhole;
    show(latest);
  }

  function show(items) {
    latest = items;
    say(tally, items.length ? atMost(items.length) : "");
    say(nothing, empty);
    nothing.hidden = items.length > 0;
    more.hidden = items.length <= most;
    say(more, more.hidden ? "" : isWhole ? "Show fewer" : `Show all ${items.length}`);
    const shown = isWhole ? items : items.slice(0, most);
    say(noted, note(shown));
    noted.hidden = noted.textContent === "";
    keyed(rows, shown, (one) => one.id, () => makeRow(tools));
  }

  return { node: panel(title, { aside: tally, id: name.replace("_", "-") }, rows, more, noted, nothing), show };
}

function side(id, title, empty, makeRow, key) {
  const rows = h("ul", { class: "rows" });
  const nothing = h("p", { class: "empty" }, READING);
  return {
    node: panel(title, { id }, rows, nothing),
    show(items) {
      say(nothing, empty);
      nothing.hidden = items.length > 0;
      keyed(rows, items, key, makeRow);
    },
  };
}

function atMost(number) {
  return number >= MOST ? `${MOST}+` : String(number);
}

function tallies() {
  const made = {
    due_soon: figure("Next up", { href: linkTo("tasks", "", { status: "pending" }) }),
    running: figure("Running", { href: linkTo("tasks", "", { status: "in_progress" }), tone: "running" }),
    retries: figure("Retries", { of: "retries", tone: "failing" }),
    needs_person: figure("Needs a person", { of: "needs-person", tone: "blocked" }),
  };
  return {
    node: h("div", { class: "figures" }, Object.values(made).map((one) => one.node)),
    show(found) {
      for (const [name, one] of Object.entries(made)) {
        one.show(atMost(found[name].length), "", found[name].length === 0);
      }
    },
  };
}
