/** Modal dialogs: confirmations, forms, information and progress. */

import { h, renderUserText } from "./dom.js";

let serial = 0;
const openDialogs = new Set();

/** Open a dialog. Resolves with the result of `getAnswer()` if confirmed, else with null. */
export function openDialog({ title, body = [], confirm, tone = "", getAnswer = () => true }) {
  const { dialog, form } = createDialog(title, body);
  const back = h("button", { type: "button", class: "button" }, "Back");
  const submit = h("button", { type: "submit", class: `button strong ${tone}` }, confirm);
  form.append(h("div", { class: "dialog-end" }, back, submit));
  back.addEventListener("click", () => dialog.close());
  return waitForAnswer(dialog, form, getAnswer);
}

/** Open a dialog that only informs. */
export function showInfo(title, body) {
  const { dialog, form } = createDialog(title, body);
  form.append(h("div", { class: "dialog-end" }, h("button", { type: "submit", class: "button" }, "Close")));
  return waitForAnswer(dialog, form, () => true);
}

function waitForAnswer(dialog, form, getAnswer) {
  return new Promise((resolve) => {
    let answer = null;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      answer = getAnswer();
      dialog.close();
    });
    dialog.addEventListener("close", () => {
      openDialogs.delete(dialog);
      dialog.remove();
      resolve(answer);
    });
    openDialogs.add(dialog);
    dialog.showModal();
  });
}

/** Close all dialogs without an answer, because the user left the page. */
export function closeDialogs() {
  for (const dialog of openDialogs) dialog.close();
}

/**
 * Show a dialog that stays open while work is in progress: Escape only requests a stop. Browsers close
 * it anyway when Escape is pressed twice; then it is shown again. Returns a function that allows closing.
 */
export function showBusyDialog(dialog, onStop) {
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

/** Create a dialog with a title and a form. The caller shows and closes it. */
export function createDialog(title, body) {
  const id = `dialog-${(serial += 1)}`;
  const form = h("form", {}, h("h2", { id }, title), body);
  const dialog = h("dialog", { "aria-labelledby": id }, form);
  document.body.append(dialog);
  return { dialog, form };
}

export function askConfirmation(title, text, confirm, tone) {
  return openDialog({ title, body: [h("p", {}, text)], confirm, tone });
}

export function askText(title, label, confirm) {
  const field = h("textarea", { rows: "3", maxlength: "1000", required: true });
  const body = [h("label", { class: "field" }, label, field)];
  return openDialog({ title, body, confirm, getAnswer: () => field.value });
}

/** `choices` are [value, label, explanation]. */
export function askChoice(title, choices, confirm) {
  const name = `choice-${serial}`;
  const options = choices.map(([value, label, explanation]) => {
    // No choice is preselected: the user must make one.
    const radio = h("input", { type: "radio", name, value, required: true });
    return h("label", { class: "choice" }, radio, h("span", {}, renderUserText(label, "strong"),
      explanation ? renderUserText(explanation, "span", "muted") : null));
  });
  const fieldset = h("fieldset", {}, h("legend", { class: "visually-hidden" }, title), options);
  const getAnswer = () => fieldset.querySelector("input:checked")?.value ?? null;
  return openDialog({ title, body: [fieldset], confirm, getAnswer });
}
