/** The stack's clock: shown, asked for once a second, and moved by hand. */

const EVERY = 1000;
const STANDS = "The clock";
const STEPS = [["1m", "+1 min"], ["1h", "+1 h"], ["1d", "+1 day"]];

/** Asks the clock for as long as the page is open, and only while somebody looks. */
export function watchClock({ api, refresher }) {
  const asking = refresher(() => api.get("/_local/clock").catch(() => {}), EVERY);
  setInterval(asking.poke, EVERY);
  asking.poke();
}

export function clockBar(tools, { onMoved }) {
  const { h, now, onTick, say } = tools;
  const time = h("time", { class: "play-time", id: "playground-clock" });
  const note = h("span", { class: "quiet", role: "status" }, STANDS);
  const moves = STEPS.map(([by, label]) =>
    tools.button(label, () => move(by), { name: `Move the clock by ${label.slice(1)}` }));
  const bar = h("progress", { "aria-label": "The clock is moving" });

  function tick() {
    const text = new Date(now()).toISOString();
    time.dateTime = text;
    say(time, tools.utc(text));
  }

  /** All that falls due on the way happens before it answers: that may take a while. */
  async function move(by) {
    for (const one of moves) one.disabled = true;
    bar.hidden = false;
    say(note, "Moving: what falls due, happens…");
    try {
      tools.learn((await tools.api.post("/_local/clock", { advance: by })).now);
    } catch (error) {
      tools.warn(error.message);
    }
    say(note, STANDS);
    bar.hidden = true;
    for (const one of moves) one.disabled = false;
    tick();
    onMoved();
  }

  bar.hidden = true;
  tick();
  const node = h("section", { class: "panel play-clock", "aria-label": "Clock" },
    h("div", { class: "play-clock-face" }, note, time), h("div", { class: "play-clock-moves" }, moves), bar);
  return { node, close: onTick(tick) };
}
