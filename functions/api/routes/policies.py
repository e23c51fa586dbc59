"""The routes of policies: what they are, and what one would make of a failure."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.adapters.http.json_body import read_event
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.errors import UnknownPolicyError
from duecourse.domain.failures.explain import explained, question_from, question_schema
from duecourse.domain.failures.policy_json import policy_to_json
from duecourse.domain.limits.budget import next_reset

from ..http.responses import json_reply
from ..openapi.operation import Body, Examples, Operation, Tag, describes, ok
from ..openapi.schemas.types import one, several

ASKED: Examples = {
    "a rate limit": {
        "policy": "agent",
        "message": "Rate limit exceeded, please slow down",
        "status": 429,
        "retry_after": 30,
    },
    "an error that is but a code": {"policy": "omega", "message": "", "code": "ETIMEDOUT"},
}
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/policies")
@describes(Operation(tag=Tag.POLICIES, scope=Scope.READ, answers=ok(several("Policy"))))
def listing() -> Response[str]:
    """List the policies.

    The categories of failures with their rules, limits and delays.
    """
    named = sorted(stores.policies().items())
    return json_reply({"items": [policy_to_json(policy) for _, policy in named]})


@router.get("/policies/<policy>")
@describes(Operation(tag=Tag.POLICIES, scope=Scope.READ, answers=ok(one("Policy"))))
def show(policy: str) -> Response[str]:
    """Show a policy."""
    found = stores.policies().get(policy)
    if found is None:
        raise UnknownPolicyError(policy[:100])
    return json_reply(policy_to_json(found))


@router.post("/explain")
@describes(
    Operation(
        tag=Tag.POLICIES,
        scope=Scope.READ,
        body=Body(lambda: question_schema(stores.policies()), ASKED),
        answers=ok(one("Explained")),
    )
)
def explain() -> Response[str]:
    """Explain what would happen to a failure.

    A dry run: nothing is written. `attempt` is `retry_count` before this failure, 0 for the first.
    """
    question = question_from(read_event(router.current_event.raw_event), stores.policies())
    now = stores.clock().now()
    return json_reply(explained(question, now=now, budget_resets_at=next_reset(now)))
