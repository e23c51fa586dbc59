/** Bars as SVG, each with a title, a description, and the same figures in a table beneath. */

import { h, said, svg } from "./dom.js";

const HEIGHT = 230;
const LEFT = 44;
const BOTTOM = 26;
const TOP = 8;
const NARROWEST = 160; // less is not yet laid out
const WIDEST = 48; // of one bar
const LABEL = 68; // the room that a label needs
const COLOURS = 8;
let serial = 0;

/**
 * `bars` are {label, parts: [{name, count}]}; `names` gives each part its colour, in this order.
 * It is drawn for the room it has, and anew when that changes: letters keep their size.
 */
export function barChart({ title, about, bars, names, unit = "failures" }) {
  const place = h("div", { class: "chart-place" });
  let drawnFor = 0;
  const room = new ResizeObserver(() => {
    const width = Math.round(place.clientWidth);
    if (width < NARROWEST || width === drawnFor) return;
    drawnFor = width;
    place.replaceChildren(drawn({ title, about, bars, names, width }));
  });
  room.observe(place);
  return h("figure", { class: "chart-frame" }, place, names.length > 1 ? legend(names) : null,
    asTable(title, bars, names, unit));
}

function drawn({ title, about, bars, names, width }) {
  const ticks = ticksUpTo(Math.max(1, ...bars.map((one) => sum(one.parts))));
  const y = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / ticks.at(-1));
  const step = (width - LEFT) / Math.max(1, bars.length);
  // As many labels as there is room for, the last one always.
  const every = Math.ceil((bars.length * LABEL) / (width - LEFT));
  const id = `chart-${(serial += 1)}`;
  return svg("svg", {
    class: "chart", viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img",
    "aria-labelledby": `${id}-title`, "aria-describedby": `${id}-desc`,
  }, named("title", `${id}-title`, title), named("desc", `${id}-desc`, about),
  ticks.map((value) => [
    svg("line", { class: "rule", x1: LEFT, x2: width, y1: y(value), y2: y(value) }),
    svg("text", { class: "axis", x: LEFT - 8, y: y(value) + 4, "text-anchor": "end" }, value.toLocaleString("en")),
  ]),
  bars.map((one, n) => {
    const isNamed = (bars.length - 1 - n) % every === 0;
    return column(one, { x: LEFT + n * step, step, y, names, isNamed });
  }));
}

function column({ label, parts }, { x, step, y, names, isNamed }) {
  const width = Math.min(WIDEST, step * 0.72);
  let below = 0;
  const blocks = parts.filter((one) => one.count > 0).map(({ name, count }) => {
    const from = y(below);
    below += count;
    return svg("rect", {
      class: colourOf(names, name), x: x + (step - width) / 2, width, y: y(below),
      height: Math.max(1, from - y(below)), rx: 2,
    }, named("title", "", `${label}: ${name}, ${count.toLocaleString("en")}`));
  });
  const place = { class: "axis", x: x + step / 2, y: HEIGHT - 8, "text-anchor": "middle" };
  return [blocks, isNamed ? svg("text", place, label) : null];
}

function named(tag, id, text) {
  const made = svg(tag, {}, text);
  if (id) made.id = id;
  return made;
}

function colourOf(names, name) {
  return `part-${(names.indexOf(name) % COLOURS) + 1}`;
}

function legend(names) {
  return h("ul", { class: "legend" }, names.map((name) =>
    h("li", {}, h("span", { class: `swatch ${colourOf(names, name)}` }), said(name))));
}

function asTable(title, bars, names, unit) {
  const isSplit = names.length > 1;
  const head = h("tr", {}, h("td", {}), names.map((name) => h("th", { scope: "col" }, said(name))),
    isSplit ? h("th", { scope: "col" }, "Total") : null);
  const rows = bars.map(({ label, parts }) => h("tr", {}, h("th", { scope: "row" }, label),
    names.map((name) => number(parts.find((one) => one.name === name)?.count || 0)),
    isSplit ? number(sum(parts)) : null));
  return h("details", { class: "figures-table" }, h("summary", {}, "Show as table"),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${title}, as a table` },
      h("table", {}, h("thead", {}, head), h("tbody", {}, rows))));
}

function number(value) {
  return h("td", { class: "number" }, value.toLocaleString("en"));
}

function sum(parts) {
  return parts.reduce((total, one) => total + one.count, 0);
}

/** Whole numbers that people count by, from 0 to at least `most`. */
function ticksUpTo(most) {
  const rough = most / 4;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  const step = [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough) || 1;
  return Array.from({ length: Math.ceil(most / step) + 1 }, (_, n) => n * step);
}
