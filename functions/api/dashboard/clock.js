/** The server's clock, as its answers tell it: it may be ahead, jump, or stand still. */

const SHORTEST = 900; // ms between two answers that can tell whether it stands
const JUMP = 500; // ms that are more than a slow answer

let offset = 0;
let standsAt = null;
let last = null;
const listeners = new Set();

export function now() {
  return standsAt ?? Date.now() + offset;
}

/** Only a clock that is moved by hand says the same millisecond twice; moved, it stands again. */
export function learn(text) {
  const server = Date.parse(text);
  if (Number.isNaN(server)) return;
  const here = Date.now();
  const before = now();
  if (last !== null && server === last.server) {
    if (here - last.here >= SHORTEST) standsAt = server;
  } else {
    standsAt = standsAt !== null && !hasRun(server, here) ? server : null;
    offset = server - here;
    last = { server, here };
  }
  if (Math.abs(now() - before) > JUMP) tick();
}

/** As far as ours since the last answer. */
function hasRun(server, here) {
  return here - last.here >= SHORTEST && Math.abs(server - last.server - (here - last.here)) < JUMP;
}

/** `listener` is called about twice a second while somebody looks; gives what ends that. */
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
