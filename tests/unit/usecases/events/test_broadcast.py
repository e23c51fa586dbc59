"""What listeners are told, and what becomes of those who are slow, gone or not welcome."""

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


class ListPusher:
    """`manners` says what happens on the way to somebody."""

    def __init__(self) -> None:
        self.heard: dict[str, list[str]] = {}
        self.tries: list[str] = []
        self.closed: list[str] = []
        self.manners: dict[str, Callable[[], object]] = {}

    def send(self, connection_id: str, text: str) -> None:
        self.tries.append(connection_id)
        self.manners.get(connection_id, lambda: None)()
        self.heard.setdefault(connection_id, []).append(json.loads(text)["detail"]["event_id"])

    def close(self, connection_id: str) -> None:
        self.closed.append(connection_id)
        self.manners.get(connection_id, lambda: None)()


class House:
    """An hour ago, everybody came in."""

    def __init__(self, *names: str, threads: int = 1) -> None:
        self.clock = ManualClock(NOW)
        self.pusher = ListPusher()
        self.connections = MemoryConnections(*(a_listener(name) for name in names))
        self.tokens = Tokens(a_token())
        self.threads = threads

    def push(self, *events: LiveEvent) -> dict[str, BroadcastResult]:
        audience = BroadcastDeps(
            connections=self.connections,
            tokens=self.tokens,
            sender=self.pusher,
            fan_out=ThreadedFanOut(self.threads),
            clock=self.clock,
        )
        return {heard.connection.id: heard for heard in broadcast(events, audience)}


def a_listener(name: str, *, since: datetime = NOW - HOUR, **fields: Any) -> Connection:
    return replace(create_connection(name, a_token(), now=since), **fields)


def events(*ids: str, **fields: Any) -> list[LiveEvent]:
    return [an_event(id=one, **fields) for one in ids]


def raising(error: Exception) -> Callable[[], object]:
    def fail() -> None:
        raise error

    return fail


def test_everybody_hears_everything_in_order() -> None:
    house = House("a", "b")
    heard = house.push(*events("1", "2", "3"))
    assert house.pusher.heard == {"a": ["1", "2", "3"], "b": ["1", "2", "3"]}
    assert {one.sent_count for one in heard.values()} == {3}


def test_everybody_hears_what_they_asked_for() -> None:
    house = House("a", "b")
    house.connections.update_subscription("a", Subscription(types=("breaker:",)))
    house.push(*events("1"), *events("2", event_type="breaker:opened"))
    assert house.pusher.heard == {"a": ["2"], "b": ["1", "2"]}


def test_where_nobody_listens_the_events_are_not_even_read() -> None:
    def unread() -> Iterator[LiveEvent]:
        raise AssertionError
        yield

    house = House()
    assert broadcast(unread(), _audience(house)) == []


def _audience(house: House) -> BroadcastDeps:
    return BroadcastDeps(
        house.connections, house.tokens, house.pusher, ThreadedFanOut(1), house.clock
    )


def test_who_is_gone_costs_one_push_and_is_let_go_of() -> None:
    house = House("gone", "here")
    house.pusher.manners["gone"] = raising(ConnectionGoneError("gone"))
    heard = house.push(*events("1", "2"))
    house.push(*events("3"))
    assert house.pusher.tries.count("gone") == 1
    assert heard["gone"].end_reason == "gone"
    assert (list(house.connections.connections), house.pusher.heard["here"]) == (
        ["here"],
        ["1", "2", "3"],
    )


def test_who_is_still_getting_in_is_not_taken_for_gone() -> None:
    house = House()
    house.connections.add(a_listener("new", since=NOW))
    house.pusher.manners["new"] = raising(ConnectionGoneError("new"))
    house.clock.at = NOW + CONNECT_GRACE_PERIOD - MILLISECOND
    assert house.push(*events("1", "2"))["new"].missed_count == 2
    assert list(house.connections.connections) == ["new"]
    house.clock.at = NOW + CONNECT_GRACE_PERIOD
    assert house.push(*events("3"))["new"].end_reason == "gone"
    assert list(house.connections.connections) == []


def test_who_has_expired_is_closed_and_hears_nothing() -> None:
    house = House()
    house.connections.add(a_listener("old", since=NOW - 2 * HOUR))
    assert house.push(*events("1"))["old"].end_reason == "expired"
    assert (house.pusher.tries, house.pusher.closed) == ([], ["old"])
    assert house.connections.connections == {}


def test_whose_token_was_revoked_is_closed_and_hears_nothing() -> None:
    house = House("a")
    house.tokens = Tokens()
    assert house.push(*events("1"))["a"].end_reason == "token no longer valid"
    assert (house.pusher.tries, house.pusher.closed) == ([], ["a"])
    assert house.connections.connections == {}


def test_to_close_what_is_gone_already_is_no_error() -> None:
    house = House("a")
    house.tokens = Tokens()
    house.pusher.manners["a"] = raising(ConnectionGoneError("a"))
    assert house.push(*events("1"))["a"].error is None


def test_an_error_concerns_one_listener_and_this_batch() -> None:
    house = House("a", "b")
    house.pusher.manners["a"] = raising(TimeoutError("too slow"))
    heard = house.push(*events("1", "2"))
    assert isinstance(heard["a"].error, TimeoutError)
    assert (house.pusher.tries.count("a"), house.pusher.heard) == (1, {"b": ["1", "2"]})
    assert list(house.connections.connections) == ["a", "b"]


def test_when_the_time_is_up_the_rest_is_missed() -> None:
    house = House("slow", "last")

    def takes_long() -> None:
        house.clock.at += TIME_LIMIT / 2

    house.pusher.manners["slow"] = takes_long
    heard = house.push(*events("1", "2", "3"))
    assert (heard["slow"].sent_count, heard["slow"].missed_count) == (2, 1)
    assert (heard["last"].sent_count, heard["last"].missed_count) == (0, 3)
    assert len(house.connections.connections) == 2


def test_listeners_are_told_at_the_same_time() -> None:
    house = House(*"abcdefgh", threads=8)
    barrier = Barrier(8)  # breaks where one waits for the other
    house.pusher.manners = {name: lambda: barrier.wait(timeout=20) for name in "abcdefgh"}
    assert {one.sent_count for one in house.push(*events("1", "2")).values()} == {2}


def test_nobody_is_told_anything_where_the_tokens_cannot_be_read() -> None:
    house = House("a")
    house.tokens.error = OSError("no network")
    with pytest.raises(OSError, match="no network"):
        house.push(*events("1"))
    assert (house.pusher.tries, list(house.connections.connections)) == ([], ["a"])


def test_who_listens_is_kept_for_a_second() -> None:
    memory, clock = MemoryConnections(), ManualClock(NOW)
    kept = CachedConnections(memory, clock)
    assert (kept.list_all(), kept.list_all(), memory.list_calls) == ([], [], 1)
    memory.add(a_listener("elsewhere"))
    clock.at += SECOND - MILLISECOND
    assert kept.list_all() == []
    clock.at += MILLISECOND
    assert [one.id for one in kept.list_all()] == ["elsewhere"]


def test_what_is_changed_here_is_known_at_once() -> None:
    kept = CachedConnections(MemoryConnections(), ManualClock(NOW))
    assert kept.list_all() == []
    kept.add(a_listener("here"))
    assert len(kept.list_all()) == 1
    assert kept.update_subscription("here", Subscription(types=("task:",)))
    assert [one.subscription.types for one in kept.list_all()] == [("task:",)]
    kept.remove("here")
    assert kept.list_all() == []
    assert not kept.update_subscription("here", Subscription())
