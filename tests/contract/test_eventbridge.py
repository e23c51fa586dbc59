"""The event bus: all events in their order, at least once, in requests that EventBridge takes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.stub import ANY, Stubber
from duecourse.adapters.aws.eventbridge import MAX_ATTEMPTS, MAX_REQUEST_BYTES, EventBridgeBus
from duecourse.domain.errors import PublishError
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.tasks.event import EventType

from local.runtime.call_interceptor import Call, CallInterceptor, attribute_calls_to
from local.runtime.template import Resolver
from tests.support.builders.moments import NOW
from tests.support.builders.tasks import ID

if TYPE_CHECKING:
    from types_boto3_events.client import EventBridgeClient

NAME = "duecourse"
REFUSED = {"ErrorCode": "InternalFailure", "ErrorMessage": "try again"}
TAKEN = {"EventId": "11710aed-b79e-4468-a20b-bb3c0c3b4860"}


@pytest.fixture(scope="module")
def client(aws: Resolver) -> EventBridgeClient:  # noqa: ARG001 - its region
    made: EventBridgeClient = boto3.client("events")
    return made


@pytest.fixture
def pauses() -> list[int]:
    return []


@pytest.fixture
def bus(client: EventBridgeClient, pauses: list[int]) -> EventBridgeBus:
    return EventBridgeBus(client, NAME, backoff=pauses.append)


@pytest.fixture
def requests(calls: CallInterceptor) -> Iterator[list[list[dict[str, Any]]]]:
    """The entries of each request, as they went over the wire."""
    seen: list[list[dict[str, Any]]] = []

    def note(call: Call) -> None:
        assert (call.service, call.operation) == ("events", "PutEvents")
        seen.append(call.body["Entries"])

    calls.on_aws_call = note
    with attribute_calls_to("journal"):
        yield seen


def an_event(n: int = 1, **detail: Any) -> LiveEvent:
    return LiveEvent(
        id=f"{ID}:{n}:0", type=EventType.TASK_FAILED, task_id=ID, at=NOW, detail=detail
    )


def events(number: int, **detail: Any) -> list[LiveEvent]:
    return [an_event(n, **detail) for n in range(1, number + 1)]


def told_in(entries: list[dict[str, Any]]) -> list[str]:
    return [json.loads(entry["Detail"])["detail"]["event_id"] for entry in entries]


def ids(of: list[LiveEvent]) -> list[str]:
    return [event.id for event in of]


def test_an_event_is_told_as_on_the_websocket(
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
    sent = events(number)
    bus.publish(sent)
    assert [len(entries) for entries in requests] == sizes
    assert [told for entries in requests for told in told_in(entries)] == ids(sent)


@pytest.mark.parametrize("text", ["x" * 60_000, "é" * 30_000, "😀" * 15_000, '"' * 30_000])
def test_a_request_has_room_for_what_is_in_it(
    bus: EventBridgeBus, requests: list[list[dict[str, Any]]], text: str
) -> None:
    sent = events(10, error=text)
    bus.publish(sent)
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
def test_of_an_event_too_big_for_the_bus_the_longest_texts_are_cut(
    bus: EventBridgeBus, requests: list[list[dict[str, Any]]], detail: dict[str, Any]
) -> None:
    bus.publish([an_event(1, **detail, run_id="run-1"), an_event(2)])
    entries = [entry for request in requests for entry in request]
    assert told_in(entries) == [f"{ID}:1:0", f"{ID}:2:0"]
    assert len(entries[0]["Detail"].encode()) <= MAX_REQUEST_BYTES
    told = json.loads(entries[0]["Detail"])["detail"]
    assert (told["run_id"], told.keys()) == ("run-1", {*detail, "run_id", "event_id"})
    assert "…" in entries[0]["Detail"]


def put(stubber: Stubber, results: list[dict[str, Any]]) -> None:
    failed = sum("ErrorCode" in result for result in results)
    reply = {"FailedEntryCount": failed, "Entries": results}
    stubber.add_response("put_events", reply, {"Entries": ANY})


def entries_given(client: EventBridgeClient) -> list[list[str]]:
    """The ids in each request to come, also to a stub."""
    seen: list[list[str]] = []

    def note(params: dict[str, Any], **_: Any) -> None:
        seen.append(told_in(params["Entries"]))

    client.meta.events.register("before-parameter-build.events.PutEvents", note, "note")
    return seen


@pytest.fixture
def given(client: EventBridgeClient) -> Iterator[list[list[str]]]:
    yield entries_given(client)
    client.meta.events.unregister("before-parameter-build.events.PutEvents", unique_id="note")


def test_from_one_that_was_refused_on_all_are_told_again_in_order(
    bus: EventBridgeBus, client: EventBridgeClient, given: list[list[str]], pauses: list[int]
) -> None:
    sent = events(4)
    with Stubber(client) as stubber:
        put(stubber, [TAKEN, REFUSED, TAKEN, REFUSED])
        put(stubber, [TAKEN, REFUSED, REFUSED])
        put(stubber, [TAKEN, TAKEN])
        bus.publish(sent)
        stubber.assert_no_pending_responses()
    assert given == [ids(sent), ids(sent[1:]), ids(sent[2:])]
    assert pauses == [1, 2]


def test_what_is_refused_again_and_again_is_not_passed_over(
    bus: EventBridgeBus, client: EventBridgeClient, given: list[list[str]], pauses: list[int]
) -> None:
    sent = events(21)
    with Stubber(client) as stubber:
        put(stubber, [TAKEN] * 10)
        put(stubber, [*[TAKEN] * 8, REFUSED, TAKEN])
        for _ in range(MAX_ATTEMPTS - 1):
            put(stubber, [REFUSED, TAKEN])
        with pytest.raises(PublishError, match="InternalFailure") as unpublished:
            bus.publish(sent)
    assert unpublished.value.published_count == 18
    assert given == [ids(sent[:10]), ids(sent[10:20]), *[ids(sent[18:20])] * (MAX_ATTEMPTS - 1)]
    assert len(pauses) == MAX_ATTEMPTS - 1


def test_an_error_of_the_bus_is_not_passed_over(
    bus: EventBridgeBus, client: EventBridgeClient
) -> None:
    with Stubber(client) as stubber:
        put(stubber, [TAKEN] * 10)
        put(stubber, [TAKEN, REFUSED])
        stubber.add_client_error("put_events", "InternalException", http_status_code=500)
        with pytest.raises(PublishError, match="InternalException") as unpublished:
            bus.publish(events(12))
    assert unpublished.value.published_count == 11
    assert isinstance(unpublished.value.__cause__, client.exceptions.ClientError)
