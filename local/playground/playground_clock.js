/** The stack's clock: shown, polled once a second, and advanced by buttons. */

const POLL_INTERVAL = 1000;
const CONNECTED = "Stack clock";
const ADVANCING = "Advancing: due tasks run…";
const DISCONNECTED = "Disconnected: last known time";
const STEPS = [["1m", "+1 min"], ["1h", "+1 h"], ["1d", "+1 day"]];

let isConnected = true;

/** Poll the clock as long as the page is open and visible. */
export function pollClock({ api, createRefresher }) {
  const refresher = createRefresher(async () => {
    isConnected = await api.get("/_local/clock").then(() => true, () => false);
  }, POLL_INTERVAL);
  setInterval(refresher.request, POLL_INTERVAL);
  refresher.request();
}

export function createClockBar(tools, { onAdvanced }) {
  const { formatUtc, h, now, onTick, setText } = tools;
  const time = h("time", { class: "play-time", id: "playground-clock" });
  const status = h("span", { class: "muted", role: "status" });
  const buttons = STEPS.map(([step, label]) =>
    tools.renderButton(label, () => advance(step), { name: `Advance the clock by ${label.slice(1)}` }));
  const progress = h("progress", { "aria-label": "Advancing the clock" });
  let isAdvancing = false;

  function update() {
    node.classList.toggle("disconnected", !isConnected);
    setText(status, isAdvancing ? ADVANCING : isConnected ? CONNECTED : DISCONNECTED);
    if (isConnected) showTime();
  }

  function showTime() {
    const timestamp = new Date(now()).toISOString();
    time.dateTime = timestamp;
    setText(time, formatUtc(timestamp));
  }

  /** The response may take a while: everything that falls due on the way runs first. */
  async function advance(step) {
    setAdvancing(true);
    try {
      tools.syncClock((await tools.api.post("/_local/clock", { advance: step })).now);
    } catch (error) {
      tools.showError(error.message);
    }
    setAdvancing(false);
    onAdvanced();
  }

  function setAdvancing(value) {
    isAdvancing = value;
    progress.hidden = !value;
    for (const button of buttons) button.disabled = value;
    update();
  }

  const node = h("section", { class: "panel play-clock", "aria-label": "Clock" },
    h("div", { class: "play-clock-face" }, status, time), h("div", { class: "play-clock-buttons" }, buttons), progress);
  showTime();
  setAdvancing(false);
  return { node, close: onTick(update) };
}
