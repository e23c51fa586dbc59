/** Tables whose rows become cards on a phone: each cell says by itself which column it is in. */

import { h, keyed } from "./dom.js";

/**
 * `columns` are {label, cell(item), kind?}; a cell is text, a node, or a list of them. Roles are
 * said outright: laid out as cards, browsers would take them away. Dense cards leave out what
 * stands before each cell. Until something was read it says nothing, not even that there is nothing.
 */
export function table({ caption, columns, key, empty, isDense = false }) {
  const head = h("tr", { role: "row" }, columns.map(({ label, kind, unseen }) =>
    h("th", { scope: "col", role: "columnheader", class: kind },
      unseen ? h("span", { class: "unseen" }, label) : label)));
  const body = h("tbody", { role: "rowgroup" });
  const grid = h("table", { class: isDense ? "cards dense" : "cards", role: "table", "aria-label": caption },
    h("thead", { role: "rowgroup" }, head), body);
  const nothing = h("div", { class: "empty", hidden: true }, empty);
  const none = [...nothing.childNodes];
  grid.hidden = true;
  const node = h("div", { class: "table-frame" }, grid, nothing);

  function rowOf() {
    const row = h("tr", { role: "row" });
    return { node: row, show: (item) => row.replaceChildren(...columns.map((one) => cell(one, item))) };
  }

  /** `instead` is said of no items where more may come, in the place of `empty`. */
  function show(items, instead = null) {
    nothing.replaceChildren(...(instead === null ? none : [instead]));
    grid.hidden = items.length === 0;
    nothing.hidden = items.length > 0;
    keyed(body, items, key, rowOf);
  }

  return { node, show, body };
}

function cell({ label, cell: content, kind, unseen }, item) {
  return h("td", { role: "cell", class: kind, data: { label: unseen ? "" : label } }, content(item));
}
