/** Lateness: how long after its time each task was done. */

import { isAbandoned } from "./api.js";
import { barChart } from "./chart.js";
import { dayRange } from "./day_range.js";
import { h, memo } from "./dom.js";
import { figure, heading, panel, standing } from "./panel.js";
import { refresher } from "./refresh.js";
import { took } from "./time.js";
import { count } from "./words.js";

const READ_EVERY = 5000;
const FEWEST = 8; // bars
const MEASURES = { p50: "Median", p95: "p95", p99: "p99", max: "Maximum" };

export function open(main, { api, signal, query }) {
  const state = standing();
  const refresh = refresher(read, READ_EVERY);
  const figures = Object.fromEntries(Object.entries(MEASURES).map(([name, label]) => [name, figure(label)]));
  const place = h("div", {});
  const draw = memo(place, histogram);
  const parts = h("div", {}, h("div", { class: "figures" }, Object.values(figures).map((one) => one.node)),
    panel("Distribution", { id: "histogram" }, place));
  const range = dayRange("lateness", query, () => read());

  async function read() {
    const asked = range.days();
    try {
      const { lateness } = await api.get("/stats", { query: { days: asked }, signal });
      if (asked !== range.days()) return;
      for (const name of Object.keys(MEASURES)) figures[name].show(measured(lateness[name]));
      draw(lateness);
      parts.hidden = false;
      state.read();
    } catch (error) {
      if (!isAbandoned(error)) state.failed(error, refresh.soon);
    }
  }

  parts.hidden = true;
  main.append(heading("Lateness", "Time from due to done. Each retry has its own due time.", range.node), state.node, parts);
  state.reading();
  refresh.poke();
  return { refresh: refresh.poke, heard: refresh.poke, close: refresh.stop };
}

function measured(ms) {
  return ms === null || ms === undefined ? "–" : took(ms);
}

function histogram({ count: total, histogram: found, p95 }) {
  if (!total) {
    return h("p", { class: "empty" },
      "No runs in this range. Lateness appears here after the first run.");
  }
  const name = "runs";
  const bars = upToLast(found).map(({ count: many }, n) => ({
    label: rangeOf(found, n), parts: [{ name, count: many }],
  }));
  const about = `${count(total, "run")}. 95% were at most ${took(p95)} late.`;
  return barChart({ title: "Runs by lateness", about, bars, names: [name], unit: name });
}

/** Without the long lateness that nothing had, but wide enough to look like a scale. */
function upToLast(found) {
  const last = found.findLastIndex((one) => one.count > 0);
  return found.slice(0, Math.max(last + 2, FEWEST));
}

function rangeOf(found, n) {
  const { up_to_ms: most } = found[n];
  if (most !== null) return `≤ ${bound(most)}`;
  return n ? `> ${bound(found[n - 1].up_to_ms)}` : "any";
}

function bound(ms) {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 10_000) return `${Number((ms / 1000).toFixed(1))} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}
