/** The Dead letters page: inspect, redrive and drop messages that could not be processed. */

import { isAborted } from "./api.js";
import { askConfirmation, createDialog, showBusyDialog } from "./dialog.js";
import { h, renderUserText, setText, syncRows } from "./dom.js";
import { formatCount } from "./format.js";
import { createLoadStatus, renderButton, renderPageHeading, renderTaskLink } from "./panel.js";
import { createRefresher } from "./refresh.js";
import { renderRelativeTime } from "./time.js";
import { showError, showSuccess } from "./toast.js";

const REFRESH_INTERVAL = 5000;
const PAGE_SIZE = 50;
const CAUSES = {
  crash: "function crashed",
  timeout: "function timed out",
  throttle: "function throttled",
  unknown: "delivery attempts exhausted",
};

export function open(main, { api, signal }) {
  const status = createLoadStatus();
  const refresher = createRefresher(() => load(), REFRESH_INTERVAL);
  const list = h("ul", { class: "rows panel", id: "letters" });
  const emptyNode = h("div", { class: "empty panel" }, h("p", {}, "No dead letters"),
    h("p", { class: "muted" }, "Messages that could not be processed, and belong to no known task, appear here."));
  const tools = { api, onDone: refresher.requestNow };
  const redriveAllButton = renderButton("Redrive all…", () => redriveAll(tools, countText),
    { kind: "strong", scope: "admin" });
  const showMore = renderButton("Show more", () => {
    pageCount += 1;
    refresher.requestNow();
  });
  let pageCount = 1;
  let countText = "";
  emptyNode.hidden = true;

  async function load() {
    try {
      const letters = await loadLetters(api, pageCount, signal);
      syncRows(list, letters.items, (letter) => letter.id, () => createRow(tools));
      list.hidden = letters.items.length === 0;
      emptyNode.hidden = !list.hidden;
      const redrivable = letters.items.filter((letter) => letter.can_be_redriven).length;
      countText = formatCount(redrivable, "message") + (letters.next_cursor === null ? "" : " and all that follow");
      redriveAllButton.hidden = redrivable === 0;
      showMore.hidden = letters.next_cursor === null;
      status.clear();
    } catch (error) {
      if (!isAborted(error)) status.showFailure(error, refresher.requestNow);
    }
  }

  redriveAllButton.hidden = true;
  showMore.hidden = true;
  list.hidden = true;
  main.append(renderPageHeading("Dead letters", "Oldest first", redriveAllButton),
    status.node, list, emptyNode, showMore);
  status.showLoading();
  refresher.request();
  return { refresh: refresher.request, close: refresher.stop };
}

async function loadLetters(api, pageCount, signal) {
  const items = [];
  let cursor;
  for (let page = 0; page < pageCount && cursor !== null; page += 1) {
    const letters = await api.get("/dead-letters", { query: { cursor, limit: PAGE_SIZE }, signal });
    items.push(...letters.items);
    cursor = letters.next_cursor;
  }
  return { items, next_cursor: cursor };
}

function createRow(tools) {
  const node = h("li", { class: "row letter" });
  return { node, show: (letter) => node.replaceChildren(renderLetter(letter), renderActions(letter, tools)) };
}

function renderLetter(letter) {
  const details = [
    h("span", { class: "id" }, letter.queue), CAUSES[letter.cause], renderRelativeTime("past", letter.sent_at),
  ];
  if (letter.task_id) details.push(renderTaskLink(letter.task_id));
  const notes = [
    letter.body_cut && "Only the beginning is shown.",
    letter.was_cut && "The message was too long to store in full.",
  ];
  return h("div", { class: "row-main" },
    renderUserText(letter.reason || "could not be processed", "p", "row-title"),
    h("p", { class: "row-details" }, details.flatMap((detail, n) => (n ? [" · ", detail] : [detail]))),
    h("details", {}, h("summary", {}, "Show message"),
      h("pre", { tabindex: "0" }, formatBody(letter.body)),
      h("p", { class: "muted" }, notes.filter(Boolean).join(" "))));
}

function formatBody(body) {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

function renderActions(letter, tools) {
  const shortId = letter.id.slice(0, 8);
  return h("div", { class: "row-end" }, h("span", { class: "row-actions" },
    letter.can_be_redriven
      ? renderButton("Redrive", () => redrive(letter, tools), { name: `Redrive message ${shortId}`, scope: "admin" }) : null,
    renderButton("Drop…", () => drop(letter, tools), { kind: "danger", name: `Drop message ${shortId}`, scope: "admin" })));
}

async function redrive(letter, { api, onDone }) {
  try {
    const { redriven, left } = await api.post("/dead-letters/redrive", { ids: [letter.id] });
    if (redriven.length) showSuccess("Message redriven to its queue.");
    else showError(`Not redriven: ${left[0]?.reason || "the message no longer exists"}.`);
  } catch (error) {
    showError(error.message);
  }
  onDone();
}

async function drop(letter, { api, onDone }) {
  const text = "The message is deleted and never processed. This cannot be undone.";
  if (!(await askConfirmation("Drop this message?", text, "Drop", "danger"))) return;
  try {
    await api.post("/dead-letters/drop", { ids: [letter.id] });
    showSuccess("Message dropped.");
  } catch (error) {
    showError(error.message);
  }
  onDone();
}

/** Redrive in batches until a batch contains no new message. */
async function redriveAll({ api, onDone }, countText) {
  const text = "Each message goes back to its queue. Messages that fail again return here.";
  if (!(await askConfirmation(`Redrive ${countText}?`, text, "Redrive all"))) return;
  const line = h("p", { role: "status" }, "Redriving…");
  const { dialog, form } = createDialog("Redrive all", [h("progress", { "aria-label": "Redriving messages" }), line]);
  let isStopped = false;
  const stop = () => { isStopped = true; };
  form.append(h("div", { class: "dialog-end" }, renderButton("Stop", stop)));
  const allowClosing = showBusyDialog(dialog, stop);
  const redrivenIds = new Set();
  let remaining = [];
  try {
    for (let hasNew = true; hasNew && !isStopped;) {
      const result = await api.post("/dead-letters/redrive", {});
      hasNew = result.redriven.some((id) => !redrivenIds.has(id));
      for (const id of result.redriven) redrivenIds.add(id);
      remaining = result.left;
      setText(line, `${formatCount(redrivenIds.size, "message")} redriven…`);
    }
    showSuccess(`${formatCount(redrivenIds.size, "message")} redriven${remaining.length ? `, ${remaining.length} remain` : ""}.`);
  } catch (error) {
    showError(error.message);
  }
  allowClosing();
  dialog.close();
  dialog.remove();
  onDone();
}
