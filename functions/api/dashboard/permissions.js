/** What the token may do. The API decides; buttons that it would refuse are disabled here. */

const SCOPES = ["read", "write", "admin"];
let current = null; // unknown until the API has answered: then nothing is enabled

/** Set the token's scope, and enable the buttons on the page that it allows. */
export function setScope(scope) {
  current = scope;
  for (const button of document.querySelectorAll("button[data-scope]")) applyScope(button);
}

/** Disable the button unless the token has its scope. A button without a scope is left alone. */
export function applyScope(button) {
  const needed = button.dataset.scope;
  if (!needed) return;
  button.disabled = SCOPES.indexOf(current) < SCOPES.indexOf(needed);
  button.title = button.disabled && current ? `Your token has the scope ${current}. This needs ${needed}.` : "";
}
