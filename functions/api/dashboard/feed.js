/** The latest events: a ring that never grows, and rows that are filled anew and never added to. */

import { h, say } from "./dom.js";
import { short } from "./time.js";
import { linkTo } from "./router.js";
import { eventDetail, eventName } from "./words.js";

const KEPT = 50;

function ring(size = KEPT) {
  const held = new Array(size);
  let total = 0;
  return {
    push(event) {
      held[total % size] = event;
      total += 1;
    },
    total: () => total,
    /** Newest first. */
    latest(most) {
      const many = Math.min(most, size, total);
      return Array.from({ length: many }, (_, n) => held[(total - 1 - n) % size]);
    },
  };
}

/** What came over the wire since this tab was opened, whatever page was shown. */
export const heard = ring();

/** `told` gives a time in words. */
export function feed(most, told = short) {
  const list = h("ol", { class: "feed", "aria-label": "Latest events" });
  const nothing = h("p", { class: "empty" },
    "No events since you opened this page. New events appear here in real time.");
  const rows = [];
  let drawn = -1;

  function draw() {
    if (heard.total() === drawn) return;
    drawn = heard.total();
    const events = heard.latest(most);
    nothing.hidden = events.length > 0;
    while (rows.length < events.length) {
      rows.push(row(told));
      list.append(rows.at(-1).node);
    }
    events.forEach((event, n) => rows[n].show(event));
  }

  return { node: h("div", {}, list, nothing), draw };
}

function row(told) {
  const time = h("time", { class: "feed-time number" });
  const name = h("span", { class: "dot" });
  const link = h("a", { class: "id" });
  const detail = h("span", { class: "quiet said", dir: "auto" });
  const node = h("li", {}, time, h("span", { class: "feed-words" }, name, " ", link, " ", detail));
  return { node, show: (event) => fill({ time, name, link, detail }, event, told) };
}

function fill({ time, name, link, detail }, event, told) {
  const [label, tone] = eventName(event.type);
  const isTask = event.type.startsWith("task:") || event.type.startsWith("budget:");
  say(time, event.at ? told(event.at) : "");
  say(name, label);
  name.className = `dot ${tone}`;
  link.hidden = !(isTask && event.task_id);
  say(link, link.hidden ? "" : String(event.task_id).slice(0, 8));
  if (!link.hidden) link.setAttribute("href", linkTo("task", String(event.task_id)));
  say(detail, eventDetail(event));
}
