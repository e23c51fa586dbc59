"""Routes of a task's history and runs."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.requests.json import event_to_json, run_to_json
from duecourse.usecases.journal.read_history import read_history, read_runs
from duecourse.usecases.tasks.get_task import get_task

from ..http.responses import newest_items_response
from ..openapi.operation import Operation, Tag, describe_operation, ok_response
from ..openapi.schemas.types import item_list

router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/tasks/<task_id>/history")
@describe_operation(
    Operation(tag=Tag.TASKS, scope=Scope.READ, responses=ok_response(item_list("Event")))
)
def list_history(task_id: str) -> Response[str]:
    """Show what happened to a task.

    The latest events, about 1,000 at most, oldest first.
    """
    events = read_history(get_task(task_id, store=stores.task_store()), journal=stores.journal())
    return newest_items_response([event_to_json(event) for event in events])


@router.get("/tasks/<task_id>/runs")
@describe_operation(
    Operation(tag=Tag.TASKS, scope=Scope.READ, responses=ok_response(item_list("Run")))
)
def list_runs(task_id: str) -> Response[str]:
    """Show a task's runs.

    The latest 500, oldest first, the one in course included. Large results are left out but for
    the last run's.
    """
    task = get_task(task_id, store=stores.task_store())
    chain = read_runs(task, journal=stores.journal())
    items = [run_to_json(task.id, run, in_full=run is chain[-1]) for run in chain]
    return newest_items_response(items)
