"""The route of this moment: all that the dashboard's first page shows, in one answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_text
from duecourse.usecases.journal.overview import read_now

from ..http.responses import LARGEST, Json, fitting, json_reply
from ..http.task_response import task_shown
from ..openapi.operation import Operation, Tag, describes, ok
from ..openapi.schemas.types import one
from .breakers import breaker_to_json
from .budgets import budget_to_json
from .retries import retry_to_json

_LISTS_OF_TASKS = 4
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/now")
@describes(Operation(tag=Tag.TASKS, scope=Scope.READ, answers=ok(one("Now"))))
def now() -> Response[str]:
    """Show what is going on.

    Up to 50 tasks each that are due next, run, wait for a retry or need a person; how each
    provider stands; and the budgets used today. Large tasks may make the lists shorter.
    """
    found = read_now(
        store=stores.task_store(),
        breakers=stores.breakers(),
        budgets=stores.budgets(),
        now=stores.clock().now(),
    )
    body = {
        "now": to_text(found.at),
        "due_soon": _tasks(found.due_soon),
        "running": _share(_running(task) for task in found.running),
        "retries": _share(retry_to_json(task) for task in found.retries),
        "needs_person": _tasks(found.needs_person),
        "breakers": [breaker_to_json(*named) for named in found.breakers],
        "budgets": [budget_to_json(budget) for budget in found.budgets],
    }
    return json_reply(body)


def _tasks(tasks: Iterable[Task]) -> list[Json]:
    return _share(task_shown(task) for task in tasks)


def _running(task: Task) -> dict[str, Any]:
    return task_shown(task) | {"started_at": to_text(task.run.started_at) if task.run else None}


def _share(items: Iterable[dict[str, Any]]) -> list[Json]:
    return fitting(items, room=LARGEST // _LISTS_OF_TASKS)
