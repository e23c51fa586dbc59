"""The live function: what it stores and logs of a token, what it skips, and when it fails."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.connections import ConnectionItem
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.access.token_format import ENTROPY_BYTES, format_token
from duecourse.domain.access.tokens import ApiToken, hash_secret
from duecourse.domain.events.connection import MAX_CONNECTIONS_PER_TOKEN

from functions.live import app
from local.runtime import aws_clients
from local.runtime.functions import InvocationError
from local.runtime.template import ROOT
from tests.support.stack_client import StackClient

CANARY = "qz-7Hd03kLmNo99pQr"
PUSH = ("live", "live.push")
CONTEXT = ("function_name", "memory_limit_in_mb", "invoked_function_arn", "aws_request_id")


def sample(name: str) -> dict[str, Any]:
    return dict(json.loads((ROOT / "events" / f"live_{name}.json").read_text()))


def connect_event(**change_records: Any) -> dict[str, Any]:
    """Return a connect event; the deployed API Gateway omits empty fields."""
    return {**sample("connect"), **change_records}


def connect_event_with_query_token(token: str) -> dict[str, Any]:
    return connect_event(headers={"Host": "x"}, queryStringParameters={"token": token})


def message_event(body: str | None, **context: str) -> dict[str, Any]:
    event = sample("ping")
    return {**event, "body": body, "requestContext": {**event["requestContext"], **context}}


def count_connections(client: StackClient) -> int:
    return len(client.stack.scheduler.call(lambda: stores.connections().list_all()))


def change_records(client: StackClient, *, seconds_ago: float) -> dict[str, Any]:
    written_at = client.stack.clock.now().timestamp() - seconds_ago
    records = json.loads(json.dumps(sample("changes")["Records"]))
    for record in records:
        record["dynamodb"]["ApproximateCreationDateTime"] = written_at
    return {"Records": records}


def put_tokens(text: str) -> None:
    secret_id = stores.settings().api_tokens_secret
    aws_clients.client("secretsmanager").put_secret_value(SecretId=secret_id, SecretString=text)


def test_a_token_is_neither_stored_nor_logged(
    client: StackClient, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.logger, "level", 10)
    entry = {"name": "canary", "scope": "read", "sha256": hash_secret(CANARY)}
    put_tokens(json.dumps({"tokens": [entry]}))
    assert client.stack.invoke("live", connect_event_with_query_token(CANARY))["statusCode"] == 200
    assert (
        client.stack.invoke("live", connect_event_with_query_token(CANARY + "x"))["statusCode"]
        == 401
    )
    [item] = client.stack.scheduler.call(lambda: list(ConnectionItem.scan()))
    output = capsys.readouterr()
    assert CANARY not in output.out + output.err + str(item.attribute_values)
    assert item.token_sha256 == hash_secret(CANARY)


def test_a_connection_needs_a_token_that_is_valid_now(client: StackClient) -> None:
    valid, expired, unknown, mistyped = (format_token(bytes([n]) * ENTROPY_BYTES) for n in range(4))
    mistyped = mistyped[:-1] + ("0" if mistyped[-1] != "0" else "1")
    past = stores.clock().now()
    tokens = [
        ApiToken("valid", Scope.READ, hash_secret(valid)),
        ApiToken("expired", Scope.ADMIN, hash_secret(expired), past),
        ApiToken("mistyped", Scope.ADMIN, hash_secret(mistyped)),
    ]
    put_tokens(json.dumps({"tokens": [token.to_json() for token in tokens]}))

    def status(token: str) -> int:
        return int(client.stack.invoke("live", connect_event_with_query_token(token))["statusCode"])

    assert status(valid) == 200
    assert [status(one) for one in (expired, unknown, mistyped)] == [401, 401, 401]
    put_tokens('{"tokens": []}')
    client.advance("60s")
    assert status(valid) == 401, "revoked"


def test_one_token_cannot_take_all_connections(client: StackClient) -> None:
    def connect(token: str, n: int) -> dict[str, Any]:
        event = connect_event_with_query_token(token)
        context = {**event["requestContext"], "connectionId": f"c-{token}-{n}"}
        return dict(client.stack.invoke("live", {**event, "requestContext": context}))

    replies = [connect("local-read", n) for n in range(MAX_CONNECTIONS_PER_TOKEN + 1)]
    assert [one["statusCode"] for one in replies] == [200] * MAX_CONNECTIONS_PER_TOKEN + [429]
    assert replies[-1]["body"].startswith("the token local-read has 50 open connections")
    assert connect("local", 1)["statusCode"] == 200


def test_events_are_not_logged_whatever_the_environment_sets() -> None:
    """Powertools reads it when the function is loaded."""
    event = {"headers": {"Authorization": f"Bearer {CANARY}"}, "requestContext": {}}
    code = (
        "from types import SimpleNamespace as N; from functions.live import app\n"
        f"app.handler({event!r}, N(**dict.fromkeys({CONTEXT!r}, 'x')))"
    )
    path = f"{ROOT}:{ROOT / 'layers' / 'core' / 'python'}"
    env = {"PYTHONPATH": path, "POWERTOOLS_LOGGER_LOG_EVENT": "true", "LOG_LEVEL": "DEBUG"}
    process = subprocess.run(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "KeyError: 'eventType'" in process.stderr, "the function was not called"
    assert CANARY not in process.stdout + process.stderr


@pytest.mark.parametrize("absent", ["headers", "queryStringParameters"])
def test_missing_headers_and_query_are_a_missing_token(client: StackClient, absent: str) -> None:
    event = connect_event(headers={"Host": "x"}, queryStringParameters={})
    del event[absent]
    assert client.stack.invoke("live", event)["statusCode"] == 401
    assert client.stack.invoke("live", {**event, absent: None})["statusCode"] == 401


def test_a_connect_without_a_token_does_not_read_the_secret(client: StackClient) -> None:
    client.stack.invoke("live", connect_event(headers={}))
    client.stack.invoke("live", connect_event(headers={"Origin": "https://evil.example"}))
    assert [call for call in client.stack.calls.counts if call[0] == "live"] == []


def test_only_an_allowed_origin_may_connect(client: StackClient) -> None:
    [origin] = stores.settings().live_origins
    headers = {**sample("connect")["headers"], "Origin": origin}
    assert client.stack.invoke("live", connect_event(headers=headers))["statusCode"] == 200
    headers["Origin"] = "https://evil.example"
    assert client.stack.invoke("live", connect_event(headers=headers))["statusCode"] == 403
    assert count_connections(client) == 1


@pytest.mark.parametrize("route", ["$connect", "$disconnect"])
def test_a_client_cannot_forge_connect_or_disconnect(client: StackClient, route: str) -> None:
    """A client chooses the route by its message, but not the type of the event."""
    client.stack.invoke("live", connect_event())
    event = message_event(json.dumps({"action": route}), routeKey=route)
    assert "error" in client.stack.invoke("live", event)["body"]
    assert count_connections(client) == 1


def test_an_unknown_connection_is_asked_to_reconnect(client: StackClient) -> None:
    event = message_event('{"action": "subscribe"}')
    body = json.loads(client.stack.invoke("live", event)["body"])
    assert body["detail"]["message"] == "this connection has ended: connect again"
    assert count_connections(client) == 0


@pytest.mark.parametrize("body", [None, ""])
def test_an_empty_message_gets_an_error(client: StackClient, body: str | None) -> None:
    assert '"error"' in client.stack.invoke("live", message_event(body))["body"]


def test_a_disconnect_removes_the_connection(client: StackClient) -> None:
    client.stack.invoke("live", connect_event())
    event = message_event(None, eventType="DISCONNECT", routeKey="$disconnect")
    for _ in range(2):
        assert client.stack.invoke("live", event)["statusCode"] == 200
        assert count_connections(client) == 0


@pytest.mark.parametrize(("seconds_ago", "pushes"), [(60, 1), (61, 0)])
def test_changes_older_than_a_minute_are_not_pushed(
    client: StackClient, seconds_ago: int, pushes: int
) -> None:
    client.stack.invoke("live", connect_event())
    client.advance("1m")  # the client is gone: the first push notices it
    assert client.stack.invoke("live", change_records(client, seconds_ago=seconds_ago))
    assert client.stack.calls.counts[PUSH] == pushes


def test_an_unreadable_record_is_skipped(client: StackClient) -> None:
    client.stack.invoke("live", connect_event())
    event = change_records(client, seconds_ago=0)
    event["Records"][0]["dynamodb"]["NewImage"] = {"status": {"S": "nonsense"}}
    del event["Records"][1]["dynamodb"]["ApproximateCreationDateTime"]
    assert client.stack.invoke("live", event) == {"batchItemFailures": []}
    assert client.stack.calls.counts[PUSH] == 1


def test_a_failed_read_of_the_connections_retries_the_batch(client: StackClient) -> None:
    client.add_fault(function="live", call="dynamodb.Query", kind="error", times=100)
    with pytest.raises(InvocationError):
        client.stack.invoke("live", change_records(client, seconds_ago=0))


def test_invalid_tokens_stop_all_pushes(client: StackClient) -> None:
    client.stack.invoke("live", connect_event())
    put_tokens("oops")
    client.advance("30s")
    event = change_records(client, seconds_ago=0)
    assert client.stack.invoke("live", event) == {"batchItemFailures": []}
    assert (client.stack.calls.counts[PUSH], count_connections(client)) == (0, 1)
