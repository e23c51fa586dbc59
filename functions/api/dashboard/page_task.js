/** The page of one task: its status, actions, runs, history and facts. */

import { createActionButtons } from "./actions.js";
import { buildTaskPath, isAborted } from "./api.js";
import { createCachedView, h } from "./dom.js";
import { createLoadStatus } from "./panel.js";
import { createRefresher } from "./refresh.js";
import { linkTo } from "./router.js";
import { createRunTimeline } from "./run_timeline.js";
import { createTaskHistory } from "./task_history.js";
import {
  renderDescription, renderFacts, renderGuidance, renderHeader, renderNotice, renderPayload,
} from "./task_sections.js";

const REFRESH_INTERVAL = 1500;
const NOT_FOUND = 404;

export function open(main, { api, signal, segments }) {
  const id = segments[0] || "";
  if (!id) {
    showNotFound(main);
    return {};
  }
  const status = createLoadStatus();
  const refresher = createRefresher(load, REFRESH_INTERVAL);
  const sections = createSections(createActionButtons({ api, onDone: refresher.requestNow }));
  let taskId = null; // `id` may be only the beginning of it

  async function load() {
    try {
      const task = await api.get(buildTaskPath(id), { signal });
      const [runs, errors, events] = await Promise.all(
        ["runs", "errors", "history"].map((route) => api.get(buildTaskPath(id, route), { signal })));
      taskId = task.id;
      document.title = `${task.description.slice(0, 60)} · Duecourse`;
      sections.show({ task, runs: runs.items, errors: errors.items, events: events.items });
      status.clear();
    } catch (error) {
      handleError(error);
    }
  }

  function handleError(error) {
    if (isAborted(error)) return;
    if (error.status !== NOT_FOUND) {
      status.showFailure(error, refresher.requestNow);
      return;
    }
    refresher.stop();
    showNotFound(main);
  }

  main.append(h("p", { class: "breadcrumb" }, h("a", { href: linkTo("tasks") }, "Tasks")), status.node, sections.node);
  status.showLoading();
  refresher.request();
  return {
    refresh: refresher.request,
    handleEvent: (event) => { if (event.task_id === taskId) refresher.request(); },
    close: refresher.stop,
  };
}

function showNotFound(main) {
  document.title = "Task not found · Duecourse";
  main.replaceChildren(h("div", { class: "empty" }, h("h1", {}, "Task not found"),
    h("p", {}, "The task may have expired, or the ID is incomplete."),
    h("p", {}, h("a", { href: linkTo("tasks") }, "Show all tasks"))));
}

function createSections(renderButtons) {
  const header = h("header", { class: "task-head" });
  const [description, notice, guidance, facts, payload] = Array.from({ length: 5 }, () => h("div", {}));
  const timeline = createRunTimeline();
  const history = createTaskHistory();
  const node = h("div", { hidden: true }, header, notice, h("div", { class: "columns" },
    h("div", {}, description, timeline.node, guidance, history.node),
    h("div", {}, facts, payload)));
  const views = {
    header: createCachedView(header, ({ task, latestRun }) => renderHeader(task, latestRun, renderButtons)),
    description: createCachedView(description, renderDescription),
    notice: createCachedView(notice, renderNotice),
    guidance: createCachedView(guidance, renderGuidance),
    facts: createCachedView(facts, renderFacts),
    payload: createCachedView(payload, renderPayload),
  };
  return {
    node,
    show({ task, runs, errors, events }) {
      const latestRun = runs.at(-1) ?? null;
      views.header({ task, latestRun });
      views.description(task.description);
      views.notice({ task, attempts: latestRun?.attempt });
      views.guidance(task.guidance);
      views.facts(task);
      views.payload(task.payload);
      timeline.show({ runs, errors, maxRetries: task.max_retries });
      history.show(events);
      node.hidden = false;
    },
  };
}
