/** The chat with the scheduler: what you say goes in as the console's webhook, answers come by the outbox. */

const YOU = "you";
const EVERY = 1000;
const SHOWN = 200; // of a long talk, the end
const KEPT = "playground.said";
const HELLO = "Hello! I send reminders and run tasks. Send /help, or try one of these:";
const FIRST = ["/remind in 10s stretch", "/do in 5s tidy up the inbox", "/tasks"];

export function chat(tools, { onHeard, onAnew }) {
  const { api, h, keyed, said, shortUtc, signal } = tools;
  let { mine, seen } = remembered();
  let heard = [];
  let shown = "";
  const log = h("ol", { class: "play-log", role: "log", "aria-label": "Messages", tabindex: "0" });
  const field = h("input", {
    id: "chat-text", type: "text", autocomplete: "off", placeholder: "/remind in 10s stretch", "aria-label": "Message",
    maxlength: "4000", enterkeyhint: "send",
  });
  const send = h("button", { type: "submit", class: "button strong" }, "Send");
  const form = h("form", { class: "play-say", "aria-label": "Send a message" }, field, send);
  const asking = tools.refresher(read, 300);
  const timer = setInterval(asking.poke, EVERY);

  async function read() {
    try {
      const query = { channel: "console", target: YOU };
      heard = (await api.get("/_local/outbox", { query, signal })).items;
      if (heard.length < seen) beginAnew();
      seen = heard.length;
      keep();
      draw();
    } catch {
      // the clock and the board say that nobody answers
    }
  }

  /** A stack that was started anew, or emptied, knows nothing of what was said before. */
  function beginAnew() {
    mine = [];
    onAnew();
  }

  function keep() {
    sessionStorage.setItem(KEPT, JSON.stringify({ mine, seen }));
  }

  function draw() {
    // What was today may be another day by now.
    const talk = woven(heard, mine).map((one) => ({ ...one, when: shortUtc(one.at) }));
    const next = JSON.stringify(talk);
    onHeard(heard);
    if (next === shown) return;
    const wasAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
    shown = next;
    keyed(log, [{ key: "hello", text: HELLO, buttons: FIRST.map((one) => ({ label: one, says: one })) }, ...talk],
      (one) => one.key, bubble);
    if (wasAtEnd) log.scrollTop = log.scrollHeight;
  }

  function bubble() {
    const node = h("li", {});
    return {
      node,
      show(one) {
        node.className = one.isMine ? "mine" : "theirs";
        node.replaceChildren(said(one.text, "p", "play-text"),
          h("div", { class: "play-buttons" }, (one.buttons || []).map(pressed)),
          one.at ? h("time", { class: "play-at", datetime: one.at }, one.when) : "");
      },
    };
  }

  function pressed({ label, says }) {
    return h("button", { type: "button", class: "button", title: says, on: { click: () => say(says, label) } }, label);
  }

  /** A button says a command; what is shown of it is its label. Gives whether it was taken. */
  async function say(text, label = text) {
    const own = { text: label, at: new Date(tools.now()).toISOString(), after: heard.length };
    showMine([...mine, own].slice(-SHOWN));
    try {
      await api.post("/webhooks/console", { sender_id: YOU, reply_target: YOU, text });
    } catch (error) {
      showMine(mine.filter((one) => one !== own));
      tools.warn(`Not sent. ${error.message}`);
      return false;
    }
    log.scrollTop = log.scrollHeight;
    asking.poke();
    return true;
  }

  function showMine(next) {
    mine = next;
    keep();
    draw();
    log.scrollTop = log.scrollHeight;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = field.value.trim();
    field.value = "";
    if (text && !(await say(text)) && !field.value) field.value = text;
  });
  draw();
  asking.poke();
  const node = tools.panel("Chat", { id: "chat", aside: h("span", { class: "tally" }, "your sender ID is “you”") }, log, form);
  return {
    node, say,
    poke: asking.poke,
    close() {
      clearInterval(timer);
      asking.stop();
    },
  };
}

/** What was said and what was answered, in the order it happened. */
function woven(heard, mine) {
  const talk = [];
  let own = 0;
  for (let n = 0; n <= heard.length; n += 1) {
    for (; own < mine.length && mine[own].after <= n; own += 1) {
      talk.push({ key: `mine-${own}`, isMine: true, text: mine[own].text, at: mine[own].at });
    }
    if (n < heard.length) talk.push({ key: `theirs-${n}`, ...heard[n] });
  }
  return talk.slice(-SHOWN);
}

function remembered() {
  const nothing = { mine: [], seen: 0 };
  try {
    return { ...nothing, ...JSON.parse(sessionStorage.getItem(KEPT)) };
  } catch {
    return nothing;
  }
}
