/** The selected tasks: chosen one by one, or all that match the filters. */

import { isAborted } from "./api.js";
import { formatCount } from "./format.js";
import { showError } from "./toast.js";

const PAGE_SIZE = 200;
const MAX_SELECTED = 10_000;

/** Create a selection. `getFilters()` returns the filters of the list. */
export function createSelection({ api, signal, getFilters, onChange }) {
  const selected = new Map();
  let isSelecting = false;
  let searchId = 0; // a search that is no longer the latest changes nothing

  function set(task, isSelected) {
    if (isSelected) selected.set(task.id, pickFields(task));
    else selected.delete(task.id);
  }

  function stopSearch() {
    searchId += 1;
    isSelecting = false;
  }

  function clear() {
    stopSearch();
    selected.clear();
    onChange();
  }

  /** Select all matching tasks, page by page. A second call stops the search. */
  async function toggleSelectAll() {
    if (isSelecting) {
      stopSearch();
      onChange();
      return;
    }
    clear();
    const id = searchId;
    const isCurrent = () => id === searchId;
    isSelecting = true;
    onChange();
    try {
      await selectPages(isCurrent);
      if (isCurrent() && selected.size >= MAX_SELECTED) {
        showError(`Only the first ${formatCount(MAX_SELECTED, "task")} are selected. Process these, then select the rest.`);
      }
    } catch (error) {
      if (isCurrent() && !isAborted(error)) showError(error.message);
    }
    if (!isCurrent()) return;
    isSelecting = false;
    onChange();
  }

  async function selectPages(isCurrent) {
    const query = { ...getFilters(), limit: PAGE_SIZE };
    for (let cursor; cursor !== null && selected.size < MAX_SELECTED;) {
      const page = await api.get("/tasks", { query: { ...query, cursor }, signal });
      if (!isCurrent()) return;
      for (const task of page.items) set(task, true);
      cursor = page.next_cursor;
      onChange();
    }
  }

  return {
    set, clear, toggleSelectAll,
    has: (id) => selected.has(id),
    getTasks: () => [...selected.values()],
    getSize: () => selected.size,
    isSelecting: () => isSelecting,
  };
}

/** Keep only the fields that bulk actions need: there may be thousands of tasks. */
function pickFields({ id, short_id, status, paused, next_retry_at }) {
  return { id, short_id, status, paused, next_retry_at };
}
