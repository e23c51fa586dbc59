"""The routes of subjects: the second level of failure tracking.

A subject's id is whatever tasks call it, such as owner/repository: all of the path is its name.
"""

from __future__ import annotations

from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.requests.json import subject_to_json
from duecourse.domain.requests.task_request import NAME
from duecourse.usecases.failures.reset_subject import reset_subject

from ..http.query import part_of_request, require_no_fields
from ..http.responses import json_reply
from ..openapi.operation import Operation, Tag, describes, ok
from ..openapi.schemas.types import one

PREFIX, RESET = "/subjects/", "/reset"
SHOWN = PREFIX + "{subject}"
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get(f"{PREFIX}.+")
@describes(Operation(tag=Tag.SUBJECTS, scope=Scope.READ, path=SHOWN, answers=ok(one("Subject"))))
def show() -> Response[str]:
    """Show a subject.

    One that no task has worked on yet is shown as such: it has no failures.
    """
    return json_reply(subject_to_json(stores.subjects().get(_named())))


@router.post(f"{PREFIX}.+{RESET}")
@describes(
    Operation(
        tag=Tag.SUBJECTS,
        scope=Scope.ADMIN,
        path=SHOWN + RESET,
        answers=ok(one("Subject")),
        refuses=(HTTPStatus.CONFLICT,),
    )
)
def reset() -> Response[str]:
    """Reset a subject.

    Its failures are forgotten, and it may be tried again at once.
    """
    require_no_fields(router.current_event.raw_event)
    return json_reply(subject_to_json(reset_subject(_named(), stores.subjects())))


def _named() -> str:
    event = router.current_event
    name = event.path.removeprefix(PREFIX)
    name = name.removesuffix(RESET) if event.http_method == "POST" else name
    return part_of_request("subject", NAME, name)
