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
    """List a task's events.

    Returns the latest events, about 1,000 at most, oldest first.
    """
    events = read_history(get_task(task_id, store=stores.task_store()), journal=stores.journal())
    return newest_items_response([event_to_json(event) for event in events])


@router.get("/tasks/<task_id>/runs")
@describe_operation(
    Operation(tag=Tag.TASKS, scope=Scope.READ, responses=ok_response(item_list("Run")))
)
def list_runs(task_id: str) -> Response[str]:
    """List a task's runs.

    Returns the latest 500, oldest first, including the current one. Results over 16 KiB are left
    out, except those of the last run.
    """
    task = get_task(task_id, store=stores.task_store())
    runs = read_runs(task, journal=stores.journal())
    items = [run_to_json(task.id, run, in_full=run is runs[-1]) for run in runs]
    return newest_items_response(items)
