/** The Failures page: failures by day and category, recovery rates, and learned patterns. */

import { isAborted } from "./api.js";
import { renderBarChart } from "./bar_chart.js";
import { now } from "./clock.js";
import { createDayRange } from "./day_range.js";
import { createCachedView, h } from "./dom.js";
import { createKindTable, createProviderTable, createRecoveryTable, createRecurringTable, createSubjectTable } from "./failure_tables.js";
import { formatCount, formatNumber, formatPercent } from "./format.js";
import { createDelayTable, createPatternTable } from "./learning_tables.js";
import { createFigure, createLoadStatus, renderPageHeading, renderPanel } from "./panel.js";
import { createRefresher } from "./refresh.js";

const REFRESH_INTERVAL = 5000;
const DAY = 24 * 60 * 60 * 1000;
const dayFormat = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

export function open(main, { api, signal, query }) {
  const status = createLoadStatus();
  const refresher = createRefresher(load, REFRESH_INTERVAL);
  const sections = createSections({ api, onDone: refresher.requestNow });
  const range = createDayRange("failures", query, () => load());

  async function load() {
    const days = range.getDays();
    try {
      const results = await Promise.allSettled([
        api.get("/stats", { query: { days }, signal }),
        api.get("/patterns", { query: { limit: 50 }, signal }),
        api.get("/delays", { signal }),
      ]);
      if (days !== range.getDays()) return;
      sections.show(...results.map((result) => result.value));
      const failure = results.find((result) => result.status === "rejected");
      if (failure) throw failure.reason;
      status.clear();
    } catch (error) {
      if (!isAborted(error)) status.showFailure(error, refresher.requestNow);
    }
  }

  main.append(renderPageHeading("Failures", "UTC days, including today", range.node), status.node, sections.node);
  status.showLoading();
  refresher.request();
  return { refresh: refresher.request, handleEvent: refresher.request, close: refresher.stop };
}

function createSections(tools) {
  const figures = createFigures();
  const chart = h("div", {});
  const showChart = createCachedView(chart, renderChart);
  const recovery = createRecoveryTable();
  const kinds = createKindTable();
  const subjects = createSubjectTable(tools);
  const recurring = createRecurringTable();
  const providers = createProviderTable();
  const patterns = createPatternTable(tools);
  const delays = createDelayTable();
  const node = h("div", {}, figures.node, renderPanel("Failures by day", { id: "over-time" }, chart),
    h("div", { class: "two-columns" }, recovery.node, kinds.node),
    patterns.node, h("div", { class: "two-columns" }, subjects.node, recurring.node), providers.node, delays.node);
  node.hidden = true;
  return {
    node,
    /** Each argument is undefined if it could not be loaded: then its tables stay as they are. */
    show(stats, patternPage, delayList) {
      if (patternPage) patterns.show(patternPage.items);
      if (delayList) delays.show(delayList);
      if (!stats) return;
      showChart({ days: stats.days, rows: stats.errors_by_day });
      for (const section of [figures, recovery, kinds, subjects, recurring, providers]) section.show(stats);
      node.hidden = false;
    },
  };
}

function createFigures() {
  const failures = createFigure("Failures", { tone: "failing" });
  const recovered = createFigure("Recovered");
  const retries = createFigure("Retries until success");
  const recurring = createFigure("Recurring", { tone: "blocked" });
  return {
    node: h("div", { class: "figures" }, [failures, recovered, retries, recurring].map((figure) => figure.node)),
    show(stats) {
      const occurrences = sumField(stats.recovery_rate, "failures");
      const recoveredCount = sumField(stats.recovery_rate, "recovered");
      const total = sumField(stats.errors_by_category, "count");
      failures.show(formatNumber(total), "", total === 0);
      recovered.show(occurrences ? formatPercent((100 * recoveredCount) / occurrences) : "–",
        occurrences ? `${recoveredCount} of ${formatCount(occurrences, "failed occurrence")}` : "no failures", !occurrences);
      const average = stats.retries_to_success.average;
      retries.show(average === null ? "–" : average.toFixed(1), "on average");
      const recurringCount = stats.repeated_failures.length;
      recurring.show(formatNumber(recurringCount), "subjects and tasks", recurringCount === 0);
    },
  };
}

function sumField(items, field) {
  return items.reduce((total, item) => total + item[field], 0);
}

function renderChart({ days, rows }) {
  if (!rows.length) {
    return h("p", { class: "empty" }, "No failures in this range. Choose a longer range to see older failures.");
  }
  const totals = new Map();
  for (const { category, count } of rows) totals.set(category, (totals.get(category) || 0) + count);
  const names = [...totals].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const bars = listDays(days, rows).map((day) => ({
    label: dayFormat.format(Date.parse(day)),
    parts: names.map((name) => ({
      name, count: rows.find((row) => row.day === day && row.category === name)?.count || 0,
    })),
  }));
  const total = sumField(rows, "count");
  const description = `${formatCount(total, "failure")} in ${formatCount(days, "day")}. `
    + `The most frequent category is ${names[0]}.`;
  return renderBarChart({ title: "Failures by day and category", description, bars, names });
}

/** List every day of the range, including days without failures. */
function listDays(length, rows) {
  const today = Math.floor(now() / DAY) * DAY;
  const end = Math.max(today, Date.parse(rows.at(-1).day));
  const formatDay = (daysBefore) => new Date(end - daysBefore * DAY).toISOString().slice(0, 10);
  return Array.from({ length }, (_, n) => formatDay(length - 1 - n));
}
