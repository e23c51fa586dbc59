"""A provider that is asked by one POST of JSON. What differs between them is in the subclasses."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, ClassVar

from duecourse.adapters.http.json_response import read_json
from duecourse.adapters.providers.completion import Said, reply_to
from duecourse.adapters.providers.error_responses import is_refusal, refusal_of
from duecourse.adapters.providers.errors import BadAnswerError, MissingKeyError, ProviderError
from duecourse.adapters.providers.options import (
    OPTION_KEYS,
    Options,
    options_at_work,
    read_options,
    time_left,
)
from duecourse.adapters.providers.prompt import most_input_tokens
from duecourse.domain.http.exchange import Answer, NoAnswerError, NotSentError
from duecourse.domain.limits.provider_settings import ProviderSettings
from duecourse.ports.integrations import Ask, Keys, Poster, Reply
from duecourse.ports.runtime import Clock

_KEY = re.compile(r"[!-~]{1,4096}")
_SHORTEST_SECRET = 8


@dataclass(frozen=True)
class Request:
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


class HttpProvider:
    name: ClassVar[str]
    payload_keys = OPTION_KEYS

    def __init__(
        self,
        settings: ProviderSettings,
        poster: Poster,
        keys: Keys,
        clock: Clock,
        *,
        loopback_allowed: bool = False,
    ) -> None:
        self._settings = settings
        self._poster = poster
        self._keys = keys
        self._clock = clock
        self._loopback_allowed = loopback_allowed

    def check(self, payload: Mapping[str, Any]) -> None:
        read_options(payload, self._settings, loopback_allowed=self._loopback_allowed)

    def most_it_costs(self, ask: Ask) -> int | None:
        options = options_at_work(
            ask.payload, self._settings, loopback_allowed=self._loopback_allowed
        )
        tokens = most_input_tokens(ask)
        return self._settings.cost_of(options.model, tokens, options.max_tokens)

    def act(self, ask: Ask) -> Reply:
        options = options_at_work(
            ask.payload, self._settings, loopback_allowed=self._loopback_allowed
        )
        key = self._key()
        left = time_left(options, deadline=ask.deadline, now=self._clock.now())
        answer = _without(key, self._post(self.request(ask, options, key), options, left))
        if is_refusal(answer):
            now = self._clock.now()
            raise refusal_of(self.name, answer, model=options.model, now=now)
        return reply_to(self.name, self._said(answer, options), options, self._settings)

    def request(self, ask: Ask, options: Options, key: str) -> Request:
        raise NotImplementedError

    def said(self, answer: Mapping[str, Any]) -> Said | None:
        """None for an answer of another shape."""
        raise NotImplementedError

    def _said(self, answer: Answer, options: Options) -> Said:
        told = read_json(answer.body)
        if told is None:
            raise BadAnswerError(self.name, "no JSON object", model=options.model)
        said = self.said(told)
        if said is None:
            raise BadAnswerError(self.name, "an unexpected format", model=options.model)
        return said

    def _key(self) -> str:
        # A secret that was pasted often ends with a line break.
        key = (self._keys.get(self.name) or "").strip()
        if not key:
            raise MissingKeyError(self.name)
        if not _KEY.fullmatch(key):
            raise MissingKeyError(self.name, "what is kept as the API key has other characters")
        return key

    def _post(self, request: Request, options: Options, left: timedelta) -> Answer:
        headers = {"Content-Type": "application/json", **request.headers}
        body = json.dumps(request.body).encode()
        try:
            return self._poster.post(
                f"{options.endpoint}{request.path}", body, headers, timeout=left
            )
        except NotSentError as error:
            raise _as_failure(f"{self.name} was not asked", error, options, cost=0) from error
        except NoAnswerError as error:
            raise _as_failure(f"connection to {self.name} lost", error, options) from error


def _as_failure(
    what: str, error: NotSentError | NoAnswerError, options: Options, *, cost: int | None = None
) -> ProviderError:
    """A call that may have arrived has failed all the same: its policy says what follows."""
    return ProviderError(
        f"{what}: {error}", type=error.type, code=error.code, cost=cost, model=options.model
    )


def _without(key: str, answer: Answer) -> Answer:
    """An error, or even a reply, may quote the key that was sent."""
    if len(key) < _SHORTEST_SECRET:
        return answer
    body = answer.body.replace(key.encode(), b"[redacted]")
    return Answer(answer.status, answer.headers, body)
