/** The token of this tab: from the address or from another tab, stored until this tab is closed. */

const KEY = "duecourse.token";
const ADDRESS_TOKEN = /^#token=(.*)$/;
// What an HTTP header can hold. For other characters fetch fails as if the server were unreachable.
const HEADER_TEXT = /^[\x20-\x7e]+$/;
const CHANNEL = `duecourse.token ${location.pathname}`; // only pages of this origin receive it
const REPLY_TIMEOUT = 150; // ms

/**
 * Remove the token from the address before anything else runs, and return it: null if there is none, ""
 * if it cannot be a token. `next` is the address to show instead.
 */
export function takeTokenFromAddress(next = location.pathname + location.search) {
  const match = ADDRESS_TOKEN.exec(location.hash);
  if (!match) return null;
  history.replaceState(null, "", next);
  try {
    const text = decodeURIComponent(match[1]).trim();
    return isSendable(text) ? text : "";
  } catch {
    return ""; // not valid percent-encoding
  }
}

export function isSendable(text) {
  return HEADER_TEXT.test(text);
}

export function getToken() {
  return sessionStorage.getItem(KEY);
}

export function storeToken(text) {
  sessionStorage.setItem(KEY, text);
}

/** Store an empty token: only a tab that never had a token asks other tabs for theirs. */
export function clearToken() {
  sessionStorage.setItem(KEY, "");
}

/** Send the token to tabs that are opened from this one, for example by Ctrl+click. */
export function shareToken() {
  const channel = new BroadcastChannel(CHANNEL);
  channel.addEventListener("message", ({ data }) => {
    if (data === "token?" && getToken()) channel.postMessage({ token: getToken() });
  });
}

/** Store the token of another tab, if another tab has one. */
export async function requestTokenFromTabs() {
  if (getToken() !== null) return;
  const channel = new BroadcastChannel(CHANNEL);
  const token = await new Promise((resolve) => {
    setTimeout(resolve, REPLY_TIMEOUT, null);
    channel.addEventListener("message", ({ data }) => { if (data?.token) resolve(data.token); });
    channel.postMessage("token?");
  });
  channel.close();
  if (token && isSendable(token)) storeToken(token);
}
