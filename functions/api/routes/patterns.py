"""The routes of what was learnt: kinds of failures, and delays that worked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.adapters.runtime.policy_files import read_outlines
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.errors import UnknownPolicyError
from duecourse.domain.failures.classifier.fingerprint import fingerprint_from
from duecourse.domain.journal.learned_patterns import pattern_to_json, percent
from duecourse.domain.requests.task_request import NAME
from duecourse.domain.validation.fields import one_of
from duecourse.usecases.failures.list_learned import TriedDelay, read_delays, read_patterns

from ..http.query import Query, number_up_to, part_of_request, require_no_fields
from ..http.responses import json_reply
from ..openapi.operation import Operation, Tag, describes, ok
from ..openapi.schemas.types import one, several

QUERY = Query({"policy": NAME, "limit": number_up_to(200, default=50)})
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/patterns")
@describes(
    Operation(tag=Tag.FAILURES, scope=Scope.READ, query=QUERY, answers=ok(several("Pattern")))
)
def listing() -> Response[str]:
    """List the kinds of failures that were seen.

    Most recently seen first; `category` is what the next one will be read as.
    """
    asked = QUERY.read(router.current_event)
    found = read_patterns(
        _asked_for(asked["policy"]),
        limit=asked["limit"],
        patterns=stores.patterns(),
        now=stores.clock().now(),
    )
    return json_reply({"items": [pattern_to_json(pattern) for pattern in found]})


@router.delete("/patterns/<policy>/<fingerprint>")
@describes(Operation(tag=Tag.FAILURES, scope=Scope.ADMIN, answers=ok(one("Forgotten"))))
def forget(policy: str, fingerprint: str) -> Response[str]:
    """Forget what a person said of a kind of failures.

    From now on it is read by the policy's rules again. What was counted stays.
    """
    require_no_fields(router.current_event.raw_event)
    if policy not in read_outlines():
        raise UnknownPolicyError(policy[:100])
    checked = part_of_request("fingerprint", fingerprint_from, fingerprint)
    was_said = stores.patterns().forget(policy, checked, now=stores.clock().now())
    return json_reply({"policy": policy, "fingerprint": checked, "forgotten": was_said})


@router.get("/delays")
@describes(Operation(tag=Tag.FAILURES, scope=Scope.READ, answers=ok(one("Delays"))))
def delays() -> Response[str]:
    """Show after which delays retries worked.

    Of this month and the one before. `adapting` tells whether delays are chosen by it.
    """
    found = read_delays(read_outlines(), patterns=stores.patterns(), now=stores.clock().now())
    adapting = stores.settings().adapts_delays
    return json_reply({"adapting": adapting, "items": [_delay_to_json(one) for one in found]})


def _asked_for(policy: str | None) -> Sequence[str]:
    known = sorted(read_outlines())
    return known if policy is None else [part_of_request("policy", one_of(known), policy)]


def _delay_to_json(delay: TriedDelay) -> dict[str, Any]:
    return {
        "policy": delay.policy,
        "category": delay.category,
        "delay_seconds": delay.seconds,
        "tried": delay.tries.tried,
        "worked": delay.tries.worked,
        "success_percent": percent(delay.tries.worked, delay.tries.tried),
    }
