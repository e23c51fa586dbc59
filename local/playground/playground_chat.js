/** The chat: messages go to the console's webhook, and replies come from the outbox. */

const SENDER = "you";
const POLL_INTERVAL = 1000;
const MAX_MESSAGES = 200; // older messages are not shown
const STORED = "playground.chat";
const GREETING = "Hello! I send reminders and run tasks. Send /help, or try one of these:";
const EXAMPLES = ["/remind in 10s stretch", "/do in 5s tidy up the inbox", "/tasks"];

/** Create the chat. `onMessages` is called after new messages, `onReset` after the stack was emptied. */
export function createChat(tools, { onMessages, onReset }) {
  const { api, h, formatShortUtc, renderUserText, signal, syncRows } = tools;
  let { sent, receivedCount } = readStored();
  let received = [];
  let drawnJson = "";
  const log = h("ol", { class: "play-log", role: "log", "aria-label": "Messages", tabindex: "0" });
  const field = h("input", {
    id: "chat-text", type: "text", autocomplete: "off", placeholder: EXAMPLES[0], "aria-label": "Message",
    maxlength: "4000", enterkeyhint: "send",
  });
  const sendButton = h("button", { type: "submit", class: "button strong" }, "Send");
  const form = h("form", { class: "play-form", "aria-label": "Send a message" }, field, sendButton);
  const refresher = tools.createRefresher(load, 300);
  const timer = setInterval(refresher.request, POLL_INTERVAL);

  async function load() {
    try {
      const query = { channel: "console", target: SENDER };
      received = (await api.get("/_local/outbox", { query, signal })).items;
      if (received.length < receivedCount) reset();
      if (received.length !== receivedCount) onMessages();
      receivedCount = received.length;
      store();
      draw();
    } catch {
      // the clock and the board show that the stack is disconnected
    }
  }

  /** Forget the sent messages: the stack was restarted or emptied. */
  function reset() {
    sent = [];
    onReset();
  }

  function store() {
    sessionStorage.setItem(STORED, JSON.stringify({ sent, receivedCount }));
  }

  function draw() {
    // Formatted here, because the text also changes when the date does.
    const messages = mergeMessages(received, sent).map((message) => ({ ...message, time: formatShortUtc(message.at) }));
    const json = JSON.stringify(messages);
    if (json === drawnJson) return;
    const isAtEnd = log.scrollHeight - log.scrollTop - log.clientHeight < 60;
    drawnJson = json;
    const buttons = EXAMPLES.map((command) => ({ label: command, command }));
    syncRows(log, [{ key: "greeting", text: GREETING, buttons }, ...messages], (message) => message.key, createBubble);
    if (isAtEnd) log.scrollTop = log.scrollHeight;
  }

  function createBubble() {
    const node = h("li", {});
    return {
      node,
      show(message) {
        node.className = message.isSent ? "sent" : "received";
        node.replaceChildren(renderUserText(message.text, "p", "play-text"),
          h("div", { class: "play-buttons" }, (message.buttons || []).map(renderCommandButton)),
          message.at ? h("time", { class: "play-timestamp", datetime: message.at }, message.time) : "");
      },
    };
  }

  function renderCommandButton({ label, command }) {
    return h("button", { type: "button", class: "button", title: command, on: { click: () => send(command, label) } }, label);
  }

  /** Send a message, and show `label` in the chat. Resolves with whether it was sent. */
  async function send(text, label = text) {
    const message = { text: label, at: new Date(tools.now()).toISOString(), after: received.length };
    setSent([...sent, message].slice(-MAX_MESSAGES));
    try {
      await api.post("/webhooks/console", { sender_id: SENDER, reply_target: SENDER, text });
    } catch (error) {
      setSent(sent.filter((other) => other !== message));
      tools.showError(`Not sent. ${error.message}`);
      return false;
    }
    log.scrollTop = log.scrollHeight;
    refresher.request();
    return true;
  }

  function setSent(messages) {
    sent = messages;
    store();
    draw();
    log.scrollTop = log.scrollHeight;
  }

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = field.value.trim();
    field.value = "";
    if (text && !(await send(text)) && !field.value) field.value = text;
  });
  draw();
  refresher.request();
  const aside = h("span", { class: "count" }, `your sender ID is “${SENDER}”`);
  return {
    node: tools.renderPanel("Chat", { id: "chat", aside }, log, form),
    send,
    refresh: refresher.request,
    close() {
      clearInterval(timer);
      refresher.stop();
    },
  };
}

/** Merge sent and received messages in order: each sent one follows the messages received before it. */
function mergeMessages(received, sent) {
  const messages = [];
  let next = 0;
  for (let n = 0; n <= received.length; n += 1) {
    for (; next < sent.length && sent[next].after <= n; next += 1) {
      messages.push({ key: `sent-${next}`, isSent: true, text: sent[next].text, at: sent[next].at });
    }
    if (n < received.length) messages.push({ key: `received-${n}`, ...received[n], buttons: readButtons(received[n]) });
  }
  return messages.slice(-MAX_MESSAGES);
}

/** The outbox calls the command of a button `says`. */
function readButtons({ buttons = [] }) {
  return buttons.map(({ label, says: command }) => ({ label, command }));
}

function readStored() {
  const initial = { sent: [], receivedCount: 0 };
  try {
    return { ...initial, ...JSON.parse(sessionStorage.getItem(STORED)) };
  } catch {
    return initial;
  }
}
