"""Routes of subjects: failures tracked across tasks.

A subject's id may contain slashes, such as owner/repository: the rest of the path is the id.
"""

from __future__ import annotations

from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response
from aws_lambda_powertools.event_handler.router import APIGatewayHttpRouter
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.requests.json import subject_to_json
from duecourse.domain.requests.task_fields import NAME_FIELD
from duecourse.usecases.failures.reset_subject import reset_subject

from ..http.query import parse_parameter, require_empty_body
from ..http.responses import json_response
from ..openapi.operation import Operation, Tag, describe_operation, ok_response
from ..openapi.schemas.types import ref

PREFIX, RESET = "/subjects/", "/reset"
SUBJECT_PATH = PREFIX + "{subject}"
router = APIGatewayHttpRouter()  # type: ignore[no-untyped-call]


@router.get(f"{PREFIX}.+")
@describe_operation(
    Operation(
        tag=Tag.SUBJECTS, scope=Scope.READ, path=SUBJECT_PATH, responses=ok_response(ref("Subject"))
    )
)
def show_subject() -> Response[str]:
    """Get the failures of a subject.

    A subject that no task has worked on yet is returned with no failures, not as 404.
    """
    return json_response(subject_to_json(stores.subjects().get(_subject_id())))


@router.post(f"{PREFIX}.+{RESET}")
@describe_operation(
    Operation(
        tag=Tag.SUBJECTS,
        scope=Scope.ADMIN,
        path=SUBJECT_PATH + RESET,
        responses=ok_response(ref("Subject")),
        error_statuses=(HTTPStatus.CONFLICT,),
    )
)
def reset() -> Response[str]:
    """Reset a subject.

    Sets its failure count to 0 and ends its cool-down, so that tasks for it may run at once.
    """
    require_empty_body(router.current_event.raw_event)
    return json_response(subject_to_json(reset_subject(_subject_id(), stores.subjects())))


def _subject_id() -> str:
    event = router.current_event
    name = event.path.removeprefix(PREFIX)
    name = name.removesuffix(RESET) if event.http_method == "POST" else name
    return parse_parameter("subject", NAME_FIELD, name)
