"""Broadcasting events to connections, and handling slow, closed and revoked ones."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Barrier
from typing import Any

import pytest
from duecourse.adapters.aws.cached_connections import CachedConnections
from duecourse.adapters.runtime.thread_pool import ThreadedFanOut
from duecourse.domain.access.tokens import ApiToken
from duecourse.domain.errors import ConnectionGoneError
from duecourse.domain.events.connection import (
    CONNECT_GRACE_PERIOD,
    Connection,
    Subscription,
    create_connection,
)
from duecourse.domain.events.event import LiveEvent
from duecourse.usecases.events.broadcast import (
    TIME_LIMIT,
    BroadcastDeps,
    BroadcastResult,
    broadcast,
)

from tests.support.builders.moments import HOUR, MILLISECOND, NOW
from tests.support.fakes.chat import MemoryConnections
from tests.support.fakes.clock import ManualClock
from tests.unit.domain.events.test_connection import a_token, an_event

SECOND = timedelta(seconds=1)


class Tokens:
    def __init__(self, *tokens: ApiToken) -> None:
        self.known = tokens
        self.error: Exception | None = None

    def find(self, secret: str) -> ApiToken | None:
        raise NotImplementedError

    def find_by_hash(self, sha256: str) -> ApiToken | None:
        if self.error is not None:
            raise self.error
        return next((token for token in self.known if token.sha256 == sha256), None)


class RecordingSender:
    """Records what each connection receives; `side_effects` run before each send or close."""

    def __init__(self) -> None:
        self.received: dict[str, list[str]] = {}
        self.attempts: list[str] = []
        self.closed: list[str] = []
        self.side_effects: dict[str, Callable[[], object]] = {}

    def send(self, connection_id: str, text: str) -> None:
        self.attempts.append(connection_id)
        self.side_effects.get(connection_id, lambda: None)()
        self.received.setdefault(connection_id, []).append(json.loads(text)["detail"]["event_id"])

    def close(self, connection_id: str) -> None:
        self.closed.append(connection_id)
        self.side_effects.get(connection_id, lambda: None)()


class BroadcastHarness:
    """A broadcast with connections that were opened an hour ago."""

    def __init__(self, *names: str, threads: int = 1) -> None:
        self.clock = ManualClock(NOW)
        self.sender = RecordingSender()
        self.connections = MemoryConnections(*(a_connection(name) for name in names))
        self.tokens = Tokens(a_token())
        self.threads = threads

    def broadcast_events(self, *events: LiveEvent) -> dict[str, BroadcastResult]:
        deps = BroadcastDeps(
            connections=self.connections,
            tokens=self.tokens,
            sender=self.sender,
            fan_out=ThreadedFanOut(self.threads),
            clock=self.clock,
        )
        return {result.connection.id: result for result in broadcast(events, deps)}


def a_connection(name: str, *, since: datetime = NOW - HOUR, **fields: Any) -> Connection:
    return replace(create_connection(name, a_token(), now=since), **fields)


def events(*ids: str, **fields: Any) -> list[LiveEvent]:
    return [an_event(id=event_id, **fields) for event_id in ids]


def raise_error(error: Exception) -> Callable[[], object]:
    def fail() -> None:
        raise error

    return fail


def test_every_connection_receives_all_events_in_order() -> None:
    harness = BroadcastHarness("a", "b")
    results = harness.broadcast_events(*events("1", "2", "3"))
    assert harness.sender.received == {"a": ["1", "2", "3"], "b": ["1", "2", "3"]}
    assert {result.sent_count for result in results.values()} == {3}


def test_every_connection_receives_only_its_subscription() -> None:
    harness = BroadcastHarness("a", "b")
    harness.connections.update_subscription("a", Subscription(types=("breaker:",)))
    harness.broadcast_events(*events("1"), *events("2", event_type="breaker:opened"))
    assert harness.sender.received == {"a": ["2"], "b": ["1", "2"]}


def test_without_connections_the_events_are_not_read() -> None:
    def unread() -> Iterator[LiveEvent]:
        raise AssertionError
        yield

    harness = BroadcastHarness()
    assert broadcast(unread(), make_deps(harness)) == []


def make_deps(harness: BroadcastHarness) -> BroadcastDeps:
    return BroadcastDeps(
        harness.connections, harness.tokens, harness.sender, ThreadedFanOut(1), harness.clock
    )


def test_a_closed_connection_costs_one_send_and_is_removed() -> None:
    harness = BroadcastHarness("gone", "here")
    harness.sender.side_effects["gone"] = raise_error(ConnectionGoneError("gone"))
    results = harness.broadcast_events(*events("1", "2"))
    harness.broadcast_events(*events("3"))
    assert harness.sender.attempts.count("gone") == 1
    assert results["gone"].end_reason == "gone"
    assert (list(harness.connections.connections), harness.sender.received["here"]) == (
        ["here"],
        ["1", "2", "3"],
    )


def test_a_connection_that_is_still_opening_is_not_removed() -> None:
    harness = BroadcastHarness()
    harness.connections.add(a_connection("new", since=NOW))
    harness.sender.side_effects["new"] = raise_error(ConnectionGoneError("new"))
    harness.clock.at = NOW + CONNECT_GRACE_PERIOD - MILLISECOND
    assert harness.broadcast_events(*events("1", "2"))["new"].missed_count == 2
    assert list(harness.connections.connections) == ["new"]
    harness.clock.at = NOW + CONNECT_GRACE_PERIOD
    assert harness.broadcast_events(*events("3"))["new"].end_reason == "gone"
    assert list(harness.connections.connections) == []


def test_an_expired_connection_is_closed_and_receives_nothing() -> None:
    harness = BroadcastHarness()
    harness.connections.add(a_connection("old", since=NOW - 2 * HOUR))
    assert harness.broadcast_events(*events("1"))["old"].end_reason == "expired"
    assert (harness.sender.attempts, harness.sender.closed) == ([], ["old"])
    assert harness.connections.connections == {}


def test_a_connection_with_a_revoked_token_is_closed_and_receives_nothing() -> None:
    harness = BroadcastHarness("a")
    harness.tokens = Tokens()
    assert harness.broadcast_events(*events("1"))["a"].end_reason == "token no longer valid"
    assert (harness.sender.attempts, harness.sender.closed) == ([], ["a"])
    assert harness.connections.connections == {}


def test_closing_a_closed_connection_is_not_an_error() -> None:
    harness = BroadcastHarness("a")
    harness.tokens = Tokens()
    harness.sender.side_effects["a"] = raise_error(ConnectionGoneError("a"))
    assert harness.broadcast_events(*events("1"))["a"].error is None


def test_an_error_affects_one_connection_and_this_batch_only() -> None:
    harness = BroadcastHarness("a", "b")
    harness.sender.side_effects["a"] = raise_error(TimeoutError("too slow"))
    results = harness.broadcast_events(*events("1", "2"))
    assert isinstance(results["a"].error, TimeoutError)
    assert (harness.sender.attempts.count("a"), harness.sender.received) == (1, {"b": ["1", "2"]})
    assert list(harness.connections.connections) == ["a", "b"]


def test_events_left_when_time_runs_out_are_not_sent() -> None:
    harness = BroadcastHarness("slow", "last")

    def takes_long() -> None:
        harness.clock.at += TIME_LIMIT / 2

    harness.sender.side_effects["slow"] = takes_long
    results = harness.broadcast_events(*events("1", "2", "3"))
    assert (results["slow"].sent_count, results["slow"].missed_count) == (2, 1)
    assert (results["last"].sent_count, results["last"].missed_count) == (0, 3)
    assert len(harness.connections.connections) == 2


def test_connections_are_served_in_parallel() -> None:
    harness = BroadcastHarness(*"abcdefgh", threads=8)
    barrier = Barrier(8)  # breaks where one waits for the other
    harness.sender.side_effects = {name: lambda: barrier.wait(timeout=20) for name in "abcdefgh"}
    assert {one.sent_count for one in harness.broadcast_events(*events("1", "2")).values()} == {2}


def test_nothing_is_sent_if_tokens_cannot_be_read() -> None:
    harness = BroadcastHarness("a")
    harness.tokens.error = OSError("no network")
    with pytest.raises(OSError, match="no network"):
        harness.broadcast_events(*events("1"))
    assert (harness.sender.attempts, list(harness.connections.connections)) == ([], ["a"])


def test_the_list_of_connections_is_cached_for_a_second() -> None:
    memory, clock = MemoryConnections(), ManualClock(NOW)
    cached = CachedConnections(memory, clock)
    assert (cached.list_all(), cached.list_all(), memory.list_calls) == ([], [], 1)
    memory.add(a_connection("elsewhere"))
    clock.at += SECOND - MILLISECOND
    assert cached.list_all() == []
    clock.at += MILLISECOND
    assert [one.id for one in cached.list_all()] == ["elsewhere"]


def test_a_local_change_updates_the_cache_at_once() -> None:
    cached = CachedConnections(MemoryConnections(), ManualClock(NOW))
    assert cached.list_all() == []
    cached.add(a_connection("here"))
    assert len(cached.list_all()) == 1
    assert cached.update_subscription("here", Subscription(types=("task:",)))
    assert [one.subscription.types for one in cached.list_all()] == [("task:",)]
    cached.remove("here")
    assert cached.list_all() == []
    assert not cached.update_subscription("here", Subscription())
