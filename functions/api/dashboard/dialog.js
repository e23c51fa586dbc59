/** Questions that must be answered before something happens, each in a <dialog>. */

import { h, said } from "./dom.js";

let serial = 0;
const questions = new Set();

/** Resolves with what `answer()` gives once confirmed, or with null. */
export function ask({ title, body = [], confirm, tone = "", answer = () => true }) {
  const { dialog, form } = frame(title, body);
  const no = h("button", { type: "button", class: "button" }, "Back");
  const yes = h("button", { type: "submit", class: `button strong ${tone}` }, confirm);
  form.append(h("div", { class: "dialog-end" }, no, yes));
  no.addEventListener("click", () => dialog.close());
  return answered(dialog, form, answer);
}

/** Says something that needs no answer. */
export function inform(title, body) {
  const { dialog, form } = frame(title, body);
  form.append(h("div", { class: "dialog-end" }, h("button", { type: "submit", class: "button" }, "Close")));
  return answered(dialog, form, () => true);
}

function answered(dialog, form, answer) {
  return new Promise((resolve) => {
    let given = null;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      given = answer();
      dialog.close();
    });
    dialog.addEventListener("close", () => {
      questions.delete(dialog);
      dialog.remove();
      resolve(given);
    });
    questions.add(dialog);
    dialog.showModal();
  });
}

/** Whoever leaves a page leaves its questions unanswered. */
export function closeQuestions() {
  for (const dialog of questions) dialog.close();
}

/**
 * Shows a dialog that stays while work goes on: Escape only asks to stop. Browsers close it all the
 * same when Escape is pressed once more; then it is shown again. Gives what lets it be closed.
 */
export function showWhileBusy(dialog, onStop) {
  let isBusy = true;
  dialog.addEventListener("cancel", (event) => {
    if (!isBusy) return;
    event.preventDefault();
    onStop();
  });
  dialog.addEventListener("close", () => {
    if (!isBusy || dialog.open) return;
    onStop();
    dialog.showModal();
  });
  dialog.showModal();
  return () => { isBusy = false; };
}

/** A dialog that stays while work goes on; its caller closes it. */
export function frame(title, body) {
  const id = `dialog-${(serial += 1)}`;
  const form = h("form", {}, h("h2", { id }, title), body);
  const dialog = h("dialog", { "aria-labelledby": id }, form);
  document.body.append(dialog);
  return { dialog, form };
}

export function confirmed(title, text, confirm, tone) {
  return ask({ title, body: [h("p", {}, text)], confirm, tone });
}

export function askText(title, label, confirm) {
  const field = h("textarea", { rows: "3", maxlength: "1000", required: true });
  const body = [h("label", { class: "field" }, label, field)];
  return ask({ title, body, confirm, answer: () => field.value });
}

/** `choices` are [value, label, explanation]. */
export function askChoice(title, choices, confirm) {
  const name = `choice-${serial}`;
  const options = choices.map(([value, label, about]) => {
    // None is chosen beforehand: what somebody only confirms, nobody has answered.
    const radio = h("input", { type: "radio", name, value, required: true });
    return h("label", { class: "choice" }, radio,
      h("span", {}, said(label, "strong"), about ? said(about, "span", "quiet") : null));
  });
  const field = h("fieldset", {}, h("legend", { class: "unseen" }, title), options);
  const chosen = () => field.querySelector("input:checked")?.value ?? null;
  return ask({ title, body: [field], confirm, answer: chosen });
}
