/** Tasks that fail on purpose: actions whose provider follows a script. */

const CODE_ERROR = "TypeError: Cannot read properties of undefined (reading 'total') at src/invoice.ts:42:17";

/** Each `task` is a body for POST /tasks. `explanation` completes a sentence. */
const EXAMPLES = {
  transient: {
    label: "Recovers automatically",
    explanation: "two transient errors, retried after about 30 seconds and 2 minutes.",
    task: {
      description: "fetch the weather report",
      payload: { script: [
        { error: { message: "connect ECONNREFUSED", code: "ECONNREFUSED" } },
        { error: { message: "Too Many Requests, please slow down", status: 429 } },
        { reply: "Sunny, 24 degrees.\nACTION_OUTCOME: success" },
      ] },
    },
  },
  blocked: {
    label: "Needs a person",
    explanation: "it lacks a permission, so it is not retried and waits for your decision.",
    task: {
      description: "publish the newsletter",
      // A refused key would pause the provider of the other examples.
      payload: { script: [{ error: { message: "403 Forbidden: no permission to publish", status: 403 } }] },
    },
  },
  review: {
    label: "Unclear specification",
    explanation: "after three code errors, its specification is reviewed.",
    task: {
      description: "write the invoice page",
      payload: {
        spec: "The invoice page shows the total of all items.",
        script: [
          ...Array.from({ length: 3 }, () => ({ error: { message: CODE_ERROR, type: "TypeError" } })),
          { reply: "An invoice without items has the total 0.\nACTION_OUTCOME: success" },
        ],
      },
    },
  },
};

/** Create the panel with a button for each example. `onCreated` receives the id of the new task. */
export function createFailurePanel(tools, { onCreated }) {
  const { api, h, renderButton, renderPanel, setText, showError } = tools;
  const status = h("p", { class: "muted", role: "status" },
    "Each button creates a task that fails on purpose. Watch the board.");
  const buttons = Object.entries(EXAMPLES).map(([name, { label }]) => {
    const button = renderButton(label, () => createTask(name), { name: `Make something fail: ${label}`, scope: "write" });
    button.dataset.fail = name;
    return button;
  });

  async function createTask(name) {
    const { explanation, task } = EXAMPLES[name];
    const owner = { channel: "console", sender_id: "you", reply_target: "you" };
    const payload = { provider: "scripted", ...task.payload };
    try {
      const created = await api.post("/tasks", { type: "action", in: "1s", ...task, ...owner, payload });
      // Not a toast: it would cover the board.
      setText(status, `${created.short_id} will fail in a moment: ${explanation}`);
      onCreated(created.id);
    } catch (error) {
      showError(error.message);
    }
  }

  const aside = h("div", { class: "play-examples" }, buttons);
  return { node: renderPanel("Make something fail", { id: "make-fail", aside }, status), createTask };
}
