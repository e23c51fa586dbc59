"""Calls to the outside that announce themselves, so that a fault can strike them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from duecourse.domain.http.exchange import Answer
from duecourse.domain.origin import Effect
from duecourse.ports.integrations import Ask, Poster, Provider, Reply

from local.runtime.call_interceptor import Calls
from local.testing.faults import InjectedError


@dataclass(frozen=True)
class WatchedProvider:
    provider: Provider
    calls: Calls

    @property
    def payload_keys(self) -> Collection[str]:
        return self.provider.payload_keys

    def act(self, ask: Ask) -> Reply:
        with self.calls.around("provider.call"):
            return self.provider.act(ask)

    def most_it_costs(self, ask: Ask) -> int | None:
        return self.provider.most_it_costs(ask)

    def check(self, payload: Mapping[str, Any]) -> None:
        self.provider.check(payload)


@dataclass(frozen=True)
class WatchedPoster:
    poster: Poster
    calls: Calls

    def post(
        self, url: str, body: bytes, headers: Mapping[str, str], *, timeout: timedelta
    ) -> Answer:
        was_sent = False
        try:
            with self.calls.around("http.post"):
                answer = self.poster.post(url, body, headers, timeout=timeout)
                was_sent = True
                return answer
        except InjectedError as error:
            # As the real one: an answer that was not heard leaves open what happened.
            is_open = was_sent and error.status is None
            error.effect = Effect.UNKNOWN if is_open else Effect.NONE
            raise
