/** Tables whose rows become cards on a phone. Each cell carries the label of its column. */

import { h, syncRows } from "./dom.js";

/**
 * Create a table. `columns` are {label, cell(item), kind?, isLabelHidden?}; a cell is text, a node, or a
 * list of both. Roles are explicit, because browsers drop them when rows are laid out as cards. Dense
 * cards omit the labels. Before the first `show`, neither rows nor `empty` are visible.
 */
export function createTable({ caption, columns, getKey, empty, isDense = false }) {
  const head = h("tr", { role: "row" }, columns.map(({ label, kind, isLabelHidden }) =>
    h("th", { scope: "col", role: "columnheader", class: kind },
      isLabelHidden ? h("span", { class: "visually-hidden" }, label) : label)));
  const body = h("tbody", { role: "rowgroup" });
  const grid = h("table", { class: isDense ? "cards dense" : "cards", role: "table", "aria-label": caption },
    h("thead", { role: "rowgroup" }, head), body);
  const emptyNode = h("div", { class: "empty", hidden: true }, empty);
  const emptyContent = [...emptyNode.childNodes];
  grid.hidden = true;
  const node = h("div", { class: "table-frame" }, grid, emptyNode);

  function createRow() {
    const row = h("tr", { role: "row" });
    return { node: row, show: (item) => row.replaceChildren(...columns.map((column) => renderCell(column, item))) };
  }

  /** `emptyOverride` replaces `empty` if there are no items. */
  function show(items, emptyOverride = null) {
    emptyNode.replaceChildren(...(emptyOverride === null ? emptyContent : [emptyOverride]));
    grid.hidden = items.length === 0;
    emptyNode.hidden = items.length > 0;
    syncRows(body, items, getKey, createRow);
  }

  return { node, show, body };
}

function renderCell({ label, cell, kind, isLabelHidden }, item) {
  return h("td", { role: "cell", class: kind, data: { label: isLabelHidden ? "" : label } }, cell(item));
}
