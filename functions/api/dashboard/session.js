/** The token of this tab: taken from the address once, then kept where closing the tab ends it. */

const KEY = "duecourse.token";
const GIVEN = /^#token=(.+)$/;

/** An address that holds a token is overwritten before anything else happens. */
export function takeFromAddress() {
  const found = GIVEN.exec(location.hash);
  if (!found) return;
  history.replaceState(null, "", location.pathname + location.search);
  try {
    keep(decodeURIComponent(found[1]));
  } catch {
    forget(); // not even text
  }
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
