"""The routes of tasks: each reads its request, asks a use case, and answers with JSON."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from http import HTTPStatus
from typing import Protocol

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse import __version__, offered, parts, wiring
from duecourse.adapters.http.json_body import read_event
from duecourse.domain import change
from duecourse.domain.errors import FieldError, InvalidFieldsError
from duecourse.domain.ids import id_for_key
from duecourse.domain.request import changes_to
from duecourse.domain.status import Status
from duecourse.domain.task import Task
from duecourse.domain.wire import event_to_json, run_to_json, task_to_json
from duecourse.ports import Filter
from duecourse.usecases.change_subject import end_cooldown
from duecourse.usecases.change_task import change_task
from duecourse.usecases.create_task import NewId, create_task
from duecourse.usecases.find_task import find_task
from duecourse.usecases.read_history import read_history, read_runs

from .query import given, only_known, require_no_fields, whole_number_in
from .reply import json_reply

KEY_LIMIT = 255
PAGE = 50
LONGEST_PAGE = 200
FILTERS = frozenset({"channel", "sender_id", "status", "type"})
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/health")
def health() -> Response[str]:
    return json_reply({"status": "ok", "version": __version__})


@router.post("/tasks")
def create() -> Response[str]:
    raw = read_event(router.current_event.raw_event)
    key = router.current_event.headers.get("idempotency-key")
    created = create_task(
        raw,
        wiring.desk(),
        task_id=NewId(parts.new_id()) if key is None else _id_for(key),
        now=parts.clock().now(),
    )
    status = HTTPStatus.CREATED if created.is_new else HTTPStatus.OK
    return json_reply(task_to_json(created.task), status)


@router.get("/tasks")
def listing() -> Response[str]:
    query = given(router.current_event.query_string_parameters)
    only_known(query, FILTERS | {"limit", "cursor"})
    if query.get("status") not in {None, *Status}:
        raise InvalidFieldsError([FieldError("status", f"must be one of: {', '.join(Status)}")])
    limit = whole_number_in(query, "limit", default=PAGE, most=LONGEST_PAGE)
    wanted = Filter(**{name: query.get(name) for name in FILTERS})
    try:
        page = parts.task_store().page(wanted, limit=limit, cursor=query.get("cursor"))
    except ValueError as error:
        raise InvalidFieldsError([FieldError("cursor", str(error))]) from error
    items = [task_to_json(task) for task in page.items]
    return json_reply({"items": items, "next_cursor": page.next_cursor})


@router.get("/tasks/<task_id>")
def show(task_id: str) -> Response[str]:
    return json_reply(task_to_json(_task(task_id)))


@router.patch("/tasks/<task_id>")
def edit(task_id: str) -> Response[str]:
    raw = read_event(router.current_event.raw_event)

    def apply(task: Task) -> Task:
        changes = changes_to(task, raw, offer=offered.offer(), now=parts.clock().now())
        return change.edited(task, changes)

    return _changed(task_id, apply)


@router.post("/tasks/<task_id>/cancel")
def cancel(task_id: str) -> Response[str]:
    require_no_fields(router.current_event.raw_event)
    return _changed(task_id, lambda task: change.cancelled(task, at=parts.clock().now()))


@router.post("/tasks/<task_id>/pause")
def pause(task_id: str) -> Response[str]:
    require_no_fields(router.current_event.raw_event)
    return _changed(task_id, change.paused)


@router.post("/tasks/<task_id>/resume")
def resume(task_id: str) -> Response[str]:
    require_no_fields(router.current_event.raw_event)
    return _changed(task_id, lambda task: change.resumed(task, at=parts.clock().now()))


@router.post("/tasks/<task_id>/run")
def run(task_id: str) -> Response[str]:
    require_no_fields(router.current_event.raw_event)
    return _at_once(task_id, change.run_now)


@router.post("/tasks/<task_id>/retry")
def retry(task_id: str) -> Response[str]:
    require_no_fields(router.current_event.raw_event)
    return _at_once(task_id, change.retried)


@router.post("/tasks/<task_id>/unblock")
def unblock(task_id: str) -> Response[str]:
    require_no_fields(router.current_event.raw_event)
    return _at_once(task_id, change.unblocked)


@router.get("/tasks/<task_id>/history")
def history(task_id: str) -> Response[str]:
    events = read_history(_task(task_id), journal=parts.journal())
    return json_reply({"items": [event_to_json(event) for event in events]})


@router.get("/tasks/<task_id>/runs")
def runs(task_id: str) -> Response[str]:
    task = _task(task_id)
    chain = read_runs(task, journal=parts.journal())
    items = [run_to_json(task.id, run, in_full=run is chain[-1]) for run in chain]
    return json_reply({"items": items})


def _task(task_id: str) -> Task:
    return find_task(task_id, store=parts.task_store())


def _changed(task_id: str, apply: Callable[[Task], Task]) -> Response[str]:
    task = change_task(
        _task(task_id),
        apply,
        store=parts.task_store(),
        queue=parts.work_queue(),
        now=parts.clock().now(),
    )
    return json_reply(task_to_json(task))


class _Wish(Protocol):
    def __call__(self, task: Task, *, at: datetime) -> Task: ...


def _at_once(task_id: str, wish: _Wish) -> Response[str]:
    """Whoever wants it now does not want to wait for its subject to cool down either."""

    def apply(task: Task) -> Task:
        after = wish(task, at=parts.clock().now())
        if task.subject is not None:
            end_cooldown(task.subject, parts.subjects())
        return after

    return _changed(task_id, apply)


def _id_for(key: str) -> NewId:
    if not key.strip() or len(key) > KEY_LIMIT:
        message = f"must be 1 to {KEY_LIMIT} characters"
        raise InvalidFieldsError([FieldError("Idempotency-Key", message)])
    return NewId(id_for_key("api", key), may_exist=True)
