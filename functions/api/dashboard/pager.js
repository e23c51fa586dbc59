/** Paging by cursor. The cursors of earlier pages are remembered. One page at a time. */

import { h } from "./dom.js";
import { renderButton } from "./panel.js";

export function createPager(onMove) {
  const previousCursors = [];
  let cursor = null;
  let nextCursor = null;
  let pressedButton = null;
  const newer = renderButton("Newer", () => {
    cursor = previousCursors.pop();
    move(newer);
  });
  const older = renderButton("Older", () => {
    previousCursors.push(cursor);
    cursor = nextCursor;
    move(older);
  });
  const pageNumber = h("span", { class: "muted number" });
  const node = h("nav", { class: "pager", "aria-label": "Pagination" }, newer, pageNumber, older);
  node.hidden = true;

  function disable() {
    newer.disabled = true;
    older.disabled = true;
  }

  function move(button) {
    pressedButton = button;
    disable();
    onMove();
  }

  /** Return the focus that the pressed button lost while it was disabled. */
  function restoreFocus() {
    if (pressedButton && document.activeElement === document.body) {
      (pressedButton.disabled ? newer : pressedButton).focus();
    }
    pressedButton = null;
  }

  return {
    node,
    getCursor: () => cursor,
    restart() {
      previousCursors.length = 0;
      cursor = null;
      disable();
    },
    show(page) {
      nextCursor = page.next_cursor;
      newer.disabled = previousCursors.length === 0;
      older.disabled = nextCursor === null;
      node.hidden = previousCursors.length === 0 && nextCursor === null;
      pageNumber.textContent = `Page ${previousCursors.length + 1}`;
      restoreFocus();
    },
  };
}
