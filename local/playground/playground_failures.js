/** Things that fail on purpose: actions whose provider follows a script. */

const CODE_ERROR = "TypeError: Cannot read properties of undefined (reading 'total') at src/invoice.ts:42:17";

/** Each is what POST /tasks takes, and what somebody will see; `about` goes on a sentence. */
const KINDS = {
  transient: {
    label: "Recovers automatically",
    about: "two transient errors, retried after about 30 seconds and 2 minutes.",
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
    about: "one retry after two minutes, then it waits for your decision.",
    task: {
      description: "publish the newsletter",
      max_retries: 1,
      payload: { script: [{ error: { message: "401 Unauthorized: the API key was revoked", status: 401 } }] },
    },
  },
  review: {
    label: "Unclear specification",
    about: "after three code errors, its specification is reviewed.",
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
  const { api, h, button, say } = tools;
  const told = h("p", { class: "quiet", role: "status" }, "Each button creates a task that fails on purpose. Watch the board.");
  const ways = Object.entries(KINDS).map(([kind, { label }]) => {
    const made = button(label, () => make(kind), { name: `Make something fail: ${label}` });
    made.dataset.fail = kind;
    return made;
  });

  async function make(kind) {
    const { about, task } = KINDS[kind];
    const owner = { channel: "console", sender_id: "you", reply_target: "you" };
    const payload = { provider: "scripted", ...task.payload };
    try {
      const made = await api.post("/tasks", { type: "action", in: "1s", ...task, ...owner, payload });
      // Not in a corner: that would lie over the board.
      say(told, `${made.short_id} will fail in a moment: ${about}`);
      onMade(made.id);
    } catch (error) {
      tools.warn(error.message);
    }
  }

  const aside = h("div", { class: "play-ways" }, ways);
  return { node: tools.panel("Make something fail", { id: "make-fail", aside }, told), make };
}
