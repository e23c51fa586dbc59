/** Now: what is due, runs, waits to be tried again, or waits for a person. */

import { board } from "./board.js";
import { heading } from "./panel.js";

export function open(main, { api, signal }) {
  const shown = board({ api, signal });
  main.append(heading("Now", "Upcoming, running, retrying and blocked tasks"), shown.node);
  return shown;
}
