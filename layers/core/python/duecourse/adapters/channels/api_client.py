"""One request to a platform and its answer: in turn, in time, and without a secret in its words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from duecourse.adapters.channels.errors import RateLimitedError
from duecourse.adapters.channels.rate_limiter import RateLimiter
from duecourse.adapters.http.json_response import parse_object_or_none
from duecourse.domain.errors import DuecourseError, NotConfiguredError
from duecourse.domain.failures.retry_after import parse_retry_after
from duecourse.domain.http.exchange import HttpResponse
from duecourse.ports.integrations import HttpPatchClient, Keys
from duecourse.ports.runtime import Clock

SEND_TIMEOUT = timedelta(seconds=3)  # five of them are well within the time of a function
MIN_CALL_TIME = timedelta(seconds=0.5)
MAX_RATE_LIMIT_WAIT = timedelta(seconds=2)
_TOKEN_PATTERN = re.compile(r"[A-Za-z0-9:._-]{1,500}")


@dataclass(frozen=True, kw_only=True)
class ApiRequest:
    """`lane`: what the platform counts together with it. `secrets` may be quoted by an answer.
    `is_change`: of a message that is there already."""

    url: str
    body: Mapping[str, Any]
    rate_limit_key: str
    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    is_edit: bool = False


@dataclass(frozen=True)
class ApiResponse:
    """`said` is None where the answer is no JSON object."""

    status: int
    headers: Mapping[str, str]
    body: Mapping[str, Any] | None
    received_at: datetime

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300


ErrorParser = Callable[[ApiResponse], DuecourseError | None]


class ChatApiClient:
    def __init__(
        self,
        name: str,
        http_client: HttpPatchClient,
        tokens: Keys,
        clock: Clock,
        rate_limiter: RateLimiter,
    ) -> None:
        self._name = name
        self._http_client = http_client
        self._tokens = tokens
        self._clock = clock
        self._rate_limiter = rate_limiter

    def get_token(self) -> str:
        """Raises NotSetUpError, also for what cannot be one."""
        token = (self._tokens.get(self._name) or "").strip()
        if not _TOKEN_PATTERN.fullmatch(token):
            raise NotConfiguredError("token of", self._name)
        return token

    def deadline(self) -> datetime:
        """When a send that begins now must be over."""
        return self._clock.now() + SEND_TIMEOUT

    def call(
        self, request: ApiRequest, parse_error: ErrorParser, *, deadline: datetime
    ) -> ApiResponse:
        """Raises what `trouble` finds in the answer. A short flood is waited for, once."""
        reply = self._send(request, deadline=deadline)
        error = self._apply_rate_limit(parse_error(reply), request)
        if isinstance(error, RateLimitedError) and self._can_wait_for(error, deadline):
            reply = self._send(request, deadline=deadline)
            error = self._apply_rate_limit(parse_error(reply), request)
        if error is not None:
            raise error
        return reply

    def _send(self, request: ApiRequest, *, deadline: datetime) -> ApiResponse:
        self._rate_limiter.acquire(request.rate_limit_key, deadline=deadline - MIN_CALL_TIME)
        send = self._http_client.patch if request.is_edit else self._http_client.post
        headers = {"Content-Type": "application/json; charset=utf-8", **request.headers}
        left = max(deadline - self._clock.now(), MIN_CALL_TIME)
        body = json.dumps(request.body).encode()
        return self._parse_response(send(request.url, body, headers, timeout=left), request)

    def _parse_response(self, response: HttpResponse, request: ApiRequest) -> ApiResponse:
        now = self._clock.now()
        # Discord tells ahead that the next one would be too many.
        reset = parse_retry_after(response.headers.get("x-ratelimit-reset-after"))
        if response.headers.get("x-ratelimit-remaining") == "0" and reset is not None:
            self._rate_limiter.block(request.rate_limit_key, until=now + reset)
        said = _redact(request.secrets, parse_object_or_none(response.body))
        return ApiResponse(response.status, response.headers, said, now)

    def _apply_rate_limit(
        self, error: DuecourseError | None, request: ApiRequest
    ) -> DuecourseError | None:
        """What follows in this process need not knock in vain."""
        if isinstance(error, RateLimitedError) and error.retry_after is not None:
            until = self._clock.now() + error.retry_after
            self._rate_limiter.block(request.rate_limit_key, until=until)
            if error.is_global:
                self._rate_limiter.block_all(until=until)
        return error

    def _can_wait_for(self, error: RateLimitedError, deadline: datetime) -> bool:
        wait = error.retry_after
        if wait is None or wait > MAX_RATE_LIMIT_WAIT:
            return False
        return self._clock.now() + wait + MIN_CALL_TIME <= deadline


def _redact(secrets: Iterable[str], body: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """As read, since a secret may have been written with escapes."""
    text = json.dumps(body, ensure_ascii=False)
    for secret in filter(None, secrets):
        text = text.replace(secret, "[redacted]")
    shown: Mapping[str, Any] | None = json.loads(text)
    return shown
