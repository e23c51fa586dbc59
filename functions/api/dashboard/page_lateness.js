/** The Lateness page: how long after its due time each run was done. */

import { isAborted } from "./api.js";
import { renderBarChart } from "./bar_chart.js";
import { createDayRange } from "./day_range.js";
import { createCachedView, h } from "./dom.js";
import { formatCount } from "./format.js";
import { createFigure, createLoadStatus, renderPageHeading, renderPanel } from "./panel.js";
import { createRefresher } from "./refresh.js";
import { formatElapsed } from "./time.js";

const REFRESH_INTERVAL = 5000;
const MIN_BARS = 8;
const MEASURES = { p50: "Median", p95: "p95", p99: "p99", max: "Maximum" };

export function open(main, { api, signal, query }) {
  const status = createLoadStatus();
  const refresher = createRefresher(load, REFRESH_INTERVAL);
  const figures = Object.fromEntries(Object.entries(MEASURES).map(([name, label]) => [name, createFigure(label)]));
  const chart = h("div", {});
  const showChart = createCachedView(chart, renderHistogram);
  const content = h("div", {},
    h("div", { class: "figures" }, Object.values(figures).map((figure) => figure.node)),
    renderPanel("Distribution", { id: "histogram" }, chart));
  const range = createDayRange("lateness", query, () => load());

  async function load() {
    const days = range.getDays();
    try {
      const { lateness } = await api.get("/stats", { query: { days }, signal });
      if (days !== range.getDays()) return;
      for (const name of Object.keys(MEASURES)) figures[name].show(formatMeasure(lateness[name]));
      showChart(lateness);
      content.hidden = false;
      status.clear();
    } catch (error) {
      if (!isAborted(error)) status.showFailure(error, refresher.requestNow);
    }
  }

  content.hidden = true;
  main.append(renderPageHeading("Lateness", "Time from due to done. Each retry has its own due time.", range.node),
    status.node, content);
  status.showLoading();
  refresher.request();
  return { refresh: refresher.request, handleEvent: refresher.request, close: refresher.stop };
}

function formatMeasure(ms) {
  return ms === null || ms === undefined ? "–" : formatElapsed(ms);
}

function renderHistogram({ count: total, histogram, p95 }) {
  if (!total) {
    return h("p", { class: "empty" }, "No runs in this range. Lateness appears here after the first run.");
  }
  const name = "runs";
  const bars = trimBuckets(histogram).map(({ count }, n) => ({
    label: formatBucket(histogram, n), parts: [{ name, count }],
  }));
  const description = `${formatCount(total, "run")}. 95% were at most ${formatElapsed(p95)} late.`;
  return renderBarChart({ title: "Runs by lateness", description, bars, names: [name] });
}

/** Drop the empty buckets at the end, but keep enough for a readable scale. */
function trimBuckets(histogram) {
  const last = histogram.findLastIndex((bucket) => bucket.count > 0);
  return histogram.slice(0, Math.max(last + 2, MIN_BARS));
}

function formatBucket(histogram, n) {
  const { up_to_ms: upperBound } = histogram[n];
  if (upperBound !== null) return `≤ ${formatBound(upperBound)}`;
  return n ? `> ${formatBound(histogram[n - 1].up_to_ms)}` : "any";
}

function formatBound(ms) {
  if (ms < 1000) return `${ms} ms`;
  if (ms < 10_000) return `${Number((ms / 1000).toFixed(1))} s`;
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  return ms < 3_600_000 ? `${Math.round(ms / 60_000)} min` : `${Math.round(ms / 3_600_000)} h`;
}
