/** The token of this tab: taken from the address or another tab, kept until this one is closed. */

const KEY = "duecourse.token";
const GIVEN = /^#token=(.*)$/;
// What a header can hold as it is typed; fetch refuses the rest as if nobody were there.
const SENDABLE = /^[\x20-\x7e]+$/;
const LINE = `duecourse.token ${location.pathname}`; // only pages of this origin hear it
const ANSWERS_WITHIN = 150; // ms

/** An address that holds a token is overwritten before anything else happens. */
export function takeFromAddress() {
  const found = GIVEN.exec(location.hash);
  if (!found) return;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    const text = decodeURIComponent(found[1]).trim();
    if (canBeSent(text)) keep(text);
    else forget();
  } catch {
    forget(); // not even text
  }
}

export function canBeSent(text) {
  return SENDABLE.test(text);
}

export function token() {
  return sessionStorage.getItem(KEY);
}

export function keep(text) {
  sessionStorage.setItem(KEY, text);
}

/** Remembered as given back: only a tab that never had one asks the others. */
export function forget() {
  sessionStorage.setItem(KEY, "");
}

/** A tab that was opened from this one, say by Ctrl and a click, is given the token too. */
export function shareWithOthers() {
  const line = new BroadcastChannel(LINE);
  line.addEventListener("message", ({ data }) => {
    if (data === "token?" && token()) line.postMessage({ token: token() });
  });
}

/** Keeps the token of another tab, if there is one. */
export async function takeFromOthers() {
  if (token() !== null) return;
  const line = new BroadcastChannel(LINE);
  const heard = await new Promise((resolve) => {
    setTimeout(resolve, ANSWERS_WITHIN, null);
    line.addEventListener("message", ({ data }) => { if (data?.token) resolve(data.token); });
    line.postMessage("token?");
  });
  line.close();
  if (heard && canBeSent(heard)) keep(heard);
}
