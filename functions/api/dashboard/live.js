/** The WebSocket of live events: it comes back by itself, and says whether it is there. */

const FIRST_WAIT = 1000;
const LONGEST_WAIT = 30_000;
const PING_EVERY = 5 * 60_000; // API Gateway ends what is silent for ten minutes

/** `onState` hears live, reconnecting or off; `onEvent` each event as it comes. */
export function openLive({ url, token, onEvent, onState }) {
  if (!url) {
    onState("off");
    return;
  }
  let socket = null;
  let wait = FIRST_WAIT;
  setInterval(() => {
    if (socket?.readyState === WebSocket.OPEN) socket.send('{"action":"ping"}');
  }, PING_EVERY);

  function connect() {
    onState("reconnecting");
    socket = new WebSocket(address(url), ["duecourse", `bearer.${base64url(token)}`]);
    socket.addEventListener("open", () => {
      wait = FIRST_WAIT;
      onState("live");
    });
    socket.addEventListener("message", ({ data }) => heard(data));
    socket.addEventListener("close", again);
  }

  function heard(data) {
    let event;
    try {
      event = JSON.parse(data);
    } catch {
      return;
    }
    if (typeof event?.type === "string" && event.type.includes(":")) onEvent(event);
  }

  function again() {
    onState("reconnecting");
    // A little chance, so that all who lost it do not come back at the same moment.
    setTimeout(connect, wait * (0.75 + Math.random() / 2));
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }

  connect();
}

function address(url) {
  const found = new URL(url, location.origin + location.pathname);
  found.protocol = found.protocol.replace("http", "ws");
  return found;
}

function base64url(text) {
  const bytes = String.fromCharCode(...new TextEncoder().encode(text));
  return btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
