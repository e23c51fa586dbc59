/** Pages by the part of the address after #: "#/task/3f9c2a71", "#/tasks?status=failed". */

/** The page's name, what follows it, and its query, as the address says them. */
export function place() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [page, ...rest] = path.split("/");
  return { page, rest: rest.map(decoded), query: new URLSearchParams(query || "") };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function linkTo(page, rest = "", query = {}) {
  const said = Object.entries(query).filter(([, value]) => value);
  const asked = said.length ? `?${new URLSearchParams(said)}` : "";
  return `#/${page}${rest ? `/${encodeURIComponent(rest)}` : ""}${asked}`;
}

/** The address says what is shown, without going there once more. */
export function note(page, query) {
  history.replaceState(null, "", linkTo(page, "", query));
}

/**
 * `show` is called with each new place; what names no page leaves the one that is there. To begin
 * with none is there, so then it is the first one.
 */
export function follow(show) {
  const isPlace = () => location.hash === "" || location.hash.startsWith("#/");
  window.addEventListener("hashchange", () => {
    if (isPlace()) show(place());
  });
  show(isPlace() ? place() : { page: "", rest: [], query: new URLSearchParams() });
}
