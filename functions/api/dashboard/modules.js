/** Pages from other folders, such as the playground. Each is one module. */

import { createBoard } from "./board.js";
import { now, onTick, syncClock } from "./clock.js";
import { askConfirmation } from "./dialog.js";
import { h, renderUserText, setText, syncRows } from "./dom.js";
import { renderButton, renderPageHeading, renderPanel } from "./panel.js";
import { createRefresher } from "./refresh.js";
import { formatShortUtc, formatUtc } from "./time.js";
import { announce, showError } from "./toast.js";

/** What a module may use of the dashboard: it does not import the dashboard's files. */
const TOOLS = {
  announce, askConfirmation, createBoard, createRefresher, formatShortUtc, formatUtc, h, now, onTick,
  renderButton, renderPageHeading, renderPanel, renderUserText, setText, showError, syncClock, syncRows,
};

/**
 * Load the modules at `addresses` (separated by commas). A module exports `page` ({name, title}) and
 * `mount(container, tools)`, which returns the page's methods; and optionally `start(tools)` for what
 * runs on every page. A module that fails to load does not affect the others.
 */
export async function loadModules(addresses, pageTools) {
  const pages = [];
  for (const address of (addresses || "").split(",").filter(Boolean)) {
    try {
      const module = await import(new URL(address, location.origin));
      const tools = { ...TOOLS, ...pageTools };
      module.start?.(tools);
      pages.push({ ...module.page, open: (container) => module.mount(container, tools) });
    } catch (error) {
      showError(`Could not load a page module: ${error.message}`);
    }
  }
  return pages;
}
