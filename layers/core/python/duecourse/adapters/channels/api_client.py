"""One request to a platform and its answer: in turn, in time, and without a secret in its words."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from duecourse.adapters.channels.errors import FloodError
from duecourse.adapters.channels.rate_limiter import Pace
from duecourse.adapters.http.json_response import read_json
from duecourse.domain.errors import DuecourseError, NotSetUpError
from duecourse.domain.failures.retry_after import read_wait
from duecourse.domain.http.exchange import Answer
from duecourse.ports.integrations import Keys, Patcher
from duecourse.ports.runtime import Clock

LONGEST_SEND = timedelta(seconds=3)  # five of them are well within the time of a function
SHORTEST_CALL = timedelta(seconds=0.5)
LONGEST_FLOOD_WAIT = timedelta(seconds=2)
_TOKEN = re.compile(r"[A-Za-z0-9:._-]{1,500}")


@dataclass(frozen=True, kw_only=True)
class Request:
    """`lane`: what the platform counts together with it. `secrets` may be quoted by an answer.
    `is_change`: of a message that is there already."""

    url: str
    body: Mapping[str, Any]
    lane: str
    headers: Mapping[str, str] = field(default_factory=dict)
    secrets: tuple[str, ...] = ()
    is_change: bool = False


@dataclass(frozen=True)
class Reply:
    """`said` is None where the answer is no JSON object."""

    status: int
    headers: Mapping[str, str]
    said: Mapping[str, Any] | None
    at: datetime

    @property
    def is_yes(self) -> bool:
        return 200 <= self.status < 300


Trouble = Callable[[Reply], DuecourseError | None]


class ChatApi:
    def __init__(self, name: str, poster: Patcher, tokens: Keys, clock: Clock, pace: Pace) -> None:
        self._name = name
        self._poster = poster
        self._tokens = tokens
        self._clock = clock
        self._pace = pace

    def token(self) -> str:
        """Raises NotSetUpError, also for what cannot be one."""
        token = (self._tokens.get(self._name) or "").strip()
        if not _TOKEN.fullmatch(token):
            raise NotSetUpError("token of", self._name)
        return token

    def deadline(self) -> datetime:
        """When a send that begins now must be over."""
        return self._clock.now() + LONGEST_SEND

    def ask(self, request: Request, trouble: Trouble, *, by: datetime) -> Reply:
        """Raises what `trouble` finds in the answer. A short flood is waited for, once."""
        reply = self._asked(request, by=by)
        error = self._noted(trouble(reply), request)
        if isinstance(error, FloodError) and self._is_soon_over(error, by):
            reply = self._asked(request, by=by)
            error = self._noted(trouble(reply), request)
        if error is not None:
            raise error
        return reply

    def _asked(self, request: Request, *, by: datetime) -> Reply:
        self._pace.take_turn(request.lane, by=by - SHORTEST_CALL)
        send = self._poster.patch if request.is_change else self._poster.post
        headers = {"Content-Type": "application/json; charset=utf-8", **request.headers}
        left = max(by - self._clock.now(), SHORTEST_CALL)
        body = json.dumps(request.body).encode()
        return self._read(send(request.url, body, headers, timeout=left), request)

    def _read(self, answer: Answer, request: Request) -> Reply:
        now = self._clock.now()
        # Discord tells ahead that the next one would be too many.
        reset = read_wait(answer.headers.get("x-ratelimit-reset-after"))
        if answer.headers.get("x-ratelimit-remaining") == "0" and reset is not None:
            self._pace.hold(request.lane, until=now + reset)
        said = _without(request.secrets, read_json(answer.body))
        return Reply(answer.status, answer.headers, said, now)

    def _noted(self, error: DuecourseError | None, request: Request) -> DuecourseError | None:
        """What follows in this process need not knock in vain."""
        if isinstance(error, FloodError) and error.retry_after is not None:
            until = self._clock.now() + error.retry_after
            self._pace.hold(request.lane, until=until)
            if error.is_for_all:
                self._pace.hold_all(until=until)
        return error

    def _is_soon_over(self, flood: FloodError, by: datetime) -> bool:
        wait = flood.retry_after
        if wait is None or wait > LONGEST_FLOOD_WAIT:
            return False
        return self._clock.now() + wait + SHORTEST_CALL <= by


def _without(secrets: Iterable[str], said: Mapping[str, Any] | None) -> Mapping[str, Any] | None:
    """As read, since a secret may have been written with escapes."""
    text = json.dumps(said, ensure_ascii=False)
    for secret in filter(None, secrets):
        text = text.replace(secret, "[redacted]")
    shown: Mapping[str, Any] | None = json.loads(text)
    return shown
