/** The WebSocket of live events. It reconnects by itself and reports its state. */

const INITIAL_BACKOFF = 1000;
const MAX_BACKOFF = 30_000;
const PING_INTERVAL = 5 * 60_000; // API Gateway closes a connection after ten idle minutes

/** Call `onState` with live, reconnecting or off, and `onEvent` with each event. */
export function connectLive({ url, token, onEvent, onState }) {
  if (!url) {
    onState("off");
    return;
  }
  let socket = null;
  let backoff = INITIAL_BACKOFF;
  setInterval(() => {
    if (socket?.readyState === WebSocket.OPEN) socket.send('{"action":"ping"}');
  }, PING_INTERVAL);

  function connect() {
    onState("reconnecting");
    socket = new WebSocket(resolveUrl(url), ["duecourse", `bearer.${encodeBase64Url(token)}`]);
    socket.addEventListener("open", () => {
      backoff = INITIAL_BACKOFF;
      onState("live");
    });
    socket.addEventListener("message", ({ data }) => handleMessage(data));
    socket.addEventListener("close", reconnect);
  }

  function handleMessage(data) {
    let event;
    try {
      event = JSON.parse(data);
    } catch {
      return;
    }
    if (typeof event?.type === "string" && event.type.includes(":")) onEvent(event);
  }

  function reconnect() {
    onState("reconnecting");
    // Jitter, so that all clients do not reconnect at the same moment.
    setTimeout(connect, backoff * (0.75 + Math.random() / 2));
    backoff = Math.min(backoff * 2, MAX_BACKOFF);
  }

  connect();
}

function resolveUrl(url) {
  const resolved = new URL(url, location.origin + location.pathname);
  resolved.protocol = resolved.protocol.replace("http", "ws");
  return resolved;
}

function encodeBase64Url(text) {
  const bytes = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
