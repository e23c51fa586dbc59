"""HTTP responses, and request errors that tell whether the request may have arrived."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from duecourse.domain.errors import DuecourseError
from duecourse.domain.origin import Effect

# A gateway sends these when its upstream may have done the work; 520 and 524 are Cloudflare's. With
# any other error status the receiver did not do the work: with 408 the request was incomplete, with
# 503 it was not started.
GATEWAY_STATUSES = frozenset({502, 504, 520, 524})


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
