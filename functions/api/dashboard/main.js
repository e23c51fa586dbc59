/** Where it begins: the token, then the pages, what is live, and the modules beside them. */

import { apiWith } from "./api.js";
import { heard } from "./feed.js";
import { openLive } from "./live.js";
import { loadModules } from "./modules.js";
import { follow } from "./router.js";
import { forget, keep, shareWithOthers, takeFromAddress, takeFromOthers, token } from "./session.js";
import { focusOn, shell } from "./shell.js";
import { signIn } from "./sign_in.js";

const NOT_TAKEN = "Invalid token: unknown, revoked or expired. Sign in with another token.";
const POLL_EVERY = 5000; // while nothing is live
const LOOK_EVERY = 20_000; // also while it is: time alone moves tasks from list to list
const main = document.getElementById("main");
let isRunning = false;

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

function out(why) {
  forget();
  if (!isRunning) {
    signIn(main, { why, onToken: signedIn });
    return;
  }
  // A fresh start leaves nothing behind of what the last token could see.
  if (why) sessionStorage.setItem("duecourse.why", why);
  location.reload();
}

/** A token is tried before it is kept: a wrong one is told right at the form. */
async function signedIn(text) {
  let isUnknown = false;
  const trying = apiWith({ token: text, onUnknown: () => { isUnknown = true; } });
  try {
    await trying.get("/tasks", { query: { limit: 1 } });
  } catch (error) {
    signIn(main, { why: isUnknown ? NOT_TAKEN : error.message, onToken: signedIn });
    return;
  }
  keep(text);
  await start();
  focusOn(main); // the field that had it is gone
}

async function start() {
  isRunning = true;
  shareWithOthers();
  const api = apiWith({ token: token(), onUnknown: () => out(NOT_TAKEN) });
  const tools = { api };
  let isLive = false;
  const pages = shell(main, { tools, onSignOut: () => out("") });
  const modules = await loadModules(document.body.dataset.modules, tools);
  pages.offer(modules);
  openLive({
    url: document.body.dataset.liveUrl,
    token: token(),
    onState(state) {
      isLive = state === "live";
      pages.connection(state);
      if (isLive) pages.refresh(); // what was missed meanwhile
    },
    onEvent(event) {
      heard.push(event);
      pages.heard(event);
    },
  });
  let sinceLook = 0;
  setInterval(() => {
    sinceLook += POLL_EVERY;
    if (isLive && sinceLook < LOOK_EVERY) return;
    sinceLook = 0;
    pages.refresh();
  }, POLL_EVERY);
  follow(pages.show);
}

// A link with a token in it may be opened in a tab that is running already.
window.addEventListener("hashchange", () => {
  if (!location.hash.startsWith("#token=")) return;
  takeFromAddress();
  location.reload();
});

takeFromAddress();
const why = sessionStorage.getItem("duecourse.why");
sessionStorage.removeItem("duecourse.why");
await takeFromOthers();
if (token()) start();
else signIn(main, { why, onToken: signedIn });
