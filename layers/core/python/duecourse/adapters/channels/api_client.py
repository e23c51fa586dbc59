"""Calls to a chat platform's API: rate-limited, with a deadline, and with secrets redacted."""

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
from duecourse.domain.errors import ChannelUnauthorizedError, DuecourseError
from duecourse.domain.failures.retry_after import parse_retry_after
from duecourse.domain.http.exchange import HttpResponse
from duecourse.ports.integrations import HttpPatchClient, TokenSource
from duecourse.ports.runtime import Clock

SEND_TIMEOUT = timedelta(seconds=3)  # five of them fit well within a function's timeout
MIN_CALL_TIME = timedelta(seconds=0.5)
MAX_RATE_LIMIT_WAIT = timedelta(seconds=2)
REFUSAL_MEMORY = timedelta(seconds=30)  # shorter than any wait for the next try
_TOKEN_PATTERN = re.compile(r"[A-Za-z0-9:._-]{1,500}")


@dataclass(frozen=True, kw_only=True)
class ApiRequest:
    """One call. `rate_limit_key` names what the platform counts together, such as a chat.

    `secrets` are redacted from the response. `is_edit`: the call changes an existing message.
    """

    url: str
    body: Mapping[str, Any]
    rate_limit_key: str
    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    is_edit: bool = False


@dataclass(frozen=True)
class ApiResponse:
    """`body` is None if the response is not a JSON object."""

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
        tokens: TokenSource,
        clock: Clock,
        rate_limiter: RateLimiter,
    ) -> None:
        self._name = name
        self._http_client = http_client
        self._tokens = tokens
        self._clock = clock
        self._rate_limiter = rate_limiter
        self._refused_token = ""
        self._refused_until = clock.now()

    def get_token(self) -> str:
        """Return the bot's token.

        Raises ChannelUnauthorizedError if it is missing or malformed, or if the platform has just
        refused it: repeated calls with a bad token can get the bot banned.
        """
        token = self._read_token()
        if not _TOKEN_PATTERN.fullmatch(token):
            self._tokens.refresh()
            raise ChannelUnauthorizedError(self._name, "there is no valid bot token in the secret")
        if token == self._refused_token and self._clock.now() < self._refused_until:
            raise ChannelUnauthorizedError(self._name, "the platform refuses the bot's token")
        return token

    def _read_token(self) -> str:
        try:
            return (self._tokens.get(self._name) or "").strip()
        except DuecourseError as error:  # the secret cannot be read, or is not what it should be
            raise ChannelUnauthorizedError(self._name, str(error)) from error

    def deadline(self) -> datetime:
        """Return the deadline of a send that starts now."""
        return self._clock.now() + SEND_TIMEOUT

    def call(
        self, request: ApiRequest, parse_error: ErrorParser, *, deadline: datetime
    ) -> ApiResponse:
        """Send the request and return the response. Raises what `parse_error` finds in it.

        A short rate limit is waited for, once.
        """
        reply = self._send(request, deadline=deadline)
        error = self._apply_rate_limit(parse_error(reply), request)
        if isinstance(error, RateLimitedError) and self._can_wait_for(error, deadline):
            reply = self._send(request, deadline=deadline)
            error = self._apply_rate_limit(parse_error(reply), request)
        if isinstance(error, ChannelUnauthorizedError):
            self._remember_refusal()
        if error is not None:
            raise error
        return reply

    def _remember_refusal(self) -> None:
        self._refused_token = self._read_token()
        self._refused_until = self._clock.now() + REFUSAL_MEMORY
        self._tokens.refresh()

    def _send(self, request: ApiRequest, *, deadline: datetime) -> ApiResponse:
        self._rate_limiter.acquire(request.rate_limit_key, deadline=deadline - MIN_CALL_TIME)
        send = self._http_client.patch if request.is_edit else self._http_client.post
        headers = {"Content-Type": "application/json; charset=utf-8", **request.headers}
        left = max(deadline - self._clock.now(), MIN_CALL_TIME)
        body = json.dumps(request.body).encode()
        return self._parse_response(send(request.url, body, headers, timeout=left), request)

    def _parse_response(self, response: HttpResponse, request: ApiRequest) -> ApiResponse:
        now = self._clock.now()
        # Discord announces in advance that the next call would exceed the limit.
        reset = parse_retry_after(response.headers.get("x-ratelimit-reset-after"))
        if response.headers.get("x-ratelimit-remaining") == "0" and reset is not None:
            self._rate_limiter.block(request.rate_limit_key, until=now + reset)
        body = _redact(request.secrets, parse_object_or_none(response.body))
        return ApiResponse(response.status, response.headers, body, now)

    def _apply_rate_limit(
        self, error: DuecourseError | None, request: ApiRequest
    ) -> DuecourseError | None:
        """Make later calls in this process wait, if `error` is a rate limit. Return `error`."""
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
    """Return `body` without secrets.

    It is parsed first, because a secret may contain JSON escapes.
    """
    text = json.dumps(body, ensure_ascii=False)
    for secret in filter(None, secrets):
        text = text.replace(secret, "[redacted]")
    redacted: Mapping[str, Any] | None = json.loads(text)
    return redacted
