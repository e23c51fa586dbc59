/** Which tasks are chosen: one by one, or all that the filters let through. */

import { isAbandoned } from "./api.js";
import { warn } from "./toast.js";
import { count } from "./words.js";

const A_PAGE = 200;
const MOST = 10_000;

/** `filters()` says what the list shows; `onChange` hears that the choice is another one. */
export function selection({ api, signal, filters, onChange }) {
  const chosen = new Map();
  let isWalking = false;
  let latest = 0; // each walk has its own number: one that was called off touches nothing

  function put(task, isChosen) {
    if (isChosen) chosen.set(task.id, slim(task));
    else chosen.delete(task.id);
  }

  function callOff() {
    latest += 1;
    isWalking = false;
  }

  function clear() {
    callOff();
    chosen.clear();
    onChange();
  }

  /** Through all pages; pressed again, it stops there. */
  async function walk() {
    if (isWalking) {
      callOff();
      onChange();
      return;
    }
    clear();
    const mine = latest;
    isWalking = true;
    onChange();
    try {
      await through(() => mine !== latest);
      if (mine === latest && chosen.size >= MOST) {
        warn(`Only the first ${count(MOST, "task")} are selected. Process these, then select the rest.`);
      }
    } catch (error) {
      if (mine === latest && !isAbandoned(error)) warn(error.message);
    }
    if (mine !== latest) return;
    isWalking = false;
    onChange();
  }

  async function through(isOver) {
    const query = { ...filters(), limit: A_PAGE };
    for (let cursor; cursor !== null && chosen.size < MOST;) {
      const found = await api.get("/tasks", { query: { ...query, cursor }, signal });
      if (isOver()) return;
      for (const task of found.items) put(task, true);
      cursor = found.next_cursor;
      onChange();
    }
  }

  return {
    put, clear, walk,
    has: (id) => chosen.has(id),
    all: () => [...chosen.values()],
    size: () => chosen.size,
    isWalking: () => isWalking,
  };
}

/** Of thousands, only what choosing needs. */
function slim({ id, short_id, status, paused, next_retry_at }) {
  return { id, short_id, status, paused, next_retry_at };
}
