/** The deadline of a task that waits for a person. */

import { h } from "./dom.js";
import { renderRelativeTime } from "./time.js";

/** Render the deadline; null if `until` is null, because then the task waits without a limit. */
export function renderDeadline(until, tag = "span") {
  return until ? h(tag, {}, "Fails ", renderRelativeTime("deadline", until), " unless someone responds") : null;
}
