/** Builds elements without markup. Every string becomes a text node, so no content can run as code. */

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = new Set(["checked", "disabled", "hidden", "indeterminate", "open", "value"]);
const ATTRIBUTES = new Set([
  "alt", "autocomplete", "class", "colspan", "datetime", "dir", "enterkeyhint", "for", "height",
  "id", "inputmode", "lang", "list", "max", "maxlength", "min", "minlength", "name", "placeholder",
  "rel", "required", "role", "rows", "scope", "spellcheck", "tabindex", "title", "type", "width",
]);
const SVG_ATTRIBUTES = new Set([
  "class", "cx", "cy", "d", "height", "preserveAspectRatio", "r", "role", "rx", "text-anchor",
  "transform", "viewBox", "width", "x", "x1", "x2", "y", "y1", "y2",
]);
// Only links within this page: no scheme, no other host.
const SAFE_LINK = /^#/;
const rowsByParent = new WeakMap();

/** Create an HTML element. `on` takes listeners, `data` the dataset; unknown attributes are ignored. */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) setAttribute(element, name, value);
  appendChildren(element, children);
  return element;
}

/** Create an SVG element. */
export function svg(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (SVG_ATTRIBUTES.has(name) || name.startsWith("aria-")) element.setAttribute(name, value);
  }
  appendChildren(element, children);
  return element;
}

function setAttribute(node, name, value) {
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

function appendChildren(node, children) {
  const present = children.flat(3).filter((child) => child !== null && child !== undefined && child !== false);
  node.append(...present.map((child) => (child instanceof Node ? child : String(child))));
}

/** Set the text of a node, only if it differs: unchanged text is neither redrawn nor read out again. */
export function setText(node, text) {
  if (node.textContent !== String(text)) node.textContent = text;
}

/**
 * Show `items` as children of `parent`, one per key. `createRow(item)` returns `{node, show}`. A row
 * whose item has not changed is not touched, so focus and selection stay.
 */
export function syncRows(parent, items, getKey, createRow) {
  preserveFocus(parent, () => arrangeRows(parent, items, getKey, createRow));
}

function arrangeRows(parent, items, getKey, createRow) {
  const rows = rowsByParent.get(parent) || new Map();
  rowsByParent.set(parent, rows);
  const itemsByKey = new Map(items.map((item) => [getKey(item), item]));
  for (const [key, row] of rows) {
    if (!itemsByKey.has(key)) {
      row.node.remove();
      rows.delete(key);
    }
  }
  let position = parent.firstChild;
  for (const [key, item] of itemsByKey) {
    const row = rows.get(key) || createRow(item);
    rows.set(key, row);
    const json = JSON.stringify(item);
    if (row.json !== json) row.show(item);
    row.json = json;
    if (row.node === position) position = position.nextSibling;
    else parent.insertBefore(row.node, position);
  }
}

/** Return a function that renders a value into `node`, only if the value has changed. */
export function createCachedView(node, render) {
  let lastJson;
  return (value) => {
    const json = JSON.stringify(value);
    if (json === lastJson) return;
    lastJson = json;
    preserveFocus(node, () => node.replaceChildren(
      ...[render(value)].flat(3).filter((child) => child !== null && child !== false)));
  };
}

/**
 * Keep the keyboard focus when `change` replaces nodes: on the same node, else on the node with the
 * same label, else on the heading of the section.
 */
function preserveFocus(node, change) {
  const focused = node.contains(document.activeElement) ? document.activeElement : null;
  change();
  if (!focused || document.activeElement === focused) return;
  const next = focused.isConnected ? focused : findSameLabel(node, focused) || findHeading(node);
  next?.focus({ preventScroll: true });
}

function findSameLabel(node, focused) {
  const label = focused.getAttribute("aria-label");
  return label && [...node.querySelectorAll(focused.localName)].find((other) => other.getAttribute("aria-label") === label);
}

function findHeading(node) {
  const section = node.closest("section") || document.getElementById("main");
  const heading = node.querySelector("h1") || section.querySelector("h2, h1");
  if (heading) heading.tabIndex = -1;
  return heading;
}

/** Render text from users or providers: it keeps its own direction and never widens the page. */
export function renderUserText(text, tag = "span", classes = "") {
  return h(tag, { class: `user-text ${classes}`.trim(), dir: "auto" }, text ?? "");
}
