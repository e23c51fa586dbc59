/** The stack's clock: shown, asked for once a second, and moved by hand. */

const EVERY = 1000;
const STANDS = "Stack clock";
const MOVES = "Advancing: due tasks run…";
const UNANSWERED = "Disconnected: last known time";
const STEPS = [["1m", "+1 min"], ["1h", "+1 h"], ["1d", "+1 day"]];

let isAnswered = true;

/** Asks the clock for as long as the page is open, and only while somebody looks. */
export function watchClock({ api, refresher }) {
  const asking = refresher(async () => {
    isAnswered = await api.get("/_local/clock").then(() => true, () => false);
  }, EVERY);
  setInterval(asking.poke, EVERY);
  asking.poke();
}

export function clockBar(tools, { onMoved }) {
  const { h, now, onTick, say } = tools;
  const time = h("time", { class: "play-time", id: "playground-clock" });
  const note = h("span", { class: "quiet", role: "status" });
  const moves = STEPS.map(([by, label]) =>
    tools.button(label, () => move(by), { name: `Advance the clock by ${label.slice(1)}` }));
  let isMoving = false;
  const bar = h("progress", { "aria-label": "Advancing the clock" });

  function tick() {
    node.classList.toggle("unanswered", !isAnswered);
    say(note, isMoving ? MOVES : isAnswered ? STANDS : UNANSWERED);
    if (isAnswered) tell();
  }

  function tell() {
    const text = new Date(now()).toISOString();
    time.dateTime = text;
    say(time, tools.utc(text));
  }

  /** All that falls due on the way happens before it answers: that may take a while. */
  async function move(by) {
    moving(true);
    try {
      tools.learn((await tools.api.post("/_local/clock", { advance: by })).now);
    } catch (error) {
      tools.warn(error.message);
    }
    moving(false);
    onMoved();
  }

  function moving(is) {
    isMoving = is;
    bar.hidden = !is;
    for (const one of moves) one.disabled = is;
    tick();
  }

  const node = h("section", { class: "panel play-clock", "aria-label": "Clock" },
    h("div", { class: "play-clock-face" }, note, time), h("div", { class: "play-clock-moves" }, moves), bar);
  tell();
  moving(false);
  return { node, close: onTick(tick) };
}
