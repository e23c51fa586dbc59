/** Elements made without markup: whatever is shown is text, so nothing in it can run. */

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = new Set(["checked", "disabled", "hidden", "indeterminate", "open", "value"]);
const ATTRIBUTES = new Set([
  "alt", "autocomplete", "class", "colspan", "datetime", "dir", "enterkeyhint", "for", "height",
  "id", "inputmode", "lang", "list", "max", "maxlength", "min", "minlength", "name", "placeholder",
  "rel", "required", "role", "rows", "scope", "spellcheck", "tabindex", "title", "type", "width",
]);
const DRAWN = new Set([
  "class", "cx", "cy", "d", "height", "preserveAspectRatio", "r", "role", "rx", "text-anchor",
  "transform", "viewBox", "width", "x", "x1", "x2", "y", "y1", "y2",
]);
// Only places in this page: nothing with a scheme, nothing on another host.
const SAFE_LINK = /^#/;
const rowsOf = new WeakMap();

/** `on` takes listeners, `data` what goes into the dataset; of the rest, only what is known. */
export function h(tag, given, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(given || {})) set(made, name, value);
  add(made, children);
  return made;
}

export function svg(tag, given, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(given || {})) {
    if (DRAWN.has(name) || name.startsWith("aria-")) made.setAttribute(name, value);
  }
  add(made, children);
  return made;
}

function set(node, name, value) {
  if (value === null || value === undefined) return;
  if (name === "on") {
    for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
  } else if (name === "data") {
    Object.assign(node.dataset, value);
  } else if (PROPERTIES.has(name)) {
    node[name] = value;
  } else if (name === "href") {
    if (SAFE_LINK.test(value)) node.setAttribute("href", value);
  } else if ((ATTRIBUTES.has(name) || name.startsWith("aria-")) && value !== false) {
    node.setAttribute(name, value === true && !name.startsWith("aria-") ? "" : value);
  }
}

function add(node, children) {
  const shown = children.flat(3).filter((one) => one !== null && one !== undefined && one !== false);
  node.append(...shown.map((one) => (one instanceof Node ? one : String(one))));
}

/** The text of a node, touched only where it differs: what stays is neither drawn nor read anew. */
export function say(node, text) {
  if (node.textContent !== String(text)) node.textContent = text;
}

/**
 * Show `items` as children of `parent`, one for each key. `make(item)` gives `{node, show}`; a row
 * whose item is as it was is left alone, so that focus and selection stay where they are.
 */
export function keyed(parent, items, key, make) {
  keepingFocus(parent, () => arrange(parent, items, key, make));
}

function arrange(parent, items, key, make) {
  const rows = rowsOf.get(parent) || new Map();
  rowsOf.set(parent, rows);
  const wanted = new Map(items.map((item) => [key(item), item]));
  for (const [name, row] of rows) {
    if (!wanted.has(name)) {
      row.node.remove();
      rows.delete(name);
    }
  }
  let place = parent.firstChild;
  for (const [name, item] of wanted) {
    const row = rows.get(name) || make(item);
    rows.set(name, row);
    const shown = JSON.stringify(item);
    if (row.shown !== shown) row.show(item);
    row.shown = shown;
    if (row.node === place) place = place.nextSibling;
    else parent.insertBefore(row.node, place);
  }
}

/** A part of a page that is built anew only when what it shows has changed. */
export function memo(node, build) {
  let shown;
  return (value) => {
    const next = JSON.stringify(value);
    if (next === shown) return;
    shown = next;
    keepingFocus(node, () => node.replaceChildren(
      ...[build(value)].flat(3).filter((one) => one !== null && one !== false)));
  };
}

/**
 * Whoever goes by keys goes on from where they were: from the same node, from what is called the
 * same now, or else from the heading of what has lost it.
 */
function keepingFocus(node, change) {
  const held = node.contains(document.activeElement) ? document.activeElement : null;
  change();
  if (!held || document.activeElement === held) return;
  const next = held.isConnected ? held : namesake(node, held) || headingOf(node);
  next?.focus({ preventScroll: true });
}

function namesake(node, held) {
  const name = held.getAttribute("aria-label");
  return name && [...node.querySelectorAll(held.localName)].find((one) => one.getAttribute("aria-label") === name);
}

function headingOf(node) {
  const around = node.closest("section") || document.getElementById("main");
  const found = node.querySelector("h1") || around.querySelector("h2, h1");
  if (found) found.tabIndex = -1;
  return found;
}

/** What somebody wrote: its direction is its own, and it never widens the page. */
export function said(text, tag = "span", more = "") {
  return h(tag, { class: `said ${more}`.trim(), dir: "auto" }, text ?? "");
}
