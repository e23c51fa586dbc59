"""HTTP responses, and request errors that tell whether the request may have arrived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from duecourse.domain.errors import DuecourseError
from duecourse.domain.origin import Effect


@dataclass(frozen=True)
class HttpResponse:
    """Header names are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NotSentError(DuecourseError):
    """The receiver cannot have processed the request: refused, unresolved or not connected."""

    type = "NotSent"
    effect = Effect.NONE

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class NoResponseError(DuecourseError):
    """At least part of the request was sent, and no complete response arrived.

    `status` is set if only the rest of the response is missing.
    """

    type = "NoAnswer"
    effect = Effect.UNKNOWN

    def __init__(self, message: str, *, code: str, status: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
