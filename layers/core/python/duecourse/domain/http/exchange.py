"""A request to the outside and its answer; what can go wrong says whether it may have arrived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from duecourse.domain.errors import DuecourseError
from duecourse.domain.origin import Effect


@dataclass(frozen=True)
class HttpResponse:
    """Header names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class NotSentError(DuecourseError):
    """Nothing of the request can have been understood: refused, not found, not connected."""

    type = "NotSent"
    effect = Effect.NONE

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class NoResponseError(DuecourseError):
    """The request, or part of it, went out, and no whole answer came back. `status` is known where
    only the rest of the answer is missing."""

    type = "NoAnswer"
    effect = Effect.UNKNOWN

    def __init__(self, message: str, *, code: str, status: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.status = status
