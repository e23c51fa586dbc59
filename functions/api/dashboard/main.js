/** The entry point: signs in, then starts the pages, live events and page modules. */

import { createApi } from "./api.js";
import { liveEvents } from "./event_feed.js";
import { connectLive } from "./live.js";
import { loadModules } from "./modules.js";
import { watchLocation } from "./router.js";
import {
  clearToken, getToken, readTokenFromAddress, requestTokenFromTabs, shareToken, storeToken,
} from "./session.js";
import { createShell, focusHeading } from "./shell.js";
import { showSignIn } from "./sign_in.js";

const INVALID_TOKEN = "Invalid token: unknown, revoked or expired. Sign in with another token.";
const SIGN_OUT_REASON = "duecourse.sign_out_reason";
const POLL_INTERVAL = 5000; // without live events
const LIVE_POLL_INTERVAL = 20_000; // with live events: time alone moves tasks from list to list
const main = document.getElementById("main");
let isStarted = false;

document.getElementById("skip").addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

function signOut(reason) {
  clearToken();
  if (!isStarted) {
    showSignIn(main, { reason, onToken: signIn });
    return;
  }
  // Reload, so that nothing remains of what the last token could read.
  if (reason) sessionStorage.setItem(SIGN_OUT_REASON, reason);
  location.reload();
}

/** Try the token before storing it, so that the form can report an invalid one. */
async function signIn(text) {
  let isInvalid = false;
  const api = createApi({ token: text, onUnauthorized: () => { isInvalid = true; } });
  try {
    await api.get("/tasks", { query: { limit: 1 } });
  } catch (error) {
    showSignIn(main, { reason: isInvalid ? INVALID_TOKEN : error.message, onToken: signIn });
    return;
  }
  storeToken(text);
  await start();
  focusHeading(main); // the form that had the focus is gone
}

async function start() {
  isStarted = true;
  shareToken();
  const api = createApi({ token: getToken(), onUnauthorized: () => signOut(INVALID_TOKEN) });
  const tools = { api };
  let isLive = false;
  const shell = createShell(main, { tools, onSignOut: () => signOut("") });
  shell.addModules(await loadModules(document.body.dataset.modules, tools));
  connectLive({
    url: document.body.dataset.liveUrl,
    token: getToken(),
    onState(state) {
      isLive = state === "live";
      shell.setConnection(state);
      if (isLive) shell.refresh(); // for events that were missed
    },
    onEvent(event) {
      liveEvents.push(event);
      shell.handleEvent(event);
    },
  });
  let sinceRefresh = 0;
  setInterval(() => {
    sinceRefresh += POLL_INTERVAL;
    if (isLive && sinceRefresh < LIVE_POLL_INTERVAL) return;
    sinceRefresh = 0;
    shell.refresh();
  }, POLL_INTERVAL);
  watchLocation(shell.show);
}

// A link with a token may be opened in a tab that is already signed in.
window.addEventListener("hashchange", () => {
  if (!location.hash.startsWith("#token=")) return;
  readTokenFromAddress();
  location.reload();
});

readTokenFromAddress();
const reason = sessionStorage.getItem(SIGN_OUT_REASON);
sessionStorage.removeItem(SIGN_OUT_REASON);
await requestTokenFromTabs();
if (getToken()) start();
else showSignIn(main, { reason, onToken: signIn });
