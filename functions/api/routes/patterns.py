"""Routes of learned data: failure patterns, and retry delays with their outcomes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.adapters.runtime.policy_files import read_policies_without_rules
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.errors import UnknownPolicyError
from duecourse.domain.failures.classifier.fingerprint import parse_fingerprint
from duecourse.domain.journal.learned_patterns import pattern_to_json, to_percent
from duecourse.domain.requests.task_fields import NAME_FIELD
from duecourse.domain.validation.fields import choice_field
from duecourse.usecases.failures.list_learned import DelayOutcomes, read_delays, read_patterns

from ..http.query import Query, integer_up_to, parse_parameter, require_empty_body
from ..http.responses import json_response
from ..openapi.operation import Operation, Tag, describe_operation, ok_response
from ..openapi.schemas.types import item_list, ref

QUERY = Query({"policy": NAME_FIELD, "limit": integer_up_to(200, default=50)})
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/patterns")
@describe_operation(
    Operation(
        tag=Tag.FAILURES, scope=Scope.READ, query=QUERY, responses=ok_response(item_list("Pattern"))
    )
)
def list_patterns() -> Response[str]:
    """List failure patterns.

    A pattern stands for all failures with the same fingerprint. Returns the most recently seen
    first. `category` and `kind` are those that the next such failure will get.
    """
    parameters = QUERY.read(router.current_event)
    found = read_patterns(
        _select_policies(parameters["policy"]),
        limit=parameters["limit"],
        patterns=stores.patterns(),
        now=stores.clock().now(),
    )
    return json_response({"items": [pattern_to_json(pattern) for pattern in found]})


@router.delete("/patterns/<policy>/<fingerprint>")
@describe_operation(
    Operation(tag=Tag.FAILURES, scope=Scope.ADMIN, responses=ok_response(ref("Forgotten")))
)
def forget_correction(policy: str, fingerprint: str) -> Response[str]:
    """Delete the correction of a failure pattern.

    The policy's rules classify such failures again. The pattern's counts stay.
    """
    require_empty_body(router.current_event.raw_event)
    if policy not in read_policies_without_rules():
        raise UnknownPolicyError(policy[:100])
    checked = parse_parameter("fingerprint", parse_fingerprint, fingerprint)
    is_removed = stores.patterns().remove_correction(policy, checked, now=stores.clock().now())
    return json_response({"policy": policy, "fingerprint": checked, "forgotten": is_removed})


@router.get("/delays")
@describe_operation(
    Operation(tag=Tag.FAILURES, scope=Scope.READ, responses=ok_response(ref("Delays")))
)
def list_delays() -> Response[str]:
    """List how often retries succeeded after each delay.

    Covers this month and the previous one. `adapting` is true if retries use these figures to
    choose their delay (the parameter `AdaptDelays`).
    """
    found = read_delays(
        read_policies_without_rules(), patterns=stores.patterns(), now=stores.clock().now()
    )
    adapting = stores.settings().has_adaptive_delays
    return json_response(
        {"adapting": adapting, "items": [_delay_to_json(delay) for delay in found]}
    )


def _select_policies(policy: str | None) -> Sequence[str]:
    names = sorted(read_policies_without_rules())
    return names if policy is None else [parse_parameter("policy", choice_field(names), policy)]


def _delay_to_json(delay: DelayOutcomes) -> dict[str, Any]:
    return {
        "policy": delay.policy,
        "category": delay.category,
        "delay_seconds": delay.seconds,
        "tried": delay.outcomes.attempted,
        "worked": delay.outcomes.succeeded,
        "success_percent": to_percent(delay.outcomes.succeeded, delay.outcomes.attempted),
    }
