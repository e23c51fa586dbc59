/** Pages that are served beside this one, such as the playground: each is one module. */

import { board } from "./board.js";
import { learn, now, onTick } from "./clock.js";
import { confirmed } from "./dialog.js";
import { h, keyed, said, say } from "./dom.js";
import { button, heading, panel } from "./panel.js";
import { refresher } from "./refresh.js";
import { linkTo } from "./router.js";
import { shortUtc, tickingAt, utc } from "./time.js";
import { announce, tell, warn } from "./toast.js";

/**
 * A module exports `page` ({name, title}) and `mount(container, tools)`, which gives what a page
 * does; and `start(tools)`, if something goes on whatever page is shown. One that cannot be loaded
 * takes nothing else with it.
 */
export async function loadModules(listed, tools) {
  const found = [];
  for (const address of (listed || "").split(",").filter(Boolean)) {
    try {
      const module = await import(new URL(address, location.origin));
      const given = { ...offered(), ...tools };
      module.start?.(given);
      found.push({ ...module.page, open: (container) => module.mount(container, given) });
    } catch (error) {
      warn(`Could not load a page module: ${error.message}`);
    }
  }
  return found;
}

function offered() {
  return {
    announce, board, button, confirmed, h, heading, keyed, learn, linkTo, now, onTick, panel,
    refresher, said, say, shortUtc, tell, tickingAt, utc, warn,
  };
}
