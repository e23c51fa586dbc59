/** A list with the newest items first. Older items are shown on request. */

import { h, setText, syncRows } from "./dom.js";
import { renderButton, renderPanel } from "./panel.js";

/** Create the list. `show` takes the items oldest first; unchanged rows are not touched. */
export function createRecentList({ title, id, kind, limit, noun, empty, getKey, createRow }) {
  const count = h("span", { class: "count number" });
  const list = h("ol", { class: kind });
  const emptyNode = h("p", { class: "empty" }, empty);
  const showMore = renderButton("", showAll);
  const node = renderPanel(title, { id, aside: count }, list, emptyNode, showMore);
  let isExpanded = false;
  let latest = [];

  function showAll() {
    isExpanded = true;
    show(latest);
    node.querySelector("h2").focus({ preventScroll: true }); // the button is hidden now
  }

  function show(oldestFirst) {
    latest = oldestFirst;
    const items = [...latest].reverse();
    const visible = isExpanded ? items : items.slice(0, limit);
    setText(count, items.length || "");
    list.hidden = items.length === 0;
    emptyNode.hidden = items.length > 0;
    showMore.hidden = visible.length === items.length;
    setText(showMore, `Show ${items.length - visible.length} earlier ${noun}`);
    syncRows(list, visible, getKey, createRow);
  }

  return { node, show };
}
