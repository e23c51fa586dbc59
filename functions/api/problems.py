"""The one place that turns errors into responses (RFC 9457)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from http import HTTPStatus

from aws_lambda_powertools.event_handler import Response
from duecourse.domain.errors import (
    AmbiguousIdError,
    DuecourseError,
    FieldError,
    IdempotencyConflictError,
    IllegalMoveError,
    InvalidFieldsError,
    RefusedError,
    StaleTaskError,
    UnknownTaskError,
)

STATUS_OF: dict[type[DuecourseError], HTTPStatus] = {
    InvalidFieldsError: HTTPStatus.UNPROCESSABLE_ENTITY,
    IdempotencyConflictError: HTTPStatus.UNPROCESSABLE_ENTITY,
    UnknownTaskError: HTTPStatus.NOT_FOUND,
    AmbiguousIdError: HTTPStatus.CONFLICT,
    IllegalMoveError: HTTPStatus.CONFLICT,
    RefusedError: HTTPStatus.CONFLICT,
    StaleTaskError: HTTPStatus.CONFLICT,
}


def problem_of(error: DuecourseError) -> Response[str]:
    status = STATUS_OF.get(type(error), HTTPStatus.INTERNAL_SERVER_ERROR)
    errors = error.errors if isinstance(error, InvalidFieldsError) else ()
    return problem(status, str(error), errors)


def problem(status: HTTPStatus, detail: str, errors: Sequence[FieldError] = ()) -> Response[str]:
    body: dict[str, object] = {
        "type": "about:blank",
        "title": status.phrase,
        "status": status.value,
        "detail": detail,
    }
    if errors:
        body["errors"] = [{"field": error.field, "message": error.message} for error in errors]
    return Response(status.value, "application/problem+json", json.dumps(body))
