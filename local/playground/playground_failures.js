/** Things that fail on purpose: actions whose provider follows a script. */

const CODE_ERROR = "TypeError: Cannot read properties of undefined (reading 'total') at src/invoice.ts:42:17";

/** Each is what POST /tasks takes, and what somebody will see. */
const KINDS = {
  transient: {
    label: "Recovers by itself",
    about: "Two network errors, then success. The first retry comes after about 30 seconds.",
    task: {
      description: "fetch the weather report",
      payload: { script: [
        { error: { message: "connect ECONNREFUSED 10.0.0.5:443", code: "ECONNREFUSED" } },
        { error: { message: "Too Many Requests, please slow down", status: 429 } },
        { reply: "Sunny, 24 degrees.\nACTION_OUTCOME: success" },
      ] },
    },
  },
  blocked: {
    label: "Needs a person",
    about: "It fails, is tried once more, and then waits for your decision.",
    task: {
      description: "publish the newsletter",
      max_retries: 1,
      payload: { script: [{ error: { message: "401 Unauthorized: the API key was revoked", status: 401 } }] },
    },
  },
  review: {
    label: "Asks for a clearer specification",
    about: "Three errors in the code: its specification is reviewed, and it goes on with the answer.",
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

export function failures(tools, { onMade }) {
  const { api, h, button } = tools;
  const rows = Object.entries(KINDS).map(([kind, { label, about }]) => {
    const made = button("Make it fail", () => make(kind), { name: `Make something fail: ${label}` });
    made.dataset.fail = kind;
    return h("li", { class: "row" },
      h("div", { class: "row-main" }, h("span", { class: "row-title" }, label), h("p", { class: "row-about" }, about)),
      h("div", { class: "row-end" }, made));
  });

  async function make(kind) {
    const { task } = KINDS[kind];
    const owner = { channel: "console", sender_id: "you", reply_target: "you" };
    const payload = { provider: "scripted", ...task.payload };
    try {
      const made = await api.post("/tasks", { type: "action", in: "1s", ...task, ...owner, payload });
      tools.tell(`Task ${made.short_id} will fail in a moment: watch the board.`);
      onMade(made.id);
    } catch (error) {
      tools.warn(error.message);
    }
  }

  return { node: tools.panel("Make something fail", { id: "make-fail" }, h("ul", { class: "rows" }, rows)), make };
}
