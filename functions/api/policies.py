"""The routes of policies: what they are, and what one would make of a failure."""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse import parts
from duecourse.adapters.http.json_body import read_event
from duecourse.domain.errors import UnknownPolicyError
from duecourse.domain.explain import explained, question_from
from duecourse.domain.wire_policy import policy_to_json

from .reply import json_reply

router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/policies")
def listing() -> Response[str]:
    named = sorted(parts.policies().items())
    return json_reply({"items": [policy_to_json(policy) for _, policy in named]})


@router.get("/policies/<name>")
def show(name: str) -> Response[str]:
    policy = parts.policies().get(name)
    if policy is None:
        raise UnknownPolicyError(name[:100])
    return json_reply(policy_to_json(policy))


@router.post("/explain")
def explain() -> Response[str]:
    """The dry run: nothing is written."""
    question = question_from(read_event(router.current_event.raw_event), parts.policies())
    return json_reply(explained(question, now=parts.clock().now()))
