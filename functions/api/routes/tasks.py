"""Routes of tasks: create, list, show, edit and act on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from http import HTTPStatus
from typing import Any, Protocol

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.adapters.http.json_body import parse_event_body
from duecourse.app import queues, registry, services, stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.requests.new_task import parse_new_task
from duecourse.domain.requests.request_hash import hash_json
from duecourse.domain.requests.request_schema import changes_schema, new_task_schema
from duecourse.domain.requests.task_changes import parse_changes
from duecourse.domain.requests.task_fields import NAME_FIELD
from duecourse.domain.requests.task_filter import TaskFilter
from duecourse.domain.tasks.ids import id_for_key
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.validation.fields import choice_field, text_field
from duecourse.ports.tasks import TaskPage
from duecourse.usecases.failures.reset_subject import end_cooldown
from duecourse.usecases.tasks.create_task import NewTaskId, create_task
from duecourse.usecases.tasks.delete_task import delete_task
from duecourse.usecases.tasks.get_task import get_task
from duecourse.usecases.tasks.update_task import update_task

from ..http.cursor import CursorCodec
from ..http.query import CURSOR, Query, integer_up_to, parse_parameter, require_empty_body
from ..http.responses import json_response, page_response
from ..http.task_response import task_to_response
from ..middleware.auth import caller_from_event
from ..openapi.operation import Body, Operation, Tag, describe_operation, ok_response
from ..openapi.schemas.types import item_page, ref
from ..openapi.task_examples import CREATE_EXAMPLES, UPDATE_EXAMPLES

IDEMPOTENCY_KEY = text_field(255)
FILTERS = {
    "channel": NAME_FIELD,
    "sender_id": NAME_FIELD,
    "status": choice_field(list(Status)),
    "type": NAME_FIELD,
    "category": NAME_FIELD,
    "search": text_field(200),
}
QUERY = Query({**FILTERS, "limit": integer_up_to(200, default=50), "cursor": CURSOR})
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


def _answers_with_task(scope: Scope, tag: Tag = Tag.TASKS) -> Operation:
    return Operation(tag=tag, scope=scope, responses=ok_response(ref("Task")))


@router.post("/tasks")
@describe_operation(
    Operation(
        tag=Tag.TASKS,
        scope=Scope.WRITE,
        headers={"Idempotency-Key": IDEMPOTENCY_KEY},
        body=Body(lambda: new_task_schema(registry.capabilities()), CREATE_EXAMPLES),
        responses={HTTPStatus.CREATED: ref("Task"), HTTPStatus.OK: ref("Task")},
    )
)
def create() -> Response[str]:
    """Create a task.

    If you repeat a request with the same `Idempotency-Key` and the same body, you get the task of
    the first request with status 200. The same key with another body is refused with 422. Keys
    belong to your token: with another token, the same key is another one.
    """
    raw = parse_event_body(router.current_event.raw_event)
    key = router.current_event.headers.get("idempotency-key")
    caller = caller_from_event(router.current_event.raw_event)
    token_name = caller.name if caller else ""
    now = stores.clock().now()
    deps = services.create_task_deps()
    created = create_task(
        parse_new_task(raw, capabilities=deps.capabilities, now=now),
        deps,
        task_id=NewTaskId(stores.new_id())
        if key is None
        else _task_id_from_key(token_name, key, raw),
        now=now,
        created_by=token_name or None,
    )
    status = HTTPStatus.CREATED if created.is_new else HTTPStatus.OK
    return json_response(task_to_response(created.task), status)


@router.get("/tasks")
@describe_operation(
    Operation(
        tag=Tag.TASKS, scope=Scope.READ, query=QUERY, responses=ok_response(item_page("Task"))
    )
)
def list_tasks() -> Response[str]:
    """List tasks.

    Returns the newest first. With a `status` of `pending`, `in_progress`, `pending_verification` or
    `blocked` it returns the soonest due first, with `failed` the latest due first; with `channel`
    and `sender_id`, always the newest first. `search` matches a part of the description, or the
    start of the id or the subject. `category` matches the category of the last error. A page may
    have fewer tasks than `limit`, or none, and still have a next page: follow `next_cursor` until
    it is null.
    """
    query = QUERY.read(router.current_event)
    task_filter = TaskFilter(**{name: query[name] for name in FILTERS})

    def read(after: str | None, limit: int) -> TaskPage:
        now = stores.clock().now()
        return stores.task_store().list_page(task_filter, limit=limit, cursor=after, now=now)

    return page_response(read, task_to_response, CursorCodec("tasks", query), limit=query["limit"])


@router.get("/tasks/<task_id>")
@describe_operation(_answers_with_task(Scope.READ))
def show_task(task_id: str) -> Response[str]:
    """Get a task."""
    return json_response(task_to_response(_load_task(task_id)))


@router.patch("/tasks/<task_id>")
@describe_operation(
    Operation(
        tag=Tag.TASKS,
        scope=Scope.WRITE,
        body=Body(lambda: changes_schema(registry.capabilities()), UPDATE_EXAMPLES),
        responses=ok_response(ref("Task")),
    )
)
def edit(task_id: str) -> Response[str]:
    """Reschedule or edit a task that has not started.

    Fields that the body does not contain keep their values.
    """
    raw = parse_event_body(router.current_event.raw_event)

    def apply(task: Task) -> Task:
        changes = parse_changes(
            task, raw, capabilities=registry.capabilities(), now=stores.clock().now()
        )
        return user_actions.edit(task, changes)

    return _update(task_id, apply)


@router.delete("/tasks/<task_id>")
@describe_operation(
    Operation(
        tag=Tag.TASKS,
        scope=Scope.ADMIN,
        responses=ok_response(ref("DeletedTask")),
    )
)
def delete(task_id: str) -> Response[str]:
    """Delete a task that has ended, with its history.

    Its runs, errors and events are erased within minutes, and so is its text in the audit log. An
    open task is refused with 409: cancel it first.
    """
    require_empty_body(router.current_event.raw_event)
    task = _load_task(task_id)
    delete_task(task, stores.task_store())
    return json_response({"id": task.id, "deleted": True})


@router.post("/tasks/<task_id>/cancel")
@describe_operation(_answers_with_task(Scope.WRITE))
def cancel(task_id: str) -> Response[str]:
    """Cancel a task.

    A cancelled task never runs again. Cancelling it a second time changes nothing.
    """
    require_empty_body(router.current_event.raw_event)
    return _update(task_id, lambda task: user_actions.cancel(task, at=stores.clock().now()))


@router.post("/tasks/<task_id>/pause")
@describe_operation(_answers_with_task(Scope.WRITE))
def pause(task_id: str) -> Response[str]:
    """Pause a task.

    A paused task does not run until you resume it.
    """
    require_empty_body(router.current_event.raw_event)
    return _update(task_id, user_actions.pause)


@router.post("/tasks/<task_id>/resume")
@describe_operation(_answers_with_task(Scope.WRITE))
def resume(task_id: str) -> Response[str]:
    """Resume a paused task.

    A recurring task continues with its next occurrence. The occurrences that it missed are skipped.
    """
    require_empty_body(router.current_event.raw_event)
    return _update(task_id, lambda task: user_actions.resume(task, at=stores.clock().now()))


@router.post("/tasks/<task_id>/run")
@describe_operation(_answers_with_task(Scope.WRITE))
def run(task_id: str) -> Response[str]:
    """Run a pending task now.

    The task runs at once, whatever its `due_at` is. This ends a cool-down of its subject.
    """
    require_empty_body(router.current_event.raw_event)
    return _run_now(task_id, user_actions.run_now)


@router.post("/tasks/<task_id>/retry")
@describe_operation(_answers_with_task(Scope.WRITE, Tag.DECISIONS))
def retry(task_id: str) -> Response[str]:
    """Retry a task now.

    The task must be failed, blocked or waiting for a retry. This resets its `retry_count` and ends
    a cool-down of its subject.
    """
    require_empty_body(router.current_event.raw_event)
    return _run_now(task_id, user_actions.retry)


@router.post("/tasks/<task_id>/unblock")
@describe_operation(_answers_with_task(Scope.WRITE, Tag.DECISIONS))
def unblock(task_id: str) -> Response[str]:
    """Unblock a task.

    The task runs now and keeps its `retry_count`. This ends a cool-down of its subject.
    """
    require_empty_body(router.current_event.raw_event)
    return _run_now(task_id, user_actions.unblock)


def _load_task(task_id: str) -> Task:
    return get_task(task_id, store=stores.task_store())


def _update(task_id: str, transition: Callable[[Task], Task]) -> Response[str]:
    task = update_task(
        _load_task(task_id),
        transition,
        store=stores.task_store(),
        queue=queues.work_queue(),
        now=stores.clock().now(),
    )
    return json_response(task_to_response(task))


class _Transition(Protocol):
    def __call__(self, task: Task, *, at: datetime) -> Task: ...


def _run_now(task_id: str, transition: _Transition) -> Response[str]:
    """Run the task now, and end its subject's cooldown."""

    def apply(task: Task) -> Task:
        after = transition(task, at=stores.clock().now())
        if task.subject is not None:
            end_cooldown(task.subject, stores.subjects())
        return after

    return _update(task_id, apply)


def _task_id_from_key(token_name: str, key: str, raw: Mapping[str, Any]) -> NewTaskId:
    """Return the id for the key of this token. Another token's task must not be found by it."""
    checked = parse_parameter("Idempotency-Key", IDEMPOTENCY_KEY, key)
    return NewTaskId(id_for_key(f"api:{token_name}", checked), hash_json(raw))
