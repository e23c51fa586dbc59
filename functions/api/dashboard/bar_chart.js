/** Bar charts as SVG, each with a title, a description, and the same data as a table. */

import { h, renderUserText, svg } from "./dom.js";
import { formatNumber } from "./format.js";

const HEIGHT = 230;
const LEFT = 44;
const BOTTOM = 26;
const TOP = 8;
const MIN_WIDTH = 160; // a smaller width means that the layout is not complete
const MAX_BAR_WIDTH = 48;
const LABEL_WIDTH = 68;
const COLOURS = 8;
let serial = 0;

/**
 * Render a chart. `bars` are {label, parts: [{name, count}]}; `names` assigns the colours in order. The
 * chart is drawn again when its width changes, so that text keeps its size.
 */
export function renderBarChart({ title, description, bars, names }) {
  const container = h("div", { class: "chart-container" });
  let drawnWidth = 0;
  const observer = new ResizeObserver(() => {
    const width = Math.round(container.clientWidth);
    if (width < MIN_WIDTH || width === drawnWidth) return;
    drawnWidth = width;
    container.replaceChildren(drawChart({ title, description, bars, names, width }));
  });
  observer.observe(container);
  return h("figure", { class: "chart-frame" }, container, names.length > 1 ? renderLegend(names) : null,
    renderDataTable(title, bars, names));
}

function drawChart({ title, description, bars, names, width }) {
  const ticks = computeTicks(Math.max(1, ...bars.map((bar) => sumCounts(bar.parts))));
  const scaleY = (value) => TOP + (HEIGHT - TOP - BOTTOM) * (1 - value / ticks.at(-1));
  const step = (width - LEFT) / Math.max(1, bars.length);
  // As many labels as fit, always including the last.
  const labelInterval = Math.ceil((bars.length * LABEL_WIDTH) / (width - LEFT));
  const id = `chart-${(serial += 1)}`;
  return svg("svg", {
    class: "chart", viewBox: `0 0 ${width} ${HEIGHT}`, width, height: HEIGHT, role: "img",
    "aria-labelledby": `${id}-title`, "aria-describedby": `${id}-desc`,
  }, drawText("title", `${id}-title`, title), drawText("desc", `${id}-desc`, description),
  ticks.map((value) => [
    svg("line", { class: "rule", x1: LEFT, x2: width, y1: scaleY(value), y2: scaleY(value) }),
    svg("text", { class: "axis", x: LEFT - 8, y: scaleY(value) + 4, "text-anchor": "end" }, formatNumber(value)),
  ]),
  bars.map((bar, n) => {
    const hasLabel = (bars.length - 1 - n) % labelInterval === 0;
    return drawBar(bar, { x: LEFT + n * step, step, scaleY, names, hasLabel });
  }));
}

function drawBar({ label, parts }, { x, step, scaleY, names, hasLabel }) {
  const width = Math.min(MAX_BAR_WIDTH, step * 0.72);
  let total = 0;
  const blocks = parts.filter((part) => part.count > 0).map(({ name, count }) => {
    const bottom = scaleY(total);
    total += count;
    return svg("rect", {
      class: getColourClass(names, name), x: x + (step - width) / 2, width, y: scaleY(total),
      height: Math.max(1, bottom - scaleY(total)), rx: 2,
    }, drawText("title", "", `${label}: ${name}, ${formatNumber(count)}`));
  });
  const position = { class: "axis", x: x + step / 2, y: HEIGHT - 8, "text-anchor": "middle" };
  return [blocks, hasLabel ? svg("text", position, label) : null];
}

function drawText(tag, id, text) {
  const node = svg(tag, {}, text);
  if (id) node.id = id;
  return node;
}

function getColourClass(names, name) {
  return `series-${(names.indexOf(name) % COLOURS) + 1}`;
}

function renderLegend(names) {
  return h("ul", { class: "legend" }, names.map((name) =>
    h("li", {}, h("span", { class: `swatch ${getColourClass(names, name)}` }), renderUserText(name))));
}

function renderDataTable(title, bars, names) {
  const hasTotal = names.length > 1;
  const head = h("tr", {}, h("td", {}), names.map((name) => h("th", { scope: "col" }, renderUserText(name))),
    hasTotal ? h("th", { scope: "col" }, "Total") : null);
  const rows = bars.map(({ label, parts }) => h("tr", {}, h("th", { scope: "row" }, label),
    names.map((name) => renderNumberCell(parts.find((part) => part.name === name)?.count || 0)),
    hasTotal ? renderNumberCell(sumCounts(parts)) : null));
  return h("details", { class: "chart-table" }, h("summary", {}, "Show as table"),
    h("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `${title}, as a table` },
      h("table", {}, h("thead", {}, head), h("tbody", {}, rows))));
}

function renderNumberCell(value) {
  return h("td", { class: "number" }, formatNumber(value));
}

function sumCounts(parts) {
  return parts.reduce((total, part) => total + part.count, 0);
}

/** Return round numbers from 0 to at least `max`. */
function computeTicks(max) {
  const rough = max / 4;
  const power = 10 ** Math.floor(Math.log10(Math.max(1, rough)));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= rough) || 1;
  return Array.from({ length: Math.ceil(max / step) + 1 }, (_, n) => n * step);
}
