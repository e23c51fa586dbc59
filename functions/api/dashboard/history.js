/** All that happened to a task, newest first; what is old is a click away. */

import { h, said } from "./dom.js";
import { panel, taskLink } from "./panel.js";
import { both, short } from "./time.js";
import { eventDetail, eventName } from "./words.js";

const SHOWN = 12;

export function history(events) {
  const newestFirst = [...events].reverse();
  const list = h("ol", { class: "feed" }, newestFirst.slice(0, SHOWN).map(entry));
  const rest = newestFirst.slice(SHOWN);
  const tally = h("span", { class: "tally number" }, events.length || "");
  return [panel("History", { id: "history", aside: tally },
    events.length ? list : h("p", { class: "empty" }, "Nothing has happened yet."),
    rest.length ? more(list, rest) : null)];
}

function more(list, rest) {
  const made = h("button", { type: "button", class: "button" }, `Show ${rest.length} earlier events`);
  made.addEventListener("click", () => {
    list.append(...rest.map(entry));
    made.remove();
  });
  return made;
}

function entry(event) {
  const [label, tone] = eventName(event.type);
  const review = event.detail?.review_task_id;
  return h("li", {},
    h("time", { class: "feed-time number", datetime: event.at, title: both(event.at) }, short(event.at)),
    h("span", { class: "feed-words" }, h("span", { class: `dot ${tone}` }, label), " ",
      review ? [taskLink(review, "review "), " "] : null,
      said(eventDetail(event), "span", "quiet")));
}
