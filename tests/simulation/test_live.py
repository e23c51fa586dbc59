"""Live events over WebSockets: who is let in, what they hear, and what careless clients cost."""

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
WELL = {"reply": "done\nACTION_OUTCOME: success"}
MANY = 50


@pytest.fixture(scope="module")
def served() -> Iterator[LiveServer]:
    with running_stack() as client, live_server(client) as server:
        yield server


@pytest.fixture
def server(served: LiveServer) -> LiveServer:
    """One stack for all, empty for each, at whatever time the one before left it."""
    assert served.stack.call("POST", "/_local/reset").status == 200
    return served


def put_tokens(*tokens: dict[str, str]) -> None:
    text = json.dumps({"tokens": list(tokens)})
    secret_id = stores.settings().api_tokens_secret
    aws_clients.client("secretsmanager").put_secret_value(SecretId=secret_id, SecretString=text)


def a_token(secret: str, **fields: str) -> dict[str, str]:
    return {"name": secret, "scope": "read", "sha256": hash_secret(secret), **fields}


def in_time(server: LiveServer, by: timedelta) -> str:
    return to_text(server.stack.stack.clock.now() + by)


def known(client: StackClient) -> list[str]:
    """By which tokens those listen whom the function knows of."""
    found = client.stack.scheduler.call(lambda: stores.connections().list_all())
    return sorted(connection.token_name for connection in found)


def refused(server: LiveServer, **options: Any) -> int:
    with pytest.raises(InvalidStatus) as error, server.connect(**options):
        pass
    assert known(server.stack) == []
    return int(error.value.response.status_code)


# --- who is let in ----------------------------------------------------------------------------


def test_a_browser_shows_its_token_among_the_subprotocols(server: LiveServer) -> None:
    with server.connect("local-read") as listener:
        assert listener.websocket.subprotocol == "duecourse"
        assert known(server.stack) == ["local-read"]


def test_a_program_shows_it_in_a_header_or_in_the_address(server: LiveServer) -> None:
    with (
        server.connect(None, additional_headers=bearer("local-read")) as one,
        server.connect(None, path="/?token=local-write") as other,
    ):
        assert (one.websocket.subprotocol, other.websocket.subprotocol) == (None, None)
        assert known(server.stack) == ["local-read", "local-write"]


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
def test_who_shows_no_token_a_wrong_one_or_two_is_refused(
    server: LiveServer, options: dict[str, Any]
) -> None:
    assert refused(server, **options) == 401


def test_an_expired_token_is_refused(server: LiveServer) -> None:
    put_tokens(a_token("old", expires_at=in_time(server, timedelta())))
    assert refused(server, token="old") == 401


def test_nobody_is_let_in_where_the_tokens_say_nothing_for_sure(server: LiveServer) -> None:
    put_tokens(a_token("same"), a_token("same"))
    assert refused(server, token="same") == 401


def test_nobody_is_let_in_where_the_tokens_cannot_be_read(server: LiveServer) -> None:
    read = "secretsmanager.GetSecretValue"
    server.stack.add_fault(function="live", call=read, times=100, kind="error")
    assert refused(server) == 500


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1"])
def test_a_page_of_another_website_is_refused(server: LiveServer, origin: str) -> None:
    assert refused(server, origin=origin) == 403


def test_our_own_page_is_let_in(server: LiveServer) -> None:
    with server.connect(origin=f"http://127.0.0.1:{server.port}"):
        assert known(server.stack) == ["local"]


# --- what they hear ---------------------------------------------------------------------------


def test_all_that_happens_to_a_task_is_heard_in_order(server: LiveServer) -> None:
    with server.connect() as listener:
        due_at = in_time(server, timedelta(seconds=10))
        task = server.stack.create(due_at=due_at)
        server.stack.advance("11s")
        events = [listener.receive() for _ in range(3)]

    kinds = ["task:created", "task:started", "task:delivered"]
    assert [event["type"] for event in events] == kinds
    assert all(event.keys() == {"type", "task_id", "at", "detail"} for event in events)
    assert {event["task_id"] for event in events} == {task["id"]}
    assert events[1]["at"] == due_at
    assert len({event["detail"]["event_id"] for event in events}) == 3


def test_a_retry_is_told_with_its_time_its_category_and_its_attempt(server: LiveServer) -> None:
    with server.connect() as listener:
        payload = {"provider": "scripted", "script": [DOWN, WELL]}
        made = server.stack.create(type="action", payload=payload, **{"in": "1s"})
        server.stack.advance("2s")
        heard = [listener.receive() for _ in range(3)]
        task = server.stack.task(made["id"])

    assert [event["type"] for event in heard][-1] == "task:retry_scheduled"
    detail = heard[-1]["detail"]
    assert detail["next_retry_at"] == task["next_retry_at"] is not None
    assert (detail["category"], detail["attempt"]) == (task["last_error_category"], 2)


def test_a_breaker_is_heard_of(server: LiveServer) -> None:
    with server.connect() as listener:
        assert listener.exchange({"action": "subscribe", "types": ["breaker:"]})["detail"]
        for _ in range(10):
            payload = {"provider": "scripted", "script": [DOWN]}
            server.stack.create(type="action", payload=payload, **{"in": "1s"})
        server.stack.advance("2s")
        event = listener.receive()

    assert (event["type"], event["task_id"]) == ("breaker:opened", "breaker#scripted")


def test_a_subscription_narrows_what_is_heard_until_the_next_one(server: LiveServer) -> None:
    create = server.stack.create
    with server.connect() as listener:
        wanted = {"types": ["task:created", "task:cancelled"], "sender_id": "bob"}
        answer = listener.exchange({"action": "subscribe", **wanted})
        assert answer == {"type": "subscribed", "detail": wanted}
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
    "said",
    ["", "hello", "[]", "{}", b"\xff\x00", "[" * 4_000, '{"action":"$connect"}', "x" * 20_000],
    ids=lambda said: repr(said)[:20],
)
def test_nonsense_is_answered_and_changes_nothing(server: LiveServer, said: str | bytes) -> None:
    with server.connect() as listener:
        answer = listener.exchange(said)
        assert (answer["type"], list(answer["detail"])) == ("error", ["message"])
        server.stack.create(**{"in": "1h"})
        assert listener.receive()["type"] == "task:created"


def test_a_message_in_several_frames_is_one(server: LiveServer) -> None:
    with server.connect() as listener:
        listener.websocket.send(['{"action":', '"ping"}'])
        assert listener.receive() == {"type": "pong"}


def test_a_message_that_is_too_large_ends_the_connection(server: LiveServer) -> None:
    with server.connect() as listener:
        listener.websocket.send("x" * 40_000)
        with pytest.raises(ConnectionClosed, match="1009"):
            listener.receive()
    assert server.stack.stack.websocket_api.wait_for_connections(0, TIMEOUT)
    assert known(server.stack) == []


# --- how it ends ------------------------------------------------------------------------------


def test_who_closes_is_forgotten(server: LiveServer) -> None:
    with server.connect():
        assert known(server.stack) == ["local"]
    assert server.stack.stack.websocket_api.wait_for_connections(0, TIMEOUT)
    assert known(server.stack) == []


def test_a_connection_ends_with_its_token(server: LiveServer) -> None:
    brief = a_token("brief", expires_at=in_time(server, HOUR))
    put_tokens(brief, a_token("local", scope="admin"))
    with server.connect("brief") as listener, server.connect() as other:
        server.stack.advance("1h")
        server.stack.create(**{"in": "1h"})
        with pytest.raises(ConnectionClosed):
            listener.receive()
        assert other.receive()["type"] == "task:created"
    assert server.stack.stack.calls.counts[PUSH] == 1


def test_a_connection_ends_after_two_hours(server: LiveServer) -> None:
    with server.connect() as listener:
        server.stack.advance("2h")
        server.stack.create(**{"in": "1h"})
        with pytest.raises(ConnectionClosed):
            listener.receive()


def test_a_revoked_token_is_cut_off_within_half_a_minute(server: LiveServer) -> None:
    put_tokens(a_token("leaked"), a_token("local", scope="admin"))
    with server.connect("leaked") as listener, server.connect() as other:
        put_tokens(a_token("local", scope="admin"))
        server.stack.advance("30s")
        server.stack.create(**{"in": "1h"})
        with pytest.raises(ConnectionClosed):
            listener.receive()
        assert other.receive()["type"] == "task:created"
        assert server.stack.stack.websocket_api.wait_for_connections(1, TIMEOUT)
        assert known(server.stack) == ["local"]


def test_a_reset_ends_all_connections(server: LiveServer) -> None:
    with server.connect() as listener:
        assert server.stack.call("POST", "/_local/reset").status == 200
        with pytest.raises(ConnectionClosed, match="1001"):
            listener.receive()
    assert known(server.stack) == []
    with server.connect() as listener:
        server.stack.create(**{"in": "1h"})
        assert listener.receive()["type"] == "task:created"


def test_closing_a_server_ends_its_connections(server: LiveServer) -> None:
    with ExitStack() as entered:
        other = entered.enter_context(live_server(server.stack))
        with other.connect() as listener:
            entered.close()
            with pytest.raises(ConnectionClosed, match="1001"):
                listener.receive()


# --- careless clients -------------------------------------------------------------------------


def test_clients_that_vanish_are_forgotten_and_the_others_hear_everything(
    server: LiveServer,
) -> None:
    with ExitStack() as entered:
        stays = entered.enter_context(server.connect("local-read"))
        for _ in range(5):
            entered.enter_context(server.connect()).reset_connection()
        for _ in range(10):
            server.stack.create(**{"in": "1h"})
        assert stays.receive_types(10) == ["task:created"] * 10
        assert server.stack.stack.websocket_api.wait_for_connections(1, TIMEOUT)
        assert known(server.stack) == ["local-read"]


def test_who_vanished_unnoticed_costs_one_failed_push(server: LiveServer) -> None:
    """As on AWS, where nobody notices until the time-out: connected, with nobody at the end."""
    event = json.loads((ROOT / "events" / "live_connect.json").read_text())
    assert server.stack.stack.invoke("live", event)["statusCode"] == 200
    server.stack.advance("1m")
    with server.connect() as listener:
        for _ in range(3):
            server.stack.create(**{"in": "1h"})
        assert listener.receive_types(3) == ["task:created"] * 3
        assert known(server.stack) == ["local"]
    assert server.stack.stack.calls.counts[PUSH] == 3 + 1


def test_a_push_that_fails_concerns_one_listener_only(server: LiveServer) -> None:
    with server.connect() as one, server.connect() as other:
        server.stack.add_fault(function="live", call="live.push", kind="error")
        server.stack.create(**{"in": "1h"})
        server.stack.create(**{"in": "2h"})
        counts = server.stack.stack.calls.counts
        assert counts[PUSH] == 4
        last = {one.receive()["task_id"], other.receive()["task_id"]}
        assert len(last) == 2  # one of them has missed the first
        assert len(known(server.stack)) == 2


def test_a_client_that_does_not_read_is_cut_off_and_holds_up_nobody(server: LiveServer) -> None:
    live, bulk = (
        server.stack.stack.websocket_api,
        json.dumps({"type": "bulk", "detail": "x" * 100_000}),
    )
    with (
        server.connect("local-read") as listener,
        server.connect(max_queue=1, close_timeout=0.1),
    ):
        told: list[int] = []
        while 1 not in told and len(told) < 1_000:
            told.append(live.broadcast(bulk))
            assert listener.receive()["type"] == "bulk"
        assert (told[0], told[-1]) == (2, 1)
        assert live.wait_for_connections(1, TIMEOUT)
        assert known(server.stack) == ["local-read"]
        server.stack.create(**{"in": "1h"})
        assert listener.receive()["type"] == "task:created"


def test_fifty_listeners_hear_all_of_it_in_order(server: LiveServer) -> None:
    with ExitStack() as entered:
        listeners = [entered.enter_context(server.connect()) for _ in range(MANY)]
        for _ in range(5):
            server.stack.create(**{"in": "10s"})
        server.stack.advance("11s")
        heard = [_ids(listener, 15) for listener in listeners]

    assert all(one == heard[0] for one in heard)
    assert len(set(heard[0])) == 15


def _ids(listener: LiveClient, count: int) -> list[str]:
    return [listener.receive()["detail"]["event_id"] for _ in range(count)]


# --- nobody listens ---------------------------------------------------------------------------


def test_where_nobody_listens_one_look_a_second_is_all_it_costs(server: LiveServer) -> None:
    client = server.stack
    for _ in range(5):
        client.create(**{"in": "1h"})
    counts = client.stack.calls.counts
    assert {call: n for call, n in counts.items() if call[0] == "live"} == {QUERY: 1}
    client.advance("1s")
    for _ in range(5):
        client.create(**{"in": "1h"})
    assert {call: n for call, n in counts.items() if call[0] == "live"} == {QUERY: 2}
