/** Building blocks of all pages: panels, figures, facts, headings, buttons and the load status. */

import { h, setText } from "./dom.js";
import { applyScope } from "./permissions.js";
import { linkTo } from "./router.js";

let serial = 0;

/** Render a titled section. `aside` stands at the end of the title. */
export function renderPanel(title, { aside = null, id = "", kind = "" } = {}, ...children) {
  const headingId = `heading-${(serial += 1)}`;
  const panel = h("section", { class: `panel ${kind}`.trim(), "aria-labelledby": headingId },
    h("div", { class: "panel-head" }, h("h2", { id: headingId, tabindex: "-1" }, title), aside), children);
  if (id) panel.id = id;
  return panel;
}

/** Create a labelled figure. `show(text, note, isZero)` updates it. `panelId` links to a panel of the page. */
export function createFigure(label, { href = null, panelId = null, tone = "" } = {}) {
  const value = h("span", { class: "figure-value" }, "–");
  const note = h("span", { class: "figure-note" });
  const node = h(href || panelId ? "a" : "div", {
    class: `figure zero ${tone}`.trim(), href: panelId ? `#${panelId}` : href,
  }, h("span", { class: "figure-label" }, label), value, note);
  if (panelId) node.addEventListener("click", (event) => focusPanel(event, panelId));
  return {
    node,
    show(text, noteText = "", isZero = false) {
      setText(value, text);
      setText(note, noteText);
      node.classList.toggle("zero", isZero);
    },
  };
}

/** Scroll by script, not by the address: the address names the page. */
function focusPanel(event, id) {
  event.preventDefault();
  const panel = document.getElementById(id);
  panel?.scrollIntoView({ block: "start" });
  panel?.querySelector("h2").focus({ preventScroll: true });
}

/** Render a name and its values for a list of facts. */
export function renderFact(name, ...values) {
  const present = values.filter(Boolean);
  return [h("dt", {}, name), h("dd", {}, present.flatMap((value, n) => (n ? [" ", value] : [value])))];
}

export function renderTaskLink(id, prefix = "") {
  return h("a", { class: "id", href: linkTo("task", String(id)) }, `${prefix}${String(id).slice(0, 8)}`);
}

export function renderPageHeading(title, subtitle, ...controls) {
  return h("div", { class: "page-head" },
    h("div", {}, h("h1", {}, title), subtitle ? h("p", { class: "muted" }, subtitle) : null),
    controls.length ? h("div", { class: "page-controls" }, controls) : null);
}

/** Render a segmented control. It consists of radio buttons, so that arrow keys move between them. */
export function renderSegments(legend, choices, initial, onChange) {
  const name = `segments-${(serial += 1)}`;
  const options = choices.map(([value, label]) => {
    const radio = h("input", {
      type: "radio", name, value, checked: value === initial, on: { change: () => onChange(value) },
    });
    return h("label", {}, radio, h("span", {}, label));
  });
  return h("fieldset", { class: "segments" }, h("legend", { class: "visually-hidden" }, legend), options);
}

/** Create the place where a page shows that it is loading, or why loading failed. */
export function createLoadStatus() {
  const node = h("div", { class: "load-status" });
  const loading = h("p", { class: "muted", role: "status" }, "Loading…");
  const message = h("p", {});
  const retryButton = h("button", { type: "button", class: "button" }, "Try again");
  const failure = h("div", { class: "notice blocked", role: "alert" }, message, retryButton);
  let retry = () => {};
  retryButton.addEventListener("click", () => retry());
  return {
    node,
    clear: () => node.replaceChildren(),
    showLoading: () => node.replaceChildren(loading),
    showFailure(error, onRetry) {
      retry = onRetry;
      setText(message, error.message);
      if (failure.parentNode !== node) node.replaceChildren(failure);
    },
  };
}

/** Render a button. With `scope`, it is enabled only if the token has that scope. */
export function renderButton(label, onClick, { kind = "", name = null, scope = null } = {}) {
  const button = h("button", {
    type: "button", class: `button ${kind}`.trim(), "aria-label": name, on: { click: onClick },
    data: scope ? { scope } : {},
  }, label);
  applyScope(button);
  return button;
}
