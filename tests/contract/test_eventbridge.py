"""The event bus: events are published in order, at least once, within EventBridge's limits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.stub import ANY, Stubber
from duecourse.adapters.aws.bus_rules import BusRules
from duecourse.adapters.aws.eventbridge import MAX_ATTEMPTS, MAX_REQUEST_BYTES, EventBridgeBus
from duecourse.domain.errors import PublishError
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.events.rule_patterns import EVERYTHING, MatchableTypes
from duecourse.domain.tasks.event import EventType

from local.runtime.call_interceptor import Call, CallInterceptor, attribute_calls_to
from local.runtime.template import Resolver
from tests.support.builders.moments import NOW
from tests.support.builders.tasks import ID

if TYPE_CHECKING:
    from types_boto3_events.client import EventBridgeClient

NAME = "duecourse"
FAILED_ENTRY = {"ErrorCode": "InternalFailure", "ErrorMessage": "try again"}
PUBLISHED_ENTRY = {"EventId": "11710aed-b79e-4468-a20b-bb3c0c3b4860"}


class MatchingRules(BusRules):
    """Rules that match these types; without any, every type."""

    def __init__(self, *types: str) -> None:
        self._types = types

    def matchable_types(self) -> MatchableTypes:
        return MatchableTypes(frozenset(self._types)) if self._types else EVERYTHING


@pytest.fixture(scope="module")
def client(aws: Resolver) -> EventBridgeClient:  # noqa: ARG001 - its region
    client: EventBridgeClient = boto3.client("events")
    return client


@pytest.fixture
def pauses() -> list[int]:
    return []


@pytest.fixture
def bus(client: EventBridgeClient, pauses: list[int]) -> EventBridgeBus:
    return EventBridgeBus(client, NAME, MatchingRules(), backoff=pauses.append)


@pytest.fixture
def requests(calls: CallInterceptor) -> Iterator[list[list[dict[str, Any]]]]:
    """Record the entries of each request, as sent over the wire."""
    recorded: list[list[dict[str, Any]]] = []

    def record(call: Call) -> None:
        assert (call.service, call.operation) == ("events", "PutEvents")
        recorded.append(call.body["Entries"])

    calls.on_aws_call = record
    with attribute_calls_to("journal"):
        yield recorded


def an_event(n: int = 1, **detail: Any) -> LiveEvent:
    return LiveEvent(
        id=f"{ID}:{n}:0", type=EventType.TASK_FAILED, task_id=ID, at=NOW, detail=detail
    )


def events(number: int, **detail: Any) -> list[LiveEvent]:
    return [an_event(n, **detail) for n in range(1, number + 1)]


def event_ids_in(entries: list[dict[str, Any]]) -> list[str]:
    return [json.loads(entry["Detail"])["detail"]["event_id"] for entry in entries]


def ids(live_events: list[LiveEvent]) -> list[str]:
    return [event.id for event in live_events]


def test_an_event_is_published_as_on_the_websocket(
    bus: EventBridgeBus, requests: list[list[dict[str, Any]]]
) -> None:
    event = an_event(error="boom", category="unknown")
    bus.publish([event])
    [[entry]] = requests
    assert json.loads(entry.pop("Detail")) == event.to_json()
    assert entry == {
        "Source": "duecourse",
        "DetailType": "task:failed",
        "EventBusName": NAME,
        "Time": NOW.timestamp(),
        "Resources": [],
    }


@pytest.mark.parametrize(
    ("number", "sizes"),
    [(0, []), (1, [1]), (10, [10]), (11, [10, 1]), (25, [10, 10, 5])],
)
def test_ten_events_go_in_one_request_in_their_order(
    bus: EventBridgeBus, requests: list[list[dict[str, Any]]], number: int, sizes: list[int]
) -> None:
    published = events(number)
    bus.publish(published)
    assert [len(entries) for entries in requests] == sizes
    assert [event_id for entries in requests for event_id in event_ids_in(entries)] == ids(
        published
    )


@pytest.mark.parametrize("text", ["x" * 60_000, "é" * 30_000, "😀" * 15_000, '"' * 30_000])
def test_a_request_stays_within_the_size_limit(
    bus: EventBridgeBus, requests: list[list[dict[str, Any]]], text: str
) -> None:
    published = events(10, error=text)
    bus.publish(published)
    assert [len(entries) for entries in requests] == [4, 4, 2]
    for entries in requests:
        assert (
            sum(len(entry["Detail"].encode()) for entry in entries)
            <= MAX_REQUEST_BYTES
            < 256 * 1024
        )
        assert all(json.loads(entry["Detail"])["detail"]["error"] == text for entry in entries)


@pytest.mark.parametrize(
    "detail",
    [
        {"error": "x" * 300_000},
        {"error": "😀" * 200_000, "category": "unknown"},
        {"guidance": ["é" * 100_000] * 3},
        {"nested": {"deep": ["x" * 1_000] * 1_000}},
    ],
    ids=["one text", "wide characters", "a list", "nested"],
)
def test_the_longest_texts_of_an_oversized_event_are_truncated(
    bus: EventBridgeBus, requests: list[list[dict[str, Any]]], detail: dict[str, Any]
) -> None:
    bus.publish([an_event(1, **detail, run_id="run-1"), an_event(2)])
    entries = [entry for request in requests for entry in request]
    assert event_ids_in(entries) == [f"{ID}:1:0", f"{ID}:2:0"]
    assert len(entries[0]["Detail"].encode()) <= MAX_REQUEST_BYTES
    published_detail = json.loads(entries[0]["Detail"])["detail"]
    assert (published_detail["run_id"], published_detail.keys()) == (
        "run-1",
        {*detail, "run_id", "event_id"},
    )
    assert "…" in entries[0]["Detail"]


def stub_put_events(stubber: Stubber, results: list[dict[str, Any]]) -> None:
    failed_count = sum("ErrorCode" in result for result in results)
    reply = {"FailedEntryCount": failed_count, "Entries": results}
    stubber.add_response("put_events", reply, {"Entries": ANY})


def record_event_ids(client: EventBridgeClient) -> list[list[str]]:
    """Record the event ids of each coming request, also of stubbed ones."""
    recorded: list[list[str]] = []

    def record(params: dict[str, Any], **_: Any) -> None:
        recorded.append(event_ids_in(params["Entries"]))

    client.meta.events.register("before-parameter-build.events.PutEvents", record, "note")
    return recorded


@pytest.fixture
def requested_ids(client: EventBridgeClient) -> Iterator[list[list[str]]]:
    yield record_event_ids(client)
    client.meta.events.unregister("before-parameter-build.events.PutEvents", unique_id="note")


def test_publishing_resumes_in_order_from_the_first_failed_event(
    bus: EventBridgeBus,
    client: EventBridgeClient,
    requested_ids: list[list[str]],
    pauses: list[int],
) -> None:
    published = events(4)
    with Stubber(client) as stubber:
        stub_put_events(stubber, [PUBLISHED_ENTRY, FAILED_ENTRY, PUBLISHED_ENTRY, FAILED_ENTRY])
        stub_put_events(stubber, [PUBLISHED_ENTRY, FAILED_ENTRY, FAILED_ENTRY])
        stub_put_events(stubber, [PUBLISHED_ENTRY, PUBLISHED_ENTRY])
        bus.publish(published)
        stubber.assert_no_pending_responses()
    assert requested_ids == [ids(published), ids(published[1:]), ids(published[2:])]
    assert pauses == [1, 2]


def test_an_event_that_keeps_failing_raises_with_the_published_count(
    bus: EventBridgeBus,
    client: EventBridgeClient,
    requested_ids: list[list[str]],
    pauses: list[int],
) -> None:
    published = events(21)
    with Stubber(client) as stubber:
        stub_put_events(stubber, [PUBLISHED_ENTRY] * 10)
        stub_put_events(stubber, [*[PUBLISHED_ENTRY] * 8, FAILED_ENTRY, PUBLISHED_ENTRY])
        for _ in range(MAX_ATTEMPTS - 1):
            stub_put_events(stubber, [FAILED_ENTRY, PUBLISHED_ENTRY])
        with pytest.raises(PublishError, match="InternalFailure") as unpublished:
            bus.publish(published)
    assert unpublished.value.published_count == 18
    assert requested_ids == [
        ids(published[:10]),
        ids(published[10:20]),
        *[ids(published[18:20])] * (MAX_ATTEMPTS - 1),
    ]
    assert len(pauses) == MAX_ATTEMPTS - 1


def test_an_error_of_the_bus_raises_with_the_published_count(
    bus: EventBridgeBus, client: EventBridgeClient
) -> None:
    with Stubber(client) as stubber:
        stub_put_events(stubber, [PUBLISHED_ENTRY] * 10)
        stub_put_events(stubber, [PUBLISHED_ENTRY, FAILED_ENTRY])
        stubber.add_client_error("put_events", "InternalException", http_status_code=500)
        with pytest.raises(PublishError, match="InternalException") as unpublished:
            bus.publish(events(12))
    assert unpublished.value.published_count == 11
    assert isinstance(unpublished.value.__cause__, client.exceptions.ClientError)


# Events that no rule can match


def a_completed_event(n: int) -> LiveEvent:
    return replace(an_event(n), type=EventType.TASK_COMPLETED)


def test_only_events_that_a_rule_can_match_are_published(
    client: EventBridgeClient, requests: list[list[dict[str, Any]]]
) -> None:
    bus = EventBridgeBus(client, NAME, MatchingRules("task:failed"), backoff=lambda _: None)
    bus.publish([an_event(1), a_completed_event(2), an_event(3)])
    [entries] = requests
    assert event_ids_in(entries) == [f"{ID}:1:0", f"{ID}:3:0"]
    bus.publish([a_completed_event(4)])
    assert len(requests) == 1


def test_a_failure_is_reported_at_its_place_among_all_events(client: EventBridgeClient) -> None:
    bus = EventBridgeBus(client, NAME, MatchingRules("task:failed"), backoff=lambda _: None)
    with Stubber(client) as stubber:
        stub_put_events(stubber, [PUBLISHED_ENTRY, FAILED_ENTRY])
        for _ in range(MAX_ATTEMPTS - 1):
            stub_put_events(stubber, [FAILED_ENTRY])
        with pytest.raises(PublishError) as unpublished:
            bus.publish([an_event(1), a_completed_event(2), a_completed_event(3), an_event(4)])
    assert unpublished.value.published_count == 3
