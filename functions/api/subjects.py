"""The routes of subjects: the second level of failure tracking.

A subject's id is whatever tasks call it, such as owner/repository: all of the path is its name.
"""

from __future__ import annotations

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse import parts
from duecourse.domain.wire import subject_to_json
from duecourse.usecases.change_subject import reset_subject

from .reply import json_reply

PREFIX, RESET = "/subjects/", "/reset"
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get(f"{PREFIX}.+")
def show() -> Response[str]:
    """One that no task has worked on yet is shown as such: it has no failures."""
    return json_reply(subject_to_json(parts.subjects().get(_named())))


@router.post(f"{PREFIX}.+{RESET}")
def reset() -> Response[str]:
    return json_reply(subject_to_json(reset_subject(_named(), parts.subjects())))


def _named() -> str:
    event = router.current_event
    name = event.path.removeprefix(PREFIX)
    return name.removesuffix(RESET) if event.http_method == "POST" else name
