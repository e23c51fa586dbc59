"""Routes of policies, and the dry run that explains a failure."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.adapters.http.json_body import parse_event_body
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.errors import UnknownPolicyError
from duecourse.domain.failures.explain import (
    explain_failure,
    explain_request_schema,
    parse_explain_request,
)
from duecourse.domain.failures.policy_json import policy_to_json
from duecourse.domain.limits.budget import next_reset

from ..http.responses import json_response
from ..openapi.operation import Body, Examples, Operation, Tag, describe_operation, ok_response
from ..openapi.schemas.types import item_list, ref

EXPLAIN_EXAMPLES: Examples = {
    "a rate limit": {
        "policy": "agent",
        "message": "Rate limit exceeded, please slow down",
        "status": 429,
        "retry_after": 30,
    },
    "an error with only a code": {"policy": "omega", "message": "", "code": "ETIMEDOUT"},
}
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/policies")
@describe_operation(
    Operation(tag=Tag.POLICIES, scope=Scope.READ, responses=ok_response(item_list("Policy")))
)
def list_policies() -> Response[str]:
    """List failure policies.

    Returns each policy's categories with their rules, limits and delays.
    """
    named = sorted(stores.policies().items())
    return json_response({"items": [policy_to_json(policy) for _, policy in named]})


@router.get("/policies/<policy>")
@describe_operation(
    Operation(tag=Tag.POLICIES, scope=Scope.READ, responses=ok_response(ref("Policy")))
)
def show_policy(policy: str) -> Response[str]:
    """Get a failure policy."""
    found = stores.policies().get(policy)
    if found is None:
        raise UnknownPolicyError(policy[:100])
    return json_response(policy_to_json(found))


@router.post("/explain")
@describe_operation(
    Operation(
        tag=Tag.POLICIES,
        scope=Scope.READ,
        body=Body(lambda: explain_request_schema(stores.policies()), EXPLAIN_EXAMPLES),
        responses=ok_response(ref("Explained")),
    )
)
def explain() -> Response[str]:
    """Show how a failure would be handled.

    This is a dry run: nothing is stored. `attempt` is the task's `retry_count` before the failure,
    0 for the first.
    """
    request = parse_explain_request(
        parse_event_body(router.current_event.raw_event), stores.policies()
    )
    now = stores.clock().now()
    return json_response(explain_failure(request, now=now, budget_resets_at=next_reset(now)))
