/** The latest events, in a ring buffer of fixed size and in rows that are reused. */

import { h, setText } from "./dom.js";
import { describeEvent, getEventLabel } from "./labels.js";
import { linkTo } from "./router.js";
import { formatShort } from "./time.js";

const BUFFER_SIZE = 50;

function createRingBuffer(size = BUFFER_SIZE) {
  const slots = new Array(size);
  let total = 0;
  return {
    push(event) {
      slots[total % size] = event;
      total += 1;
    },
    getTotal: () => total,
    /** Newest first. */
    getLatest(limit) {
      const length = Math.min(limit, size, total);
      return Array.from({ length }, (_, n) => slots[(total - 1 - n) % size]);
    },
  };
}

/** All live events since this tab was opened, on every page. */
export const liveEvents = createRingBuffer();

/** Create the list of the latest events. */
export function createEventFeed(limit, formatTime = formatShort) {
  const list = h("ol", { class: "feed", "aria-label": "Latest events" });
  const emptyNode = h("p", { class: "empty" },
    "No events since you opened this page. New events appear here in real time.");
  const rows = [];
  let drawnTotal = -1;

  function draw() {
    if (liveEvents.getTotal() === drawnTotal) return;
    drawnTotal = liveEvents.getTotal();
    const events = liveEvents.getLatest(limit);
    emptyNode.hidden = events.length > 0;
    while (rows.length < events.length) {
      rows.push(createRow(formatTime));
      list.append(rows.at(-1).node);
    }
    events.forEach((event, n) => rows[n].show(event));
  }

  return { node: h("div", {}, list, emptyNode), draw };
}

function createRow(formatTime) {
  const time = h("time", { class: "feed-time number" });
  const name = h("span", { class: "dot" });
  const link = h("a", { class: "id" });
  const detail = h("span", { class: "muted user-text", dir: "auto" });
  const node = h("li", {}, time, h("span", { class: "feed-text" }, name, " ", link, " ", detail));
  return { node, show: (event) => fillRow({ time, name, link, detail }, event, formatTime) };
}

function fillRow({ time, name, link, detail }, event, formatTime) {
  const [label, tone] = getEventLabel(event.type);
  const isTask = event.type.startsWith("task:") || event.type.startsWith("budget:");
  setText(time, event.at ? formatTime(event.at) : "");
  setText(name, label);
  name.className = `dot ${tone}`;
  link.hidden = !(isTask && event.task_id);
  setText(link, link.hidden ? "" : String(event.task_id).slice(0, 8));
  if (!link.hidden) link.setAttribute("href", linkTo("task", String(event.task_id)));
  setText(detail, describeEvent(event));
}
