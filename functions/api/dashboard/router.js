/** Routes by the part of the address after #: "#/task/3f9c2a71", "#/tasks?status=failed". */

/** Parse the address into the page's name, the path segments after it, and the query. */
function parseLocation() {
  const [path, query] = location.hash.replace(/^#\/?/, "").split("?");
  const [page, ...segments] = path.split("/");
  return { page, segments: segments.map(decodeSegment), query: new URLSearchParams(query || "") };
}

function decodeSegment(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function linkTo(page, segment = "", query = {}) {
  const parameters = Object.entries(query).filter(([, value]) => value);
  const search = parameters.length ? `?${new URLSearchParams(parameters)}` : "";
  return `#/${page}${segment ? `/${encodeURIComponent(segment)}` : ""}${search}`;
}

/** Write the query to the address without opening the page again. */
export function replaceQuery(page, query) {
  history.replaceState(null, "", linkTo(page, "", query));
}

/**
 * Call `show` with each new location. An address that names no page leaves the current page as it is;
 * at the start there is none, so then the first page is shown.
 */
export function watchLocation(show) {
  const isRoute = () => location.hash === "" || location.hash.startsWith("#/");
  window.addEventListener("hashchange", () => {
    if (isRoute()) show(parseLocation());
  });
  show(isRoute() ? parseLocation() : { page: "", segments: [], query: new URLSearchParams() });
}
