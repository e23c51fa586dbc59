/** The HTTP API: JSON in, JSON out, and refusals as sentences that say what to do. */

import { learn } from "./clock.js";

// Not relative to the address: it may hold a name and a password, which fetch refuses.
const BASE = location.origin + location.pathname;
const ADVICE = {
  403: "Sign in with a token that has the scope.",
  429: "Too many requests. Wait a moment, then try again.",
};

class ApiError extends Error {
  constructor(status, detail) {
    super([ended(detail), ADVICE[status] || (status >= 500 ? "Try again in a moment." : "")]
      .filter(Boolean).join(" "));
    this.status = status;
    this.detail = detail;
  }
}

/** `onUnknown` is called when the token is not, or no longer, taken. */
export function apiWith({ token, onUnknown }) {
  async function call(method, path, { body, query, signal } = {}) {
    const url = addressOf(path);
    for (const [name, value] of Object.entries(query || {})) {
      if (value !== null && value !== undefined && value !== "") url.searchParams.set(name, value);
    }
    const headers = { authorization: `Bearer ${token}` };
    if (body !== undefined) headers["content-type"] = "application/json";
    const answer = await reached(url, {
      method, headers, signal, credentials: "omit", cache: "no-store",
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (answer.status === 401) onUnknown();
    return read(answer, signal);
  }
  return {
    get: (path, given) => call("GET", path, given),
    post: (path, body, given) => call("POST", path, { ...given, body }),
    del: (path, given) => call("DELETE", path, given),
  };
}

/** Dots lead out of a path, also written as %2E: what would arrive elsewhere is not asked at all. */
function addressOf(path) {
  const asked = path.replace(/^\//, "");
  const url = new URL(asked, BASE);
  if (url.pathname !== new URL(".", BASE).pathname + asked) {
    throw new ApiError(0, "This name cannot be part of a URL, so no request was sent. Use the command line.");
  }
  return url;
}

async function reached(url, request) {
  try {
    return await fetch(url, request);
  } catch (error) {
    if (isAbandoned(error)) throw error;
    throw new ApiError(0, "Cannot reach the server. Check that it is running and that you are online.");
  }
}

async function read(answer, signal) {
  const found = await jsonOf(answer, signal);
  if (answer.ok && found !== null) {
    if (found.now) learn(found.now);
    return found;
  }
  const told = found && (found.detail || found.message);
  throw new ApiError(answer.status, told || unread(answer));
}

/** Null where it is none, or has broken off. */
async function jsonOf(answer, signal) {
  try {
    return await answer.json();
  } catch {
    if (signal?.aborted) throw signal.reason;
    return null;
  }
}

function unread(answer) {
  return answer.ok ? "The response was incomplete. Try again." : `The server responded with status ${answer.status}.`;
}

function ended(detail) {
  const text = String(detail);
  const sentence = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Somebody left the page while it was asked: nobody wants to hear of that. */
export function isAbandoned(error) {
  return error.name === "AbortError";
}

/** The path of one task's own route. */
export function taskPath(id, verb = "") {
  return `/tasks/${encodeURIComponent(id)}${verb ? `/${verb}` : ""}`;
}
