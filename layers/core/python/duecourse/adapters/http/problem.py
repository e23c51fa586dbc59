"""Error responses in the format of RFC 9457 (problem details)."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

from duecourse.adapters.http.request_errors import (
    NotVerifiedError,
    TooLargeError,
    UnknownPlatformError,
)
from duecourse.domain.errors import (
    AmbiguousIdError,
    DuecourseError,
    IdempotencyConflictError,
    IllegalTransitionError,
    InvalidFieldsError,
    InvalidStateError,
    StaleSubjectError,
    StaleTaskError,
    UnknownPolicyError,
    UnknownTaskError,
    UnreadableItemError,
)

CONTENT_TYPE = "application/problem+json"
STATUS_BY_ERROR: dict[type[DuecourseError], HTTPStatus] = {
    InvalidFieldsError: HTTPStatus.UNPROCESSABLE_ENTITY,
    IdempotencyConflictError: HTTPStatus.UNPROCESSABLE_ENTITY,
    NotVerifiedError: HTTPStatus.UNAUTHORIZED,
    TooLargeError: HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
    UnknownPlatformError: HTTPStatus.NOT_FOUND,
    UnknownTaskError: HTTPStatus.NOT_FOUND,
    UnknownPolicyError: HTTPStatus.NOT_FOUND,
    AmbiguousIdError: HTTPStatus.CONFLICT,
    IllegalTransitionError: HTTPStatus.CONFLICT,
    InvalidStateError: HTTPStatus.CONFLICT,
    StaleTaskError: HTTPStatus.CONFLICT,
    StaleSubjectError: HTTPStatus.CONFLICT,
    UnreadableItemError: HTTPStatus.SERVICE_UNAVAILABLE,
}


def problem(status: int, detail: str) -> dict[str, Any]:
    title = HTTPStatus(status).phrase
    return {"type": "about:blank", "title": title, "status": int(status), "detail": detail}


def problem_from_error(error: DuecourseError) -> dict[str, Any]:
    body = problem(STATUS_BY_ERROR.get(type(error), HTTPStatus.INTERNAL_SERVER_ERROR), str(error))
    if isinstance(error, NotVerifiedError):
        body["detail"] = "the request could not be verified"
    if isinstance(error, InvalidFieldsError):
        body["errors"] = [{"field": bad.field, "message": bad.message} for bad in error.errors]
    return body
