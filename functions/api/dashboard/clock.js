/** The server's clock, as learned from its responses. It may be ahead, jump, or stand still. */

const MIN_INTERVAL = 900; // ms between two responses that can show whether the clock stands still
const MAX_DRIFT = 500; // ms; a larger difference is a jump, not a slow response

let offset = 0;
let frozenAt = null;
let last = null;
const listeners = new Set();

export function now() {
  return frozenAt ?? Date.now() + offset;
}

/**
 * Adjust to the server's time. Only a manual clock reports the same millisecond twice; after a manual
 * clock moves, it stands still again.
 */
export function syncClock(timestamp) {
  const server = Date.parse(timestamp);
  if (Number.isNaN(server)) return;
  const local = Date.now();
  const before = now();
  if (last !== null && server === last.server) {
    if (local - last.local >= MIN_INTERVAL) frozenAt = server;
  } else {
    frozenAt = frozenAt !== null && !isRunning(server, local) ? server : null;
    offset = server - local;
    last = { server, local };
  }
  if (Math.abs(now() - before) > MAX_DRIFT) tick();
}

/** Whether the server's clock advanced as far as the local clock since the last response. */
function isRunning(server, local) {
  const elapsed = local - last.local;
  return elapsed >= MIN_INTERVAL && Math.abs(server - last.server - elapsed) < MAX_DRIFT;
}

/** Call `listener` twice a second while the tab is visible. Returns a function that stops it. */
export function onTick(listener) {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function tick() {
  if (document.visibilityState !== "visible") return;
  for (const listener of listeners) listener();
}

setInterval(tick, 500);
document.addEventListener("visibilitychange", tick);
