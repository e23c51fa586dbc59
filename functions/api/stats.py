"""The route of the statistics."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse import parts
from duecourse.domain.stats import LONGEST_WINDOW, stats_to_json
from duecourse.usecases.read_stats import read_stats

from .query import given, only_known, whole_number_in
from .reply import json_reply

WINDOW = 7
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/stats")
def stats() -> Response[str]:
    query = given(router.current_event.query_string_parameters)
    only_known(query, frozenset({"days"}))
    days = whole_number_in(query, "days", default=WINDOW, most=LONGEST_WINDOW)
    window = read_stats(days, stats=parts.stats(), now=parts.clock().now())
    return json_reply(stats_to_json(window))
