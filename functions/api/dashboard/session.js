/** The token of this tab: taken from the address once, then kept where closing the tab ends it. */

const KEY = "duecourse.token";
const GIVEN = /^#token=(.*)$/;
// What a header can hold as it is typed; fetch refuses the rest as if nobody were there.
const SENDABLE = /^[\x20-\x7e]+$/;

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

export function forget() {
  sessionStorage.removeItem(KEY);
}
