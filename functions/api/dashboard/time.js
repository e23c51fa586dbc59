/** Times in words, and the one ticker behind everything that counts down. */

import { now, onTick } from "./clock.js";
import { h, say } from "./dom.js";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SOON = 90 * SECOND; // what is due is found by the next tick of the scanner
const DATE = { day: "numeric", month: "short" };
const CLOCK = { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" };
const full = new Intl.DateTimeFormat(undefined, {
  ...DATE, ...CLOCK, weekday: "short", year: "numeric", timeZoneName: "short",
});

/** "4 min 05 s": two units at most, so that it does not dance. */
export function length(ms) {
  const two = (number) => String(number).padStart(2, "0");
  const of = (unit, whole) => Math.floor((ms % whole) / unit);
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min ${two(of(SECOND, MINUTE))} s`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h ${two(of(MINUTE, HOUR))} min`;
  return `${Math.floor(ms / DAY)} d ${of(HOUR, DAY)} h`;
}

/** A short measure, such as of a run: "240 ms", "3.2 s". */
export function took(ms) {
  if (ms < SECOND) return `${Math.round(ms)} ms`;
  return ms < MINUTE ? `${(ms / SECOND).toFixed(1)} s` : length(ms);
}

/** Of settings: "30 s", "5 min", "1 h". */
export function seconds(count) {
  return length(count * SECOND).replace(/ 0+ \w+$/, "");
}

function until(instant) {
  const left = instant - now();
  if (left > 0) return `in ${length(Math.ceil(left / SECOND) * SECOND)}`;
  return left > -SOON ? "due now" : `${length(-left)} late`;
}

/** Of what is found by a sweep, some minutes later. */
function end(instant) {
  return instant > now() ? until(instant) : "soon";
}

function since(instant) {
  const gone = now() - instant;
  return gone < SECOND ? "just now" : `${length(gone)} ago`;
}

function running(instant) {
  return `for ${length(Math.max(0, now() - instant))}`;
}

const KINDS = { until, end, since, running };

/** A time that keeps telling how far away it is. Its own text is all that ever changes. */
export function ticking(kind) {
  const node = h("time", { class: "ticking", data: { tick: kind } });
  return { node, show: (text) => point(node, text) };
}

export function tickingAt(kind, text) {
  const { node, show } = ticking(kind);
  show(text);
  return node;
}

function point(node, text) {
  if (!text) {
    node.removeAttribute("datetime");
    say(node, "");
    return;
  }
  node.setAttribute("datetime", text);
  node.title = both(text);
  say(node, KINDS[node.dataset.tick](Date.parse(text)));
}

onTick(() => {
  for (const node of document.querySelectorAll("time[data-tick][datetime]")) {
    say(node, KINDS[node.dataset.tick](Date.parse(node.dateTime)));
  }
});

export function local(text) {
  return full.format(Date.parse(text));
}

export function utc(text) {
  return `${new Date(text).toISOString().slice(0, 19).replace("T", " ")} UTC`;
}

export function both(text) {
  return `${local(text)} · ${utc(text)}`;
}

/** The hour alone today, otherwise with its day; `timeZone` is the browser's own unless given. */
function shortIn(timeZone) {
  const clockTime = new Intl.DateTimeFormat(undefined, { ...CLOCK, timeZone });
  const day = new Intl.DateTimeFormat(undefined, { ...DATE, timeZone });
  const date = new Intl.DateTimeFormat(undefined, { ...DATE, year: "numeric", timeZone });
  return (text) => {
    const at = Date.parse(text);
    const isToday = date.format(now()) === date.format(at);
    return isToday ? clockTime.format(at) : `${day.format(at)}, ${clockTime.format(at).slice(0, 5)}`;
  };
}

export const short = shortIn();

const shortInUtc = shortIn("UTC");

/** For a place beside a clock in UTC. */
export function shortUtc(text) {
  return `${shortInUtc(text)} UTC`;
}

export function at(text) {
  return h("time", { datetime: text, title: both(text) }, short(text));
}
