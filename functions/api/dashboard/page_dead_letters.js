/** Dead letters: messages that nobody could process. Look at them, then put them back. */

import { isAbandoned } from "./api.js";
import { confirmed, frame, showWhileBusy } from "./dialog.js";
import { h, keyed, said, say } from "./dom.js";
import { button, heading, standing, taskLink } from "./panel.js";
import { refresher } from "./refresh.js";
import { tickingAt } from "./time.js";
import { tell, warn } from "./toast.js";
import { count } from "./words.js";

const READ_EVERY = 5000;
const DIED_OF = {
  crash: "function crashed",
  timeout: "function timed out",
  throttle: "function throttled",
  unknown: "delivery attempts exhausted",
};

export function open(main, { api, signal }) {
  const state = standing();
  const refresh = refresher(() => read(), READ_EVERY);
  const list = h("ul", { class: "rows panel", id: "letters" });
  const nothing = h("div", { class: "empty panel" }, h("p", {}, "No dead letters"),
    h("p", { class: "quiet" }, "Messages that could not be processed, and belong to no known task, appear here."));
  const tools = { api, onDone: refresh.soon };
  const all = button("Redrive all…", () => redriveAll(tools, tally), { kind: "strong" });
  const more = button("Show more", () => {
    pages += 1;
    refresh.soon();
  });
  let pages = 1;
  let tally = "";
  nothing.hidden = true;

  async function read() {
    try {
      const found = await letters(api, pages, signal);
      keyed(list, found.items, (one) => one.id, () => row(tools));
      list.hidden = found.items.length === 0;
      nothing.hidden = !list.hidden;
      const able = found.items.filter((one) => one.can_be_redriven).length;
      tally = found.next_cursor === null ? count(able, "message") : `${count(able, "message")} and all that follow`;
      all.hidden = able === 0;
      more.hidden = found.next_cursor === null;
      state.read();
    } catch (error) {
      if (!isAbandoned(error)) state.failed(error, refresh.soon);
    }
  }

  all.hidden = true;
  more.hidden = true;
  list.hidden = true;
  main.append(heading("Dead letters", "Oldest first", all), state.node, list, nothing, more);
  state.reading();
  refresh.poke();
  return { refresh: refresh.poke, close: refresh.stop };
}

async function letters(api, pages, signal) {
  const items = [];
  let cursor;
  for (let page = 0; page < pages && cursor !== null; page += 1) {
    const found = await api.get("/dead-letters", { query: { cursor, limit: 50 }, signal });
    items.push(...found.items);
    cursor = found.next_cursor;
  }
  return { items, next_cursor: cursor };
}

function row(tools) {
  const node = h("li", { class: "row letter" });
  return { node, show: (letter) => node.replaceChildren(about(letter), end(letter, tools)) };
}

function about(letter) {
  const told = [h("span", { class: "id" }, letter.queue), DIED_OF[letter.cause], tickingAt("since", letter.sent_at)];
  if (letter.task_id) told.push(taskLink(letter.task_id));
  const notes = [
    letter.body_cut && "Only the beginning is shown.",
    letter.was_cut && "The message was too long to store in full.",
  ];
  return h("div", { class: "row-main" },
    said(letter.reason || "could not be processed", "p", "row-title"),
    h("p", { class: "row-about" }, told.flatMap((one, n) => (n ? [" · ", one] : [one]))),
    h("details", {}, h("summary", {}, "Show message"),
      h("pre", { tabindex: "0" }, readable(letter.body)),
      h("p", { class: "quiet" }, notes.filter(Boolean).join(" "))));
}

function readable(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

function end(letter, tools) {
  const short = letter.id.slice(0, 8);
  const back = () => button("Redrive", () => redrive(letter, tools), { name: `Redrive message ${short}` });
  return h("div", { class: "row-end" }, h("span", { class: "row-actions" },
    letter.can_be_redriven ? back() : null,
    button("Drop…", () => drop(letter, tools), { kind: "danger", name: `Drop message ${short}` })));
}

async function redrive(letter, { api, onDone }) {
  try {
    const { redriven, left } = await api.post("/dead-letters/redrive", { ids: [letter.id] });
    if (redriven.length) tell("Message redriven to its queue.");
    else warn(`Not redriven: ${left[0]?.reason || "the message no longer exists"}.`);
  } catch (error) {
    warn(error.message);
  }
  onDone();
}

async function drop(letter, { api, onDone }) {
  const text = "The message is deleted and never processed. This cannot be undone.";
  if (!(await confirmed("Drop this message?", text, "Drop", "danger"))) return;
  try {
    await api.post("/dead-letters/drop", { ids: [letter.id] });
    tell("Message dropped.");
  } catch (error) {
    warn(error.message);
  }
  onDone();
}

/** As many as go at once, again and again, until nothing more goes. */
async function redriveAll({ api, onDone }, tally) {
  const text = "Each message goes back to its queue. Messages that fail again return here.";
  if (!(await confirmed(`Redrive ${tally}?`, text, "Redrive all"))) return;
  const line = h("p", { role: "status" }, "Redriving…");
  const { dialog, form } = frame("Redrive all", [h("progress", { "aria-label": "Redriving messages" }), line]);
  let isStopped = false;
  const stop = () => { isStopped = true; };
  form.append(h("div", { class: "dialog-end" }, button("Stop", stop)));
  const release = showWhileBusy(dialog, stop);
  const seen = new Set();
  let left = [];
  try {
    for (let isNew = true; isNew && !isStopped;) {
      const done = await api.post("/dead-letters/redrive", {});
      isNew = done.redriven.some((id) => !seen.has(id));
      for (const id of done.redriven) seen.add(id);
      left = done.left;
      say(line, `${count(seen.size, "message")} redriven…`);
    }
    tell(`${count(seen.size, "message")} redriven${left.length ? `, ${left.length} remain` : ""}.`);
  } catch (error) {
    warn(error.message);
  }
  release();
  dialog.close();
  dialog.remove();
  onDone();
}
