"""The results of calls that a container has seen, by provider, in memory."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from threading import Lock

from duecourse.domain.limits.breaker_results import ProviderFailure
from duecourse.domain.limits.circuit_breakers import MAX_BREAKERS, provider_key
from duecourse.domain.limits.unwritten_failures import UnwrittenFailures


class ContainerResults:
    """The results of the last MAX_BREAKERS providers.

    Locked, because the local stack runs several functions in one process.
    """

    def __init__(self) -> None:
        self._unwritten: dict[str, UnwrittenFailures] = {}
        self._lock = Lock()

    def reached_at(self, provider: str) -> datetime | None:
        """Return when a call last reached the provider, or None if that is unknown here."""
        return self._get(provider).reached_at

    def record_reached(self, provider: str, at: datetime) -> None:
        with self._lock:
            after = self._get(provider).with_reached(at)
            self._put(provider, replace(after, failures=()))

    def add_failures(
        self, provider: str, *failures: ProviderFailure, reached_at: datetime | None = None
    ) -> UnwrittenFailures:
        """Add failures and return all that are unwritten."""
        with self._lock:
            after = self._get(provider).add(*failures).with_reached(reached_at)
            return self._put(provider, after)

    def take_failures(self, provider: str) -> UnwrittenFailures:
        """Return the unwritten failures and forget them."""
        with self._lock:
            unwritten = self._get(provider)
            self._put(provider, replace(unwritten, failures=()))
            return unwritten

    def record_write(self, provider: str, at: datetime) -> None:
        with self._lock:
            after = replace(self._get(provider), written_at=at)
            self._put(provider, after)

    def _get(self, provider: str) -> UnwrittenFailures:
        return self._unwritten.get(provider_key(provider), UnwrittenFailures())

    def _put(self, provider: str, after: UnwrittenFailures) -> UnwrittenFailures:
        self._unwritten.pop(provider_key(provider), None)
        self._unwritten[provider_key(provider)] = after
        while len(self._unwritten) > MAX_BREAKERS:
            self._unwritten.pop(next(iter(self._unwritten)))
        return after
