/** A list that grows at its top: the latest are shown, and what is older is a click away. */

import { h, keyed, say } from "./dom.js";
import { button, panel } from "./panel.js";

/** `show` takes the items oldest first; rows that stay are left alone, and as many as were wanted. */
export function newestFirst({ title, id, kind, most, noun, empty, key, makeRow }) {
  const tally = h("span", { class: "tally number" });
  const list = h("ol", { class: kind });
  const nothing = h("p", { class: "empty" }, empty);
  const more = button("", showAll);
  const node = panel(title, { id, aside: tally }, list, nothing, more);
  let isWhole = false;
  let latest = [];

  function showAll() {
    isWhole = true;
    show(latest);
    node.querySelector("h2").focus({ preventScroll: true }); // the button is gone
  }

  function show(oldestFirst) {
    latest = oldestFirst;
    const items = [...latest].reverse();
    const shown = isWhole ? items : items.slice(0, most);
    say(tally, items.length || "");
    list.hidden = items.length === 0;
    nothing.hidden = items.length > 0;
    more.hidden = shown.length === items.length;
    say(more, `Show ${items.length - shown.length} earlier ${noun}`);
    keyed(list, shown, key, makeRow);
  }

  return { node, show };
}
