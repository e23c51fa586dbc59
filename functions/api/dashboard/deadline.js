/** Until when somebody is waited for, and what comes of it otherwise. */

import { h } from "./dom.js";
import { tickingAt } from "./time.js";

/** `until` is a time as the API tells it, or null where it waits as long as it takes. */
export function deadline(until, tag = "span") {
  return until ? h(tag, {}, "Fails ", tickingAt("end", until), " unless someone responds") : null;
}
