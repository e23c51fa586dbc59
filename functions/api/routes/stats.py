"""Route of the statistics."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.journal.stats import MAX_DAYS, stats_to_json
from duecourse.usecases.journal.read_stats import read_stats

from ..http.query import Query, integer_up_to
from ..http.responses import json_response
from ..openapi.operation import Operation, Tag, describe_operation, ok_response
from ..openapi.schemas.types import ref

QUERY = Query({"days": integer_up_to(MAX_DAYS, default=7)})
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/stats")
@describe_operation(
    Operation(
        tag=Tag.STATISTICS, scope=Scope.READ, query=QUERY, responses=ok_response(ref("Stats"))
    )
)
def show_stats() -> Response[str]:
    """Get statistics of the last days.

    Days are UTC days, and today is the last one. Lateness is in milliseconds.
    """
    days = QUERY.read(router.current_event)["days"]
    window = read_stats(
        days, counters=stores.counters(), stats=stores.stats(), now=stores.clock().now()
    )
    return json_response(stats_to_json(window))
