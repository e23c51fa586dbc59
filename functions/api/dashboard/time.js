/** Times and durations as text, and the one timer that updates all relative times. */

import { now, onTick } from "./clock.js";
import { h, setText } from "./dom.js";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DISPATCH_DELAY = 90 * SECOND; // the next tick of the scanner finds a due task within this time
const DATE = { day: "numeric", month: "short" };
const CLOCK = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
const localFormat = new Intl.DateTimeFormat(undefined, {
  ...DATE, ...CLOCK, weekday: "short", year: "numeric", timeZoneName: "short",
});

/** "4 min 05 s": at most two units, padded so that a countdown keeps its width. */
function formatDuration(ms) {
  const pad = (number) => String(number).padStart(2, "0");
  const remainder = (unit, larger) => Math.floor((ms % larger) / unit);
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ${pad(remainder(SECOND, MINUTE))} s`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${pad(remainder(MINUTE, HOUR))} min`;
  return `${Math.floor(ms / DAY)} d ${remainder(HOUR, DAY)} h`;
}

/** Precise below a minute, such as for a run: "240 ms", "3.2 s". */
export function formatElapsed(ms) {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  return ms < MINUTE ? `${(ms / SECOND).toFixed(1)} s` : formatDuration(ms);
}

/** Without a zero unit, such as for settings: "30 s", "5 min", "1 h". */
export function formatSeconds(count) {
  return formatDuration(count * SECOND).replace(/ 0+ \w+$/, "");
}

function describeDue(instant) {
  const left = instant - now();
  if (left > 0) return `in ${formatDuration(Math.ceil(left / SECOND) * SECOND)}`;
  return left > -DISPATCH_DELAY ? "due now" : `${formatDuration(-left)} late`;
}

/** The sweeper enforces deadlines some minutes late, so one that has passed is never "late". */
function describeDeadline(instant) {
  return instant > now() ? describeDue(instant) : "soon";
}

function describePast(instant) {
  const elapsed = now() - instant;
  return elapsed < SECOND ? "just now" : `${formatDuration(elapsed)} ago`;
}

function describeRunning(instant) {
  return `for ${formatDuration(Math.max(0, now() - instant))}`;
}

const RELATIVE = { due: describeDue, deadline: describeDeadline, past: describePast, running: describeRunning };

/** Create a relative time that updates itself. Only its text ever changes. */
export function createRelativeTime(kind) {
  const node = h("time", { class: "relative-time", data: { relative: kind } });
  return { node, show: (timestamp) => setTimestamp(node, timestamp) };
}

export function renderRelativeTime(kind, timestamp) {
  const { node, show } = createRelativeTime(kind);
  show(timestamp);
  return node;
}

function setTimestamp(node, timestamp) {
  if (!timestamp) {
    node.removeAttribute("datetime");
    setText(node, "");
    return;
  }
  node.setAttribute("datetime", timestamp);
  node.title = formatLocalAndUtc(timestamp);
  setText(node, RELATIVE[node.dataset.relative](Date.parse(timestamp)));
}

onTick(() => {
  for (const node of document.querySelectorAll("time[data-relative][datetime]")) {
    setText(node, RELATIVE[node.dataset.relative](Date.parse(node.dateTime)));
  }
});

export function formatLocal(timestamp) {
  return localFormat.format(Date.parse(timestamp));
}

export function formatUtc(timestamp) {
  return `${new Date(timestamp).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

export function formatLocalAndUtc(timestamp) {
  return `${formatLocal(timestamp)} · ${formatUtc(timestamp)}`;
}

/** Create a formatter: the time alone for today, otherwise with the date. Default: the browser's time zone. */
function createShortFormat(timeZone) {
  const timeFormat = new Intl.DateTimeFormat(undefined, { ...CLOCK, timeZone });
  const dayFormat = new Intl.DateTimeFormat(undefined, { ...DATE, timeZone });
  const dateFormat = new Intl.DateTimeFormat(undefined, { ...DATE, year: "numeric", timeZone });
  return (timestamp) => {
    const instant = Date.parse(timestamp);
    const isToday = dateFormat.format(now()) === dateFormat.format(instant);
    const time = timeFormat.format(instant);
    return isToday ? time : `${dayFormat.format(instant)}, ${time.slice(0, 5)}`;
  };
}

export const formatShort = createShortFormat();

const formatShortInUtc = createShortFormat("UTC");

/** For times shown beside a clock in UTC. */
export function formatShortUtc(timestamp) {
  return `${formatShortInUtc(timestamp)} UTC`;
}

export function renderTime(timestamp) {
  return h("time", { datetime: timestamp, title: formatLocalAndUtc(timestamp) }, formatShort(timestamp));
}
