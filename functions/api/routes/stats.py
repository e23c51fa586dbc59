"""The route of the statistics."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.journal.stats import LONGEST_WINDOW, stats_to_json
from duecourse.usecases.journal.read_stats import read_stats

from ..http.query import Query, number_up_to
from ..http.responses import json_reply
from ..openapi.operation import Operation, Tag, describes, ok
from ..openapi.schemas.types import one

QUERY = Query({"days": number_up_to(LONGEST_WINDOW, default=7)})
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/stats")
@describes(Operation(tag=Tag.STATISTICS, scope=Scope.READ, query=QUERY, answers=ok(one("Stats"))))
def stats() -> Response[str]:
    """Show the statistics of the last days.

    Days of UTC, today included. Lateness is in milliseconds.
    """
    days = QUERY.read(router.current_event)["days"]
    window = read_stats(days, stats=stores.stats(), now=stores.clock().now())
    return json_reply(stats_to_json(window))
