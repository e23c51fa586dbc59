/** A client of the HTTP API. Errors become sentences that say what to do. */

import { syncClock } from "./clock.js";

// Not relative to the address: it may contain a name and a password, which fetch refuses.
const BASE = location.origin + location.pathname;
const ADVICE = {
  403: "Sign in with a token that has the scope.",
  429: "Too many requests. Wait a moment, then try again.",
};

class ApiError extends Error {
  constructor(status, detail) {
    super([formatSentence(detail), ADVICE[status] || (status >= 500 ? "Try again in a moment." : "")]
      .filter(Boolean).join(" "));
    this.status = status;
    this.detail = detail;
  }
}

/** Create a client. `onUnauthorized` is called when the API rejects the token. */
export function createApi({ token, onUnauthorized }) {
  async function call(method, path, { body, query, signal } = {}) {
    const url = buildUrl(path);
    for (const [name, value] of Object.entries(query || {})) {
      if (value !== null && value !== undefined && value !== "") url.searchParams.set(name, value);
    }
    const headers = { authorization: `Bearer ${token}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    const response = await sendRequest(url, {
      method, headers, signal, credentials: "omit", cache: "no-store",
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (response.status === 401) onUnauthorized();
    return readResponse(response, signal);
  }
  return {
    get: (path, options) => call("GET", path, options),
    post: (path, body, options) => call("POST", path, { ...options, body }),
    del: (path, options) => call("DELETE", path, options),
  };
}

/** Reject a path whose dots (also as %2E) would lead to another route. */
function buildUrl(path) {
  const relative = path.replace(/^\//, "");
  const url = new URL(relative, BASE);
  if (url.pathname !== new URL(".", BASE).pathname + relative) {
    throw new ApiError(0, "This name cannot be part of a URL, so no request was sent. Use the command line.");
  }
  return url;
}

async function sendRequest(url, request) {
  try {
    return await fetch(url, request);
  } catch (error) {
    if (isAborted(error)) throw error;
    throw new ApiError(0, "Cannot reach the server. Check that it is running and that you are online.");
  }
}

async function readResponse(response, signal) {
  const body = await parseJson(response, signal);
  if (response.ok && body !== null) {
    if (body.now) syncClock(body.now);
    return body;
  }
  const detail = body && (body.detail || body.message);
  throw new ApiError(response.status, detail || describeResponse(response));
}

/** Return null if the body is incomplete or not JSON. */
async function parseJson(response, signal) {
  try {
    return await response.json();
  } catch {
    if (signal?.aborted) throw signal.reason;
    return null;
  }
}

function describeResponse(response) {
  return response.ok
    ? "The response was incomplete. Try again." : `The server responded with status ${response.status}.`;
}

function formatSentence(detail) {
  const text = String(detail);
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Whether the user left the page during the request: such an error is not shown. */
export function isAborted(error) {
  return error.name === "AbortError";
}

/** Build the path of a route of one task. */
export function buildTaskPath(id, route = "") {
  return `/tasks/${encodeURIComponent(id)}${route ? `/${route}` : ""}`;
}
