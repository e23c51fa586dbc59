"""Operations that change or read one task over HTTP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from local.simulate.actor import Actor
from local.simulate.workload.follow_ups import (
    AFTER_EDIT,
    AFTER_FAILURE,
    AFTER_PAUSE,
    AFTER_RECLASSIFICATION,
    FollowUp,
)
from local.simulate.workload.operation_kind import (
    Arguments,
    Draft,
    OperationKind,
    Run,
    draw_nothing,
    draw_task,
)

_KINDS = ("network", "rate_limit", "auth", "type", "content_policy", "budget")
_CATEGORIES = ("transient", "code_error", "timeout", "unknown")
_SUFFIXES = ("", "/runs", "/history", "/errors")
_READS = tuple(f"GET /tasks/<task_id>{part}" for part in _SUFFIXES)


def _post(action: str, body: Any = None) -> Run:
    def run(actor: Actor, arguments: Arguments) -> None:
        if task_id := actor.task_id(arguments["task"]):
            answer = actor.call("POST", f"/tasks/{task_id}/{action}", body)
            if action == "cancel":
                actor.note_cancelled(task_id, answer)

    return run


def _twice(run: Run) -> Run:
    def run_twice(actor: Actor, arguments: Arguments) -> None:
        run(actor, arguments)
        run(actor, arguments)

    return run_twice


def _draw_edit(draft: Draft) -> Arguments:
    """Draw a change of the time, or of the text and the number of retries."""
    changes: Arguments = {"in": draft.delay()}
    if draft.rng.random() < 0.4:
        changes = {"description": "edited", "max_retries": draft.rng.randint(1, 4)}
    return {**draw_task(draft), "changes": changes}


def _run_edit(actor: Actor, arguments: Arguments) -> None:
    if task_id := actor.task_id(arguments["task"]):
        actor.call("PATCH", f"/tasks/{task_id}", arguments["changes"])


def _run_delete(actor: Actor, arguments: Arguments) -> None:
    if task_id := actor.task_id(arguments["task"]):
        response = actor.call("DELETE", f"/tasks/{task_id}")
        actor.note_deleted(task_id, response)


def _draw_resolution(draft: Draft) -> Arguments:
    return {**draw_task(draft), "outcome": draft.rng.choice(("applied", "not_applied", "skip"))}


def _draw_applied(draft: Draft) -> Arguments:
    return {**draw_task(draft), "outcome": "applied"}


def _run_resolve(actor: Actor, arguments: Arguments) -> None:
    _post("resolve", {"outcome": arguments["outcome"]})(actor, arguments)


def _draw_reclassification(draft: Draft) -> Arguments:
    """Draw a category or, as often, a kind."""
    if draft.rng.random() < 0.5:
        return {**draw_task(draft), "kind": draft.rng.choice(_KINDS)}
    return {**draw_task(draft), "category": draft.rng.choice(_CATEGORIES)}


def _run_reclassify(actor: Actor, arguments: Arguments) -> None:
    body = {name: arguments[name] for name in ("category", "kind") if name in arguments}
    _post("reclassify", body)(actor, arguments)


def _run_read(actor: Actor, arguments: Arguments) -> None:
    if task_id := actor.task_id(arguments["task"]):
        for part in _SUFFIXES:
            actor.call("GET", f"/tasks/{task_id}{part}")


def _run_end_review(actor: Actor, arguments: Arguments) -> None:
    """Run the review of the task's specification at once, or cancel it."""
    task_id = actor.task_id(arguments["task"])
    found = (actor.call("GET", "/tasks").body or {}) if task_id else {}
    reviews = [one for one in found.get("items", ()) if one["review_of"] == task_id]
    for review in reviews[:1]:
        actor.call("POST", f"/tasks/{review['id']}/{arguments['action']}")


def _draw_end_review(draft: Draft) -> Arguments:
    return {**draw_task(draft), "action": draft.rng.choice(("run", "cancel", "retry"))}


def _run_cancel_all(actor: Actor, _arguments: Arguments) -> None:
    """Cancel everything that is pending, page by page."""
    cursor: str | None = ""
    while cursor is not None:
        target = f"/tasks?status=pending&limit=2&cursor={cursor}"
        page = actor.call("GET", target).body or {}
        for task in page.get("items", ()):
            answer = actor.call("POST", f"/tasks/{task['id']}/cancel")
            actor.note_cancelled(task["id"], answer)
        cursor = page.get("next_cursor")


def _action(
    name: str, weight: int = 1, body: Any = None, follow_ups: tuple[FollowUp, ...] = ()
) -> OperationKind:
    covers = (f"POST /tasks/<task_id>/{name}",)
    return OperationKind(weight, draw_task, _post(name, body), covers, follow_ups)


CHANGE_OPERATIONS: Mapping[str, OperationKind] = {
    "cancel": _action("cancel", 2),
    "cancel-twice": OperationKind(1, draw_task, _twice(_post("cancel"))),
    "cancel-all": OperationKind(1, draw_nothing, _run_cancel_all),
    "pause": _action("pause", follow_ups=AFTER_PAUSE),
    "resume": _action("resume"),
    "run": _action("run", 2),
    "run-twice": OperationKind(1, draw_task, _twice(_post("run"))),
    "retry": _action("retry", 2, follow_ups=AFTER_FAILURE),
    "unblock": _action("unblock"),
    "approve": _action("approve"),
    "reject": _action("reject", body={"reason": "not yet"}),
    "resolve": OperationKind(1, _draw_resolution, _run_resolve, ("POST /tasks/<task_id>/resolve",)),
    "resolve-applied": OperationKind(1, _draw_applied, _run_resolve),
    "reclassify": OperationKind(
        2,
        _draw_reclassification,
        _run_reclassify,
        ("POST /tasks/<task_id>/reclassify",),
        AFTER_RECLASSIFICATION,
    ),
    "end-review": OperationKind(1, _draw_end_review, _run_end_review),
    "edit": OperationKind(2, _draw_edit, _run_edit, ("PATCH /tasks/<task_id>",), AFTER_EDIT),
    "delete": OperationKind(1, draw_task, _run_delete, ("DELETE /tasks/<task_id>",)),
    "read-task": OperationKind(1, draw_task, _run_read, _READS),
}
