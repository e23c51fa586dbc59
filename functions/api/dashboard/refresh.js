/** Throttled refreshes that run only while the tab is visible. */

const MAX_LOAD = 2; // wait twice as long as a request took: a slow server is busy half of the time at most

/**
 * Run `work` at most once every `gap` ms, and never twice at a time. Requests that arrive meanwhile
 * cause one more run; in a hidden tab they wait until it is visible again. `requestNow` is for the
 * user's own actions: it waits only for a run in progress.
 */
export function createRefresher(work, gap) {
  let isRequested = false;
  let isUrgent = false;
  let isBusy = false;
  let isStopped = false;
  let timer = null;
  let startedAt = -Infinity;
  let pause = gap;

  function request() {
    isRequested = true;
    if (isStopped || isBusy || timer !== null || document.visibilityState !== "visible") return;
    timer = setTimeout(run, isUrgent ? 0 : Math.max(0, startedAt + pause - performance.now()));
  }

  function requestNow() {
    isUrgent = true;
    clearTimeout(timer);
    timer = null;
    request();
  }

  async function run() {
    timer = null;
    if (isStopped || document.visibilityState !== "visible") return;
    isRequested = false;
    isUrgent = false;
    isBusy = true;
    startedAt = performance.now();
    try {
      await work();
    } finally {
      isBusy = false;
      pause = Math.max(gap, MAX_LOAD * (performance.now() - startedAt));
    }
    if (isRequested) request();
  }

  function onVisibilityChange() {
    if (isRequested) request();
  }

  function stop() {
    isStopped = true;
    clearTimeout(timer);
    document.removeEventListener("visibilitychange", onVisibilityChange);
  }

  document.addEventListener("visibilitychange", onVisibilityChange);
  return { request, requestNow, stop };
}
