/** Reading again, but never more often than people can look, and only while they do. */

const SHARE = 2; // a slow server is asked half of the time at most

/**
 * `work` runs at most once in `gap` ms, and never twice at a time. However often it is poked
 * meanwhile, it runs once more; while the tab is hidden it waits until it is looked at again.
 * `soon` is for what a person has just done: it waits for nothing but a run that is under way.
 */
export function refresher(work, gap) {
  let isWanted = false;
  let isUrgent = false;
  let isBusy = false;
  let isOver = false;
  let timer = null;
  let lastAt = -Infinity;
  let rest = gap;

  function poke() {
    isWanted = true;
    if (isOver || isBusy || timer !== null || document.visibilityState !== "visible") return;
    timer = setTimeout(run, isUrgent ? 0 : Math.max(0, lastAt + rest - performance.now()));
  }

  function soon() {
    isUrgent = true;
    clearTimeout(timer);
    timer = null;
    poke();
  }

  async function run() {
    timer = null;
    if (isOver || document.visibilityState !== "visible") return;
    isWanted = false;
    isUrgent = false;
    isBusy = true;
    lastAt = performance.now();
    try {
      await work();
    } finally {
      isBusy = false;
      rest = Math.max(gap, SHARE * (performance.now() - lastAt));
    }
    if (isWanted) poke();
  }

  function looked() {
    if (isWanted) poke();
  }

  function stop() {
    isOver = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", looked);
  }

  document.addEventListener("visibilitychange", looked);
  return { poke, soon, stop };
}
