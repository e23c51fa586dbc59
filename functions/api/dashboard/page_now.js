/** The Now page: upcoming, running, retrying and blocked tasks. */

import { createBoard } from "./board.js";
import { renderPageHeading } from "./panel.js";

export function open(main, { api, signal }) {
  const board = createBoard({ api, signal });
  main.append(renderPageHeading("Now", "Upcoming, running, retrying and blocked tasks"), board.node);
  return board;
}
