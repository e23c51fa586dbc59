"""Live events over WebSockets: authorization, subscriptions, and misbehaving clients."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import timedelta
from typing import Any

import pytest
from duecourse.app import stores
from duecourse.domain.access.tokens import hash_secret
from duecourse.domain.time.instant import to_text
from websockets.exceptions import ConnectionClosed, InvalidStatus

from local.runtime import aws_clients
from local.runtime.template import ROOT
from tests.support.builders.moments import HOUR
from tests.support.live_client import TIMEOUT, LiveClient, LiveServer, bearer, live_server
from tests.support.stack_client import StackClient, running_stack

QUERY = ("live", "dynamodb.Query")
PUSH = ("live", "live.push")
DOWN = {"error": {"message": "connect ECONNREFUSED 127.0.0.1:9", "code": "ECONNREFUSED"}}
SUCCESS = {"reply": "done\nACTION_OUTCOME: success"}
CONNECTION_COUNT = 50


@pytest.fixture(scope="module")
def served() -> Iterator[LiveServer]:
    with running_stack() as client, live_server(client) as server:
        yield server


@pytest.fixture
def server(served: LiveServer) -> LiveServer:
    """One stack for the module, reset for each test. A reset does not set the clock back."""
    assert served.stack.call("POST", "/_local/reset").status == 200
    return served


def put_tokens(*tokens: dict[str, str]) -> None:
    text = json.dumps({"tokens": list(tokens)})
    secret_id = stores.settings().api_tokens_secret
    aws_clients.client("secretsmanager").put_secret_value(SecretId=secret_id, SecretString=text)


def token_entry(secret: str, **fields: str) -> dict[str, str]:
    return {"name": secret, "scope": "read", "sha256": hash_secret(secret), **fields}


def time_from_now(server: LiveServer, by: timedelta) -> str:
    return to_text(server.stack.stack.clock.now() + by)


def connected_tokens(client: StackClient) -> list[str]:
    """Return the token names of the stored connections."""
    connections = client.stack.scheduler.call(lambda: stores.connections().list_all())
    return sorted(connection.token_name for connection in connections)


def connect_refused(server: LiveServer, **options: Any) -> int:
    with pytest.raises(InvalidStatus) as error, server.connect(**options):
        pass
    assert connected_tokens(server.stack) == []
    return int(error.value.response.status_code)


# --- authorization ----------------------------------------------------------------------------


def test_a_browser_sends_its_token_as_a_subprotocol(server: LiveServer) -> None:
    with server.connect("local-read") as listener:
        assert listener.websocket.subprotocol == "duecourse"
        assert connected_tokens(server.stack) == ["local-read"]


def test_a_program_sends_its_token_in_a_header_or_the_query(server: LiveServer) -> None:
    with (
        server.connect(None, additional_headers=bearer("local-read")) as by_header,
        server.connect(None, path="/?token=local-write") as by_query,
    ):
        assert (by_header.websocket.subprotocol, by_query.websocket.subprotocol) == (None, None)
        assert connected_tokens(server.stack) == ["local-read", "local-write"]


@pytest.mark.parametrize(
    "options",
    [
        {"token": None},
        {"token": "wrong"},
        {"token": None, "path": "/live?token=wrong"},
        {"token": None, "path": "/live?token="},
        {"token": "local", "path": "/live?token=local"},
        {"token": "local", "additional_headers": bearer("local")},
        {"token": None, "additional_headers": {"Authorization": "Basic bWU6bG9jYWw="}},
    ],
    ids=str,
)
def test_a_missing_wrong_or_second_token_is_refused(
    server: LiveServer, options: dict[str, Any]
) -> None:
    assert connect_refused(server, **options) == 401


def test_an_expired_token_is_refused(server: LiveServer) -> None:
    put_tokens(token_entry("old", expires_at=time_from_now(server, timedelta())))
    assert connect_refused(server, token="old") == 401


def test_a_token_with_two_entries_is_refused(server: LiveServer) -> None:
    put_tokens(token_entry("same"), token_entry("same"))
    assert connect_refused(server, token="same") == 401


def test_connections_are_refused_when_tokens_cannot_be_read(server: LiveServer) -> None:
    call = "secretsmanager.GetSecretValue"
    server.stack.add_fault(function="live", call=call, times=100, kind="error")
    assert connect_refused(server) == 500


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_another_origin_is_refused(server: LiveServer, origin: str) -> None:
    assert connect_refused(server, origin=origin) == 403


def test_the_own_origin_is_accepted(server: LiveServer) -> None:
    with server.connect(origin=f"http://127.0.0.1:{server.port}"):
        assert connected_tokens(server.stack) == ["local"]


# --- events and subscriptions -----------------------------------------------------------------


def test_all_events_of_a_task_arrive_in_order(server: LiveServer) -> None:
    with server.connect() as listener:
        due_at = time_from_now(server, timedelta(seconds=10))
        task = server.stack.create(due_at=due_at)
        server.stack.advance("11s")
        events = [listener.receive() for _ in range(3)]

    types = ["task:created", "task:started", "task:delivered"]
    assert [event["type"] for event in events] == types
    assert all(event.keys() == {"type", "task_id", "at", "detail"} for event in events)
    assert {event["task_id"] for event in events} == {task["id"]}
    assert events[1]["at"] == due_at
    assert len({event["detail"]["event_id"] for event in events}) == 3


def test_retry_scheduled_has_time_category_and_attempt(server: LiveServer) -> None:
    with server.connect() as listener:
        payload = {"provider": "scripted", "script": [DOWN, SUCCESS]}
        created = server.stack.create(type="action", payload=payload, **{"in": "1s"})
        server.stack.advance("2s")
        events = [listener.receive() for _ in range(3)]
        task = server.stack.task(created["id"])

    assert [event["type"] for event in events][-1] == "task:retry_scheduled"
    detail = events[-1]["detail"]
    assert detail["next_retry_at"] == task["next_retry_at"] is not None
    assert (detail["category"], detail["attempt"]) == (task["last_error_category"], 2)


def test_circuit_breaker_events_arrive(server: LiveServer) -> None:
    with server.connect() as listener:
        assert listener.exchange({"action": "subscribe", "types": ["breaker:"]})["detail"]
        for _ in range(10):
            payload = {"provider": "scripted", "script": [DOWN]}
            server.stack.create(type="action", payload=payload, **{"in": "1s"})
        server.stack.advance("2s")
        event = listener.receive()

    assert (event["type"], event["task_id"]) == ("breaker:opened", "breaker#scripted")


def test_a_subscription_filters_events_until_the_next_one(server: LiveServer) -> None:
    create = server.stack.create
    with server.connect() as listener:
        subscription = {"types": ["task:created", "task:cancelled"], "sender_id": "bob"}
        answer = listener.exchange({"action": "subscribe", **subscription})
        assert answer == {"type": "subscribed", "detail": subscription}
        create(sender_id="ada", **{"in": "1h"})
        task = create(sender_id="bob", **{"in": "1h"})
        assert listener.receive()["task_id"] == task["id"]

        answer = listener.exchange({"action": "subscribe", "task_id": task["id"][:8]})
        create(sender_id="bob", **{"in": "1h"})
        server.stack.call("POST", f"/tasks/{task['id']}/cancel")
        assert listener.receive()["type"] == "task:cancelled"

        assert listener.exchange({"action": "subscribe"}) == {"type": "subscribed", "detail": {}}
        create(sender_id="ada", **{"in": "1h"})
        assert listener.receive()["type"] == "task:created"


def test_a_ping_is_answered(server: LiveServer) -> None:
    with server.connect() as listener:
        assert listener.exchange({"action": "ping"}) == {"type": "pong"}


@pytest.mark.parametrize(
    "message",
    ["", "hello", "[]", "{}", b"\xff\x00", "[" * 4_000, '{"action":"$connect"}', "x" * 20_000],
    ids=lambda message: repr(message)[:20],
)
def test_an_invalid_message_gets_an_error_and_changes_nothing(
    server: LiveServer, message: str | bytes
) -> None:
    with server.connect() as listener:
        answer = listener.exchange(message)
        assert (answer["type"], list(answer["detail"])) == ("error", ["message"])
        server.stack.create(**{"in": "1h"})
        assert listener.receive()["type"] == "task:created"


def test_a_fragmented_message_is_reassembled(server: LiveServer) -> None:
    with server.connect() as listener:
        listener.websocket.send(['{"action":', '"ping"}'])
        assert listener.receive() == {"type": "pong"}


def test_a_too_large_message_closes_the_connection(server: LiveServer) -> None:
    with server.connect() as listener:
        listener.websocket.send("x" * 40_000)
        with pytest.raises(ConnectionClosed, match="1009"):
            listener.receive()
    assert server.stack.stack.websocket_api.wait_for_connections(0, TIMEOUT)
    assert connected_tokens(server.stack) == []


# --- end of a connection ----------------------------------------------------------------------


def test_a_closed_connection_is_deleted(server: LiveServer) -> None:
    with server.connect():
        assert connected_tokens(server.stack) == ["local"]
    assert server.stack.stack.websocket_api.wait_for_connections(0, TIMEOUT)
    assert connected_tokens(server.stack) == []


def test_a_connection_closes_when_its_token_expires(server: LiveServer) -> None:
    brief = token_entry("brief", expires_at=time_from_now(server, HOUR))
    put_tokens(brief, token_entry("local", scope="admin"))
    with server.connect("brief") as listener, server.connect() as other:
        server.stack.advance("1h")
        server.stack.create(**{"in": "1h"})
        with pytest.raises(ConnectionClosed):
            listener.receive()
        assert other.receive()["type"] == "task:created"
    assert server.stack.stack.calls.counts[PUSH] == 1


def test_a_connection_closes_after_two_hours(server: LiveServer) -> None:
    with server.connect() as listener:
        server.stack.advance("2h")
        server.stack.create(**{"in": "1h"})
        with pytest.raises(ConnectionClosed):
            listener.receive()


def test_a_revoked_token_is_disconnected_within_half_a_minute(server: LiveServer) -> None:
    put_tokens(token_entry("leaked"), token_entry("local", scope="admin"))
    with server.connect("leaked") as listener, server.connect() as other:
        put_tokens(token_entry("local", scope="admin"))
        server.stack.advance("30s")
        server.stack.create(**{"in": "1h"})
        with pytest.raises(ConnectionClosed):
            listener.receive()
        assert other.receive()["type"] == "task:created"
        assert server.stack.stack.websocket_api.wait_for_connections(1, TIMEOUT)
        assert connected_tokens(server.stack) == ["local"]


def test_a_reset_closes_all_connections(server: LiveServer) -> None:
    with server.connect() as listener:
        assert server.stack.call("POST", "/_local/reset").status == 200
        with pytest.raises(ConnectionClosed, match="1001"):
            listener.receive()
    assert connected_tokens(server.stack) == []
    with server.connect() as listener:
        server.stack.create(**{"in": "1h"})
        assert listener.receive()["type"] == "task:created"


def test_closing_a_server_closes_its_connections(server: LiveServer) -> None:
    with ExitStack() as contexts:
        other = contexts.enter_context(live_server(server.stack))
        with other.connect() as listener:
            contexts.close()
            with pytest.raises(ConnectionClosed, match="1001"):
                listener.receive()


# --- misbehaving clients ----------------------------------------------------------------------


def test_lost_clients_are_deleted_and_the_others_get_every_event(
    server: LiveServer,
) -> None:
    with ExitStack() as contexts:
        healthy = contexts.enter_context(server.connect("local-read"))
        for _ in range(5):
            contexts.enter_context(server.connect()).reset_connection()
        for _ in range(10):
            server.stack.create(**{"in": "1h"})
        assert healthy.receive_types(10) == ["task:created"] * 10
        assert server.stack.stack.websocket_api.wait_for_connections(1, TIMEOUT)
        assert connected_tokens(server.stack) == ["local-read"]


def test_a_stale_connection_costs_one_failed_push(server: LiveServer) -> None:
    """As on AWS until its time-out: a stored connection without a client."""
    event = json.loads((ROOT / "events" / "live_connect.json").read_text())
    assert server.stack.stack.invoke("live", event)["statusCode"] == 200
    server.stack.advance("1m")
    with server.connect() as listener:
        for _ in range(3):
            server.stack.create(**{"in": "1h"})
        assert listener.receive_types(3) == ["task:created"] * 3
        assert connected_tokens(server.stack) == ["local"]
    assert server.stack.stack.calls.counts[PUSH] == 3 + 1


def test_a_failed_push_affects_one_listener_only(server: LiveServer) -> None:
    with server.connect() as first, server.connect() as second:
        server.stack.add_fault(function="live", call="live.push", kind="error")
        server.stack.create(**{"in": "1h"})
        server.stack.create(**{"in": "2h"})
        counts = server.stack.stack.calls.counts
        assert counts[PUSH] == 4
        task_ids = {first.receive()["task_id"], second.receive()["task_id"]}
        assert len(task_ids) == 2  # one of them missed the first event
        assert len(connected_tokens(server.stack)) == 2


def test_a_client_that_does_not_read_is_disconnected_and_blocks_nobody(server: LiveServer) -> None:
    websocket_api, large_message = (
        server.stack.stack.websocket_api,
        json.dumps({"type": "bulk", "detail": "x" * 100_000}),
    )
    with (
        server.connect("local-read") as listener,
        server.connect(max_queue=1, close_timeout=0.1),
    ):
        receiver_counts: list[int] = []
        while 1 not in receiver_counts and len(receiver_counts) < 1_000:
            receiver_counts.append(websocket_api.broadcast(large_message))
            assert listener.receive()["type"] == "bulk"
        assert (receiver_counts[0], receiver_counts[-1]) == (2, 1)
        assert websocket_api.wait_for_connections(1, TIMEOUT)
        assert connected_tokens(server.stack) == ["local-read"]
        server.stack.create(**{"in": "1h"})
        assert listener.receive()["type"] == "task:created"


def test_fifty_listeners_get_all_events_in_order(server: LiveServer) -> None:
    with ExitStack() as contexts:
        listeners = [contexts.enter_context(server.connect()) for _ in range(CONNECTION_COUNT)]
        for _ in range(5):
            server.stack.create(**{"in": "10s"})
        server.stack.advance("11s")
        received = [_ids(listener, 15) for listener in listeners]

    assert all(ids == received[0] for ids in received)
    assert len(set(received[0])) == 15


def _ids(listener: LiveClient, count: int) -> list[str]:
    return [listener.receive()["detail"]["event_id"] for _ in range(count)]


# --- no connections ---------------------------------------------------------------------------


def test_without_connections_the_function_queries_once_a_second(server: LiveServer) -> None:
    client = server.stack
    for _ in range(5):
        client.create(**{"in": "1h"})
    counts = client.stack.calls.counts
    assert {call: n for call, n in counts.items() if call[0] == "live"} == {QUERY: 1}
    client.advance("1s")
    for _ in range(5):
        client.create(**{"in": "1h"})
    assert {call: n for call, n in counts.items() if call[0] == "live"} == {QUERY: 2}
