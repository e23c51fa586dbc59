"""Route of the overview: the data of the dashboard's first page in one response."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_text
from duecourse.usecases.journal.overview import read_overview

from ..http.responses import MAX_RESPONSE_SIZE, Json, fit_items, json_response
from ..http.task_response import task_to_response
from ..openapi.operation import Operation, Tag, describe_operation, ok_response
from ..openapi.schemas.types import ref
from .breakers import breaker_to_json
from .budgets import budget_to_json
from .retries import retry_to_json

_TASK_LIST_COUNT = 4
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/now")
@describe_operation(Operation(tag=Tag.TASKS, scope=Scope.READ, responses=ok_response(ref("Now"))))
def show_now() -> Response[str]:
    """Get an overview for a dashboard.

    Returns up to 50 tasks each that are due next, running, waiting for a retry or waiting for a
    person, the circuit breakers, and the budgets used today. If tasks are large, the lists are
    shorter.
    """
    found = read_overview(
        store=stores.task_store(),
        breakers=stores.breakers(),
        budgets=stores.budgets(),
        now=stores.clock().now(),
    )
    body = {
        "now": to_text(found.at),
        "due_soon": _tasks_to_json(found.due_soon),
        "running": _fit_list(_running_task_to_json(task) for task in found.running),
        "retries": _fit_list(retry_to_json(task) for task in found.retries),
        "needs_person": _tasks_to_json(found.needs_person),
        "breakers": [breaker_to_json(*named) for named in found.breakers],
        "budgets": [budget_to_json(budget) for budget in found.budgets],
    }
    return json_response(body)


def _tasks_to_json(tasks: Iterable[Task]) -> list[Json]:
    return _fit_list(task_to_response(task) for task in tasks)


def _running_task_to_json(task: Task) -> dict[str, Any]:
    return task_to_response(task) | {
        "started_at": to_text(task.run.started_at) if task.run else None
    }


def _fit_list(items: Iterable[dict[str, Any]]) -> list[Json]:
    return fit_items(items, max_size=MAX_RESPONSE_SIZE // _TASK_LIST_COUNT)
