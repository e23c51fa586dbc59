/** The form that asks for a token, where none was given or the one given is not taken. */

import { h, say } from "./dom.js";
import { canBeSent } from "./session.js";

const ODD = "A token contains only ASCII letters, digits and punctuation. Check the token and your keyboard layout.";

/** `onToken` hears what was typed. `why` is a sentence on what was wrong before. */
export function signIn(container, { why, onToken }) {
  const field = h("input", {
    id: "token", type: "password", autocomplete: "current-password", required: true, spellcheck: "false",
  });
  const wrong = h("p", { class: "notice blocked", role: "alert", hidden: !why }, why);
  const form = h("form", { class: "panel sign-in", "aria-labelledby": "sign-in-title" },
    h("h1", { id: "sign-in-title" }, "Sign in"),
    wrong,
    h("label", { class: "field", for: "token" }, "Token"), field,
    h("button", { type: "submit", class: "button strong" }, "Sign in"),
    h("div", { class: "quiet about" },
      h("p", {}, "Local stack: ", h("code", {}, "make up"),
        " prints the token. The default is ", h("code", {}, "local"), "."),
      h("p", {}, "Deployed stack: an operator creates a token with ",
        h("code", {}, "duecourse token dashboard --scope write --secret …"),
        ". The scope read shows everything, write also changes tasks, admin allows the rest."),
      h("p", {}, "The token is stored in this tab and in tabs you open from it, until you close them or sign out.")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = field.value.trim();
    if (canBeSent(text)) {
      onToken(text);
    } else if (text) {
      say(wrong, ODD);
      wrong.hidden = false;
    }
  });
  container.dataset.page = "sign-in";
  container.replaceChildren(form);
  field.focus();
}
