/** The history of a task, newest event first. */

import { h, renderUserText } from "./dom.js";
import { describeEvent, getEventLabel } from "./labels.js";
import { renderTaskLink } from "./panel.js";
import { createRecentList } from "./recent_list.js";
import { formatLocalAndUtc, formatShort } from "./time.js";

const LIMIT = 12;

export function createTaskHistory() {
  const list = createRecentList({
    title: "History", id: "history", kind: "feed", limit: LIMIT, noun: "events",
    empty: "No events yet.", getKey: (entry) => entry.key, createRow: ({ event }) => createRow(event),
  });
  return { node: list.node, show: (events) => list.show(addKeys(events)) };
}

/** Events have no ids, so each key is the event's content and its number among equal events. */
function addKeys(events) {
  const counts = new Map();
  return events.map((event) => {
    const json = JSON.stringify(event);
    counts.set(json, (counts.get(json) || 0) + 1);
    return { event, key: `${counts.get(json)} ${json}` };
  });
}

/** The row of an event never changes. */
function createRow(event) {
  const [label, tone] = getEventLabel(event.type);
  const reviewId = event.detail?.review_task_id;
  const time = { class: "feed-time number", datetime: event.at, title: formatLocalAndUtc(event.at) };
  const node = h("li", {},
    h("time", time, formatShort(event.at)),
    h("span", { class: "feed-text" }, h("span", { class: `dot ${tone}` }, label), " ",
      reviewId ? [renderTaskLink(reviewId, "review "), " "] : null,
      renderUserText(describeEvent(event), "span", "muted")));
  return { node, show() {} };
}
