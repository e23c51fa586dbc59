/** The entry point: signs in, then starts the pages, live events and page modules. */

import { createApi } from "./api.js";
import { askConfirmation } from "./dialog.js";
import { liveEvents } from "./event_feed.js";
import { connectLive } from "./live.js";
import { loadModules } from "./modules.js";
import { setScope } from "./permissions.js";
import { watchLocation } from "./router.js";
import {
  clearToken, getToken, requestTokenFromTabs, shareToken, storeToken, takeTokenFromAddress,
} from "./session.js";
import { createShell, focusHeading } from "./shell.js";
import { showSignIn } from "./sign_in.js";

const INVALID_TOKEN = "Invalid token: unknown, revoked or expired. Sign in with another token.";
const REPLACE_TOKEN = "This link carries another token than the one you are signed in with. What you do next is done with "
  + "that token, and whoever made the link may know it. Keep yours if you did not expect this link.";
const SIGN_OUT_REASON = "duecourse.sign_out_reason";
const LINKED_TOKEN = "duecourse.linked_token";
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
    await api.get("/me");
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
  loadScope(api, shell);
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

/** Enable what the token may do. Nothing is enabled until the API has answered. */
async function loadScope(api, shell) {
  try {
    const { scope } = await api.get("/me");
    setScope(scope);
    shell.setScope(scope);
  } catch {
    setTimeout(loadScope, POLL_INTERVAL, api, shell); // the page itself shows that the server is unreachable
  }
}

/** Store the token of a link, and return whether it is another one. A token in use is replaced only on request. */
async function useToken(text) {
  const inUse = getToken();
  if (!text || text === inUse) return false;
  if (inUse && !(await askConfirmation("Use the token of this link?", REPLACE_TOKEN, "Use the new token"))) return false;
  storeToken(text);
  return true;
}

// A link with a token may be opened in a tab that is already signed in.
window.addEventListener("hashchange", async (event) => {
  const linked = takeTokenFromAddress(event.oldURL);
  if (linked === null) return;
  event.stopImmediatePropagation(); // the page that is shown stays, behind the question
  if (await useToken(linked)) location.reload();
});

const linked = takeTokenFromAddress() || sessionStorage.getItem(LINKED_TOKEN);
if (linked) sessionStorage.setItem(LINKED_TOKEN, linked); // in case the page is loaded again before it is in use
const reason = sessionStorage.getItem(SIGN_OUT_REASON);
sessionStorage.removeItem(SIGN_OUT_REASON);
await requestTokenFromTabs();
await useToken(linked);
sessionStorage.removeItem(LINKED_TOKEN);
if (getToken()) start();
else showSignIn(main, { reason, onToken: signIn });
