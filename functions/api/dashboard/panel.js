/** The parts that every page is made of: titled sections, figures, and how it stands with reading. */

import { h, say } from "./dom.js";
import { linkTo } from "./router.js";

let serial = 0;

/** A titled section; `aside` stands at the end of its title. */
export function panel(title, { aside = null, id = "", kind = "" } = {}, ...children) {
  const heading = `heading-${(serial += 1)}`;
  const made = h("section", { class: `panel ${kind}`.trim(), "aria-labelledby": heading },
    h("div", { class: "panel-head" }, h("h2", { id: heading, tabindex: "-1" }, title), aside), children);
  if (id) made.id = id;
  return made;
}

/** A figure with its name: `show(value, note)` changes it in place. `of` is the id of its panel. */
export function figure(label, { href = null, of = null, tone = "" } = {}) {
  const value = h("span", { class: "figure-value" }, "–");
  const about = h("span", { class: "figure-note" });
  const node = h(href || of ? "a" : "div", { class: `figure calm ${tone}`.trim(), href: of ? `#${of}` : href },
    h("span", { class: "figure-label" }, label), value, about);
  if (of) node.addEventListener("click", (event) => lookAt(event, of));
  return {
    node,
    show(text, noted = "", isCalm = false) {
      say(value, text);
      say(about, noted);
      node.classList.toggle("calm", isCalm);
    },
  };
}

/** Not by the address, which says what page this is. */
function lookAt(event, id) {
  event.preventDefault();
  const there = document.getElementById(id);
  there?.scrollIntoView({ block: "start" });
  there?.querySelector("h2").focus({ preventScroll: true });
}

/** A term and what is so, for a list of facts. */
export function fact(name, ...shown) {
  const parts = shown.filter(Boolean);
  return [h("dt", {}, name), h("dd", {}, parts.flatMap((one, n) => (n ? [" ", one] : [one])))];
}

export function taskLink(id, before = "") {
  return h("a", { class: "id", href: linkTo("task", String(id)) }, `${before}${String(id).slice(0, 8)}`);
}

export function heading(title, about, ...end) {
  return h("div", { class: "page-head" },
    h("div", {}, h("h1", {}, title), about ? h("p", { class: "quiet" }, about) : null),
    end.length ? h("div", { class: "page-end" }, end) : null);
}

/** One of a few, side by side: radio buttons, so that arrow keys move among them. */
export function segments(legend, choices, chosen, onChange) {
  const name = `segments-${(serial += 1)}`;
  const options = choices.map(([value, label]) => {
    const radio = h("input", {
      type: "radio", name, value, checked: value === chosen, on: { change: () => onChange(value) },
    });
    return h("label", {}, radio, h("span", {}, label));
  });
  return h("fieldset", { class: "segments" }, h("legend", { class: "unseen" }, legend), options);
}

/** Where a page says that it is being read, or why it could not be. */
export function standing() {
  const node = h("div", { class: "standing" });
  const reading = h("p", { class: "quiet", role: "status" }, "Loading…");
  const words = h("p", {});
  const again = h("button", { type: "button", class: "button" }, "Try again");
  const trouble = h("div", { class: "notice blocked", role: "alert" }, words, again);
  let retry = () => {};
  again.addEventListener("click", () => retry());
  return {
    node,
    read: () => node.replaceChildren(),
    reading: () => node.replaceChildren(reading),
    failed(error, onRetry) {
      retry = onRetry;
      say(words, error.message);
      if (trouble.parentNode !== node) node.replaceChildren(trouble);
    },
  };
}

export function button(label, onClick, { kind = "", name = null } = {}) {
  return h("button", {
    type: "button", class: `button ${kind}`.trim(), "aria-label": name, on: { click: onClick },
  }, label);
}
