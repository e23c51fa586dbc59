/** Failures: when, of what kind, what became of them, and what has been learned. */

import { isAbandoned } from "./api.js";
import { barChart } from "./chart.js";
import { now } from "./clock.js";
import { dayRange } from "./day_range.js";
import { h, memo } from "./dom.js";
import { delaysPanel, patternsPanel } from "./learned.js";
import { figure, heading, panel, standing } from "./panel.js";
import { providers, recovery, repeated, subjects } from "./failure_tables.js";
import { refresher } from "./refresh.js";
import { count, percent } from "./words.js";

const READ_EVERY = 5000;
const DAY = 24 * 60 * 60 * 1000;
const dayName = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short", timeZone: "UTC" });

export function open(main, { api, signal, query }) {
  const state = standing();
  const refresh = refresher(read, READ_EVERY);
  const shown = places({ api, onDone: refresh.soon });
  const range = dayRange("failures", query, () => read());

  async function read() {
    const asked = range.days();
    try {
      const answers = await Promise.allSettled([
        api.get("/stats", { query: { days: asked }, signal }),
        api.get("/patterns", { query: { limit: 50 }, signal }),
        api.get("/delays", { signal }),
      ]);
      if (asked !== range.days()) return;
      shown.show(...answers.map((one) => one.value));
      const failed = answers.find((one) => one.status === "rejected");
      if (failed) throw failed.reason;
      state.read();
    } catch (error) {
      if (!isAbandoned(error)) state.failed(error, refresh.soon);
    }
  }

  main.append(heading("Failures", "UTC days, including today", range.node), state.node, shown.node);
  state.reading();
  refresh.poke();
  return { refresh: refresh.poke, heard: refresh.poke, close: refresh.stop };
}

function places(tools) {
  const figures = tallies();
  const chart = h("div", {});
  const drawChart = memo(chart, byDay);
  const parts = [recovery(), subjects(tools), repeated(), providers()];
  const patterns = patternsPanel(tools);
  const delays = delaysPanel();
  const node = h("div", {}, figures.node, panel("Failures by day", { id: "over-time" }, chart),
    h("div", { class: "halves" }, parts[0].node, parts[1].node),
    patterns.node, h("div", { class: "halves" }, parts[2].node, parts[3].node), delays.node);
  node.hidden = true;
  return {
    node,
    /** What could not be read takes nothing away of the rest. */
    show(stats, learned, waits) {
      if (learned) patterns.show(learned.items);
      if (waits) delays.show(waits);
      if (!stats) return;
      figures.show(stats);
      drawChart({ days: stats.days, rows: stats.errors_by_day });
      for (const part of parts) part.show(stats);
      node.hidden = false;
    },
  };
}

function tallies() {
  const failures = figure("Failures", { tone: "failing" });
  const recovered = figure("Recovered");
  const tries = figure("Retries until success");
  const again = figure("Recurring", { tone: "blocked" });
  return {
    node: h("div", { class: "figures" }, [failures, recovered, tries, again].map((one) => one.node)),
    show(stats) {
      const all = stats.recovery_rate.reduce((sum, one) => sum + one.failures, 0);
      const well = stats.recovery_rate.reduce((sum, one) => sum + one.recovered, 0);
      const total = stats.errors_by_category.reduce((sum, one) => sum + one.count, 0);
      failures.show(total.toLocaleString("en"), "", total === 0);
      recovered.show(all ? percent((100 * well) / all) : "–", all ? `${well} of ${count(all, "failed occurrence")}` : "no failures", !all);
      const average = stats.retries_to_success.average;
      tries.show(average === null ? "–" : average.toFixed(1), "on average");
      const many = stats.repeated_failures.length;
      again.show(many.toLocaleString("en"), "subjects and tasks", many === 0);
    },
  };
}

/** Every day of the range has its place, also one without failures. */
function byDay({ days, rows }) {
  if (!rows.length) {
    return h("p", { class: "empty" }, "No failures in this range. Choose a longer range to see older failures.");
  }
  const totals = new Map();
  for (const { category, count: many } of rows) totals.set(category, (totals.get(category) || 0) + many);
  const names = [...totals].sort((a, b) => b[1] - a[1]).map(([name]) => name);
  const bars = daysOf(days, rows).map((day) => ({
    label: dayName.format(Date.parse(day)),
    parts: names.map((name) => ({
      name, count: rows.find((one) => one.day === day && one.category === name)?.count || 0,
    })),
  }));
  const total = [...totals.values()].reduce((sum, one) => sum + one, 0);
  const about = `${count(total, "failure")} in ${count(days, "day")}. The most frequent category is ${names[0]}.`;
  return barChart({ title: "Failures by day and category", about, bars, names });
}

function daysOf(many, rows) {
  const today = Math.floor(now() / DAY) * DAY;
  const end = Math.max(today, Date.parse(rows.at(-1).day));
  const before = (days) => new Date(end - days * DAY).toISOString().slice(0, 10);
  return Array.from({ length: many }, (_, n) => before(many - 1 - n));
}
