"""The routes of tasks: each reads its request, asks a use case, and answers with JSON."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from http import HTTPStatus
from typing import Protocol

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.adapters.http.json_body import read_event
from duecourse.app import registry, services, stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.requests.request_schema import changes_schema, new_task_schema
from duecourse.domain.requests.task_filter import Filter
from duecourse.domain.requests.task_request import NAME, changes_to
from duecourse.domain.tasks.ids import id_for_key
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.validation.fields import one_of, text
from duecourse.ports.tasks import Page
from duecourse.usecases.failures.reset_subject import end_cooldown
from duecourse.usecases.tasks.create_task import NewId, create_task
from duecourse.usecases.tasks.get_task import find_task
from duecourse.usecases.tasks.update_task import change_task

from ..http.cursor import Walk
from ..http.query import CURSOR, Query, number_up_to, part_of_request, require_no_fields
from ..http.responses import json_reply, page_reply
from ..http.task_response import task_shown
from ..middleware.auth import asker_of
from ..openapi.operation import Body, Operation, Tag, describes, ok
from ..openapi.schemas.types import one, page
from ..openapi.task_examples import CHANGES, NEW

KEY = text(255)
FILTERS = {
    "channel": NAME,
    "sender_id": NAME,
    "status": one_of(list(Status)),
    "type": NAME,
    "category": NAME,
    "search": text(200),
}
QUERY = Query({**FILTERS, "limit": number_up_to(200, default=50), "cursor": CURSOR})
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


def _answers_with_task(scope: Scope, tag: Tag = Tag.TASKS) -> Operation:
    return Operation(tag=tag, scope=scope, answers=ok(one("Task")))


@router.post("/tasks")
@describes(
    Operation(
        tag=Tag.TASKS,
        scope=Scope.WRITE,
        headers={"Idempotency-Key": KEY},
        body=Body(lambda: new_task_schema(registry.offer()), NEW),
        answers={HTTPStatus.CREATED: one("Task"), HTTPStatus.OK: one("Task")},
    )
)
def create() -> Response[str]:
    """Create a task.

    With the header `Idempotency-Key`, the same key and body give the same task (200), and the same
    key with another body is refused.
    """
    raw = read_event(router.current_event.raw_event)
    key = router.current_event.headers.get("idempotency-key")
    asker = asker_of(router.current_event.raw_event)
    created = create_task(
        raw,
        services.desk(),
        task_id=NewId(stores.new_id()) if key is None else _id_for(key),
        now=stores.clock().now(),
        by=asker.name if asker else None,
    )
    status = HTTPStatus.CREATED if created.is_new else HTTPStatus.OK
    return json_reply(task_shown(created.task), status)


@router.get("/tasks")
@describes(Operation(tag=Tag.TASKS, scope=Scope.READ, query=QUERY, answers=ok(page("Task"))))
def listing() -> Response[str]:
    """List tasks.

    Newest first. `search` is a part of the description, or the beginning of the id or the subject;
    `category` is that of the last error. A page may hold fewer tasks than `limit`, even none, and
    yet have a next one.
    """
    asked = QUERY.read(router.current_event)
    wanted = Filter(**{name: asked[name] for name in FILTERS})

    def read(after: str | None, limit: int) -> Page:
        return stores.task_store().page(wanted, limit=limit, cursor=after)

    return page_reply(read, task_shown, Walk("tasks", asked), limit=asked["limit"])


@router.get("/tasks/<task_id>")
@describes(_answers_with_task(Scope.READ))
def show(task_id: str) -> Response[str]:
    """Show a task."""
    return json_reply(task_shown(_task(task_id)))


@router.patch("/tasks/<task_id>")
@describes(
    Operation(
        tag=Tag.TASKS,
        scope=Scope.WRITE,
        body=Body(lambda: changes_schema(registry.offer()), CHANGES),
        answers=ok(one("Task")),
    )
)
def edit(task_id: str) -> Response[str]:
    """Reschedule or edit a task that has not started.

    What is not named stays as it is.
    """
    raw = read_event(router.current_event.raw_event)

    def apply(task: Task) -> Task:
        changes = changes_to(task, raw, offer=registry.offer(), now=stores.clock().now())
        return user_actions.edited(task, changes)

    return _changed(task_id, apply)


@router.post("/tasks/<task_id>/cancel")
@describes(_answers_with_task(Scope.WRITE))
def cancel(task_id: str) -> Response[str]:
    """Cancel a task.

    For good. Cancelling a cancelled one changes nothing.
    """
    require_no_fields(router.current_event.raw_event)
    return _changed(task_id, lambda task: user_actions.cancelled(task, at=stores.clock().now()))


@router.post("/tasks/<task_id>/pause")
@describes(_answers_with_task(Scope.WRITE))
def pause(task_id: str) -> Response[str]:
    """Pause a task.

    It does not run until it is resumed.
    """
    require_no_fields(router.current_event.raw_event)
    return _changed(task_id, user_actions.paused)


@router.post("/tasks/<task_id>/resume")
@describes(_answers_with_task(Scope.WRITE))
def resume(task_id: str) -> Response[str]:
    """Resume a paused task.

    A series goes on with its next occurrence; those that it missed are skipped.
    """
    require_no_fields(router.current_event.raw_event)
    return _changed(task_id, lambda task: user_actions.resumed(task, at=stores.clock().now()))


@router.post("/tasks/<task_id>/run")
@describes(_answers_with_task(Scope.WRITE))
def run(task_id: str) -> Response[str]:
    """Run a task now, whatever its `due_at` says."""
    require_no_fields(router.current_event.raw_event)
    return _at_once(task_id, user_actions.run_now)


@router.post("/tasks/<task_id>/retry")
@describes(_answers_with_task(Scope.WRITE, Tag.ANSWERS))
def retry(task_id: str) -> Response[str]:
    """Try a failed task again, now."""
    require_no_fields(router.current_event.raw_event)
    return _at_once(task_id, user_actions.retried)


@router.post("/tasks/<task_id>/unblock")
@describes(_answers_with_task(Scope.WRITE, Tag.ANSWERS))
def unblock(task_id: str) -> Response[str]:
    """Let a blocked task go on, now."""
    require_no_fields(router.current_event.raw_event)
    return _at_once(task_id, user_actions.unblocked)


def _task(task_id: str) -> Task:
    return find_task(task_id, store=stores.task_store())


def _changed(task_id: str, apply: Callable[[Task], Task]) -> Response[str]:
    task = change_task(
        _task(task_id),
        apply,
        store=stores.task_store(),
        queue=stores.work_queue(),
        now=stores.clock().now(),
    )
    return json_reply(task_shown(task))


class _Wish(Protocol):
    def __call__(self, task: Task, *, at: datetime) -> Task: ...


def _at_once(task_id: str, wish: _Wish) -> Response[str]:
    """Whoever wants it now does not want to wait for its subject to cool down either."""

    def apply(task: Task) -> Task:
        after = wish(task, at=stores.clock().now())
        if task.subject is not None:
            end_cooldown(task.subject, stores.subjects())
        return after

    return _changed(task_id, apply)


def _id_for(key: str) -> NewId:
    checked = part_of_request("Idempotency-Key", KEY, key)
    return NewId(id_for_key("api", checked), may_exist=True)
