/** The sign-in form. */

import { h, setText } from "./dom.js";
import { isSendable } from "./session.js";

const INVALID_CHARACTERS =
  "A token contains only ASCII letters, digits and punctuation. Check the token and your keyboard layout.";

/** Show the form. `onToken` receives the token; `reason` says why the last token was rejected. */
export function showSignIn(container, { reason, onToken }) {
  const field = h("input", {
    id: "token", type: "password", autocomplete: "current-password", required: true, spellcheck: "false",
  });
  const error = h("p", { class: "notice blocked", role: "alert", hidden: !reason }, reason);
  const form = h("form", { class: "panel sign-in", "aria-labelledby": "sign-in-title" },
    h("h1", { id: "sign-in-title" }, "Sign in"),
    error,
    h("label", { class: "field", for: "token" }, "Token"), field,
    h("button", { type: "submit", class: "button strong" }, "Sign in"),
    renderHelp());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (isSendable(text)) {
      onToken(text);
    } else if (text) {
      setText(error, INVALID_CHARACTERS);
      error.hidden = false;
    }
  });
  container.dataset.page = "sign-in";
  container.replaceChildren(form);
  field.focus();
}

function renderHelp() {
  return h("div", { class: "muted help" },
    h("p", {}, "Local stack: ", h("code", {}, "make up"), " prints the token. The default is ",
      h("code", {}, "local"), "."),
    h("p", {}, "Deployed stack: an operator creates a token with ",
      h("code", {}, "duecourse token dashboard --scope write --secret …"),
      ". The scope read shows everything, write also changes tasks, admin allows the rest."),
    h("p", {}, "The token is stored in this tab and in tabs you open from it, until you close them or sign out."));
}
