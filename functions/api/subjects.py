"""The routes of subjects: the second level of failure tracking."""

from __future__ import annotations

from urllib.parse import unquote

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse import wiring
from duecourse.domain.wire import subject_to_json
from duecourse.usecases.reset_subject import reset_subject

from .reply import json_reply

router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get("/subjects/<subject_id>")
def show(subject_id: str) -> Response[str]:
    """One that no task has worked on yet is shown as such: it has no failures."""
    return json_reply(subject_to_json(wiring.subjects().get(unquote(subject_id))))


@router.post("/subjects/<subject_id>/reset")
def reset(subject_id: str) -> Response[str]:
    return json_reply(subject_to_json(reset_subject(unquote(subject_id), wiring.subjects())))
