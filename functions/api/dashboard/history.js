/** All that happened to a task, newest first. */

import { h, said } from "./dom.js";
import { newestFirst } from "./newest_first.js";
import { taskLink } from "./panel.js";
import { both, short } from "./time.js";
import { eventDetail, eventName } from "./words.js";

const SHOWN = 12;

export function history() {
  const list = newestFirst({
    title: "History", id: "history", kind: "feed", most: SHOWN, noun: "events",
    empty: "No events yet.", key: (one) => one.key, makeRow: ({ event }) => row(event),
  });
  return { node: list.node, show: (events) => list.show(numbered(events)) };
}

/** They have no names: of several that say the same, each is known by which of them it is. */
function numbered(events) {
  const seen = new Map();
  return events.map((event) => {
    const text = JSON.stringify(event);
    seen.set(text, (seen.get(text) || 0) + 1);
    return { event, key: `${seen.get(text)} ${text}` };
  });
}

/** What has happened does not change any more. */
function row(event) {
  const [label, tone] = eventName(event.type);
  const review = event.detail?.review_task_id;
  const node = h("li", {},
    h("time", { class: "feed-time number", datetime: event.at, title: both(event.at) }, short(event.at)),
    h("span", { class: "feed-words" }, h("span", { class: `dot ${tone}` }, label), " ",
      review ? [taskLink(review, "review "), " "] : null,
      said(eventDetail(event), "span", "quiet")));
  return { node, show() {} };
}
