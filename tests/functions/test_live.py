"""The live function: what it keeps and logs of a token, what it passes over, what it fails at."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from duecourse.adapters.aws.dynamodb.connections import ConnectionItem
from duecourse.app import stores
from duecourse.domain.access.tokens import hash_secret

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


def connecting(**changes: Any) -> dict[str, Any]:
    """With what the deployed API Gateway leaves out where there is nothing to tell."""
    return {**sample("connect"), **changes}


def by_query(token: str) -> dict[str, Any]:
    return connecting(headers={"Host": "x"}, queryStringParameters={"token": token})


def message(body: str | None, **context: str) -> dict[str, Any]:
    event = sample("ping")
    return {**event, "body": body, "requestContext": {**event["requestContext"], **context}}


def listeners(client: StackClient) -> int:
    return len(client.stack.scheduler.call(lambda: stores.connections().list_all()))


def changes(client: StackClient, *, seconds_ago: float) -> dict[str, Any]:
    written = client.stack.clock.now().timestamp() - seconds_ago
    records = json.loads(json.dumps(sample("changes")["Records"]))
    for record in records:
        record["dynamodb"]["ApproximateCreationDateTime"] = written
    return {"Records": records}


def put_tokens(text: str) -> None:
    secret_id = stores.settings().api_tokens_secret
    aws_clients.client("secretsmanager").put_secret_value(SecretId=secret_id, SecretString=text)


def test_a_secret_is_neither_kept_nor_logged(
    client: StackClient, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app.logger, "level", 10)
    entry = {"name": "canary", "scope": "read", "sha256": hash_secret(CANARY)}
    put_tokens(json.dumps({"tokens": [entry]}))
    assert client.stack.invoke("live", by_query(CANARY))["statusCode"] == 200
    assert client.stack.invoke("live", by_query(CANARY + "x"))["statusCode"] == 401
    [item] = client.stack.scheduler.call(lambda: list(ConnectionItem.scan()))
    heard = capsys.readouterr()
    assert CANARY not in heard.out + heard.err + str(item.attribute_values)
    assert item.token_sha256 == hash_secret(CANARY)


def test_no_event_is_logged_whatever_the_environment_says() -> None:
    """Powertools reads it when the function is loaded."""
    event = {"headers": {"Authorization": f"Bearer {CANARY}"}, "requestContext": {}}
    code = (
        "from types import SimpleNamespace as N; from functions.live import app\n"
        f"app.handler({event!r}, N(**dict.fromkeys({CONTEXT!r}, 'x')))"
    )
    path = f"{ROOT}:{ROOT / 'layers' / 'core' / 'python'}"
    env = {"PYTHONPATH": path, "POWERTOOLS_LOGGER_LOG_EVENT": "true", "LOG_LEVEL": "DEBUG"}
    done = subprocess.run(  # noqa: S603 - our own interpreter, our own words
        [sys.executable, "-c", code],
        env=env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "KeyError: 'eventType'" in done.stderr, "it was loaded and called"
    assert CANARY not in done.stdout + done.stderr


@pytest.mark.parametrize("absent", ["headers", "queryStringParameters"])
def test_what_api_gateway_leaves_out_is_nothing_shown(client: StackClient, absent: str) -> None:
    event = connecting(headers={"Host": "x"}, queryStringParameters={})
    del event[absent]
    assert client.stack.invoke("live", event)["statusCode"] == 401
    assert client.stack.invoke("live", {**event, absent: None})["statusCode"] == 401


def test_who_shows_nothing_costs_no_read_of_the_secret(client: StackClient) -> None:
    client.stack.invoke("live", connecting(headers={}))
    client.stack.invoke("live", connecting(headers={"Origin": "https://evil.example"}))
    assert [call for call in client.stack.calls.counts if call[0] == "live"] == []


def test_a_named_website_may_listen(client: StackClient) -> None:
    [origin] = stores.settings().live_origins
    headers = {**sample("connect")["headers"], "Origin": origin}
    assert client.stack.invoke("live", connecting(headers=headers))["statusCode"] == 200
    headers["Origin"] = "https://evil.example"
    assert client.stack.invoke("live", connecting(headers=headers))["statusCode"] == 403
    assert listeners(client) == 1


@pytest.mark.parametrize("route", ["$connect", "$disconnect"])
def test_a_listener_cannot_play_api_gateway(client: StackClient, route: str) -> None:
    """It chooses the route by what it says, but not the kind of the event."""
    client.stack.invoke("live", connecting())
    said = message(json.dumps({"action": route}), routeKey=route)
    assert "error" in client.stack.invoke("live", said)["body"]
    assert listeners(client) == 1


def test_who_is_not_known_any_more_is_told_to_connect_again(client: StackClient) -> None:
    said = message('{"action": "subscribe"}')
    body = json.loads(client.stack.invoke("live", said)["body"])
    assert body["detail"]["message"] == "this connection has ended: connect again"
    assert listeners(client) == 0


@pytest.mark.parametrize("body", [None, ""])
def test_an_empty_message_is_answered(client: StackClient, body: str | None) -> None:
    assert '"error"' in client.stack.invoke("live", message(body))["body"]


def test_who_leaves_is_forgotten(client: StackClient) -> None:
    client.stack.invoke("live", connecting())
    event = message(None, eventType="DISCONNECT", routeKey="$disconnect")
    for _ in range(2):
        assert client.stack.invoke("live", event)["statusCode"] == 200
        assert listeners(client) == 0


@pytest.mark.parametrize(("seconds_ago", "pushes"), [(60, 1), (61, 0)])
def test_what_is_older_than_a_minute_is_no_news(
    client: StackClient, seconds_ago: int, pushes: int
) -> None:
    client.stack.invoke("live", connecting())
    client.advance("1m")  # nobody is at its other end: the first push finds out
    assert client.stack.invoke("live", changes(client, seconds_ago=seconds_ago))
    assert client.stack.calls.counts[PUSH] == pushes


def test_a_record_that_cannot_be_read_is_passed_over(client: StackClient) -> None:
    client.stack.invoke("live", connecting())
    event = changes(client, seconds_ago=0)
    event["Records"][0]["dynamodb"]["NewImage"] = {"status": {"S": "nonsense"}}
    del event["Records"][1]["dynamodb"]["ApproximateCreationDateTime"]
    assert client.stack.invoke("live", event) == {"batchItemFailures": []}
    assert client.stack.calls.counts[PUSH] == 1


def test_where_it_cannot_be_known_who_listens_the_batch_comes_again(client: StackClient) -> None:
    client.add_fault(function="live", call="dynamodb.Query", kind="error", times=100)
    with pytest.raises(InvocationError):
        client.stack.invoke("live", changes(client, seconds_ago=0))


def test_where_the_tokens_say_nothing_for_sure_nobody_is_told(client: StackClient) -> None:
    client.stack.invoke("live", connecting())
    put_tokens("oops")
    client.advance("30s")
    event = changes(client, seconds_ago=0)
    assert client.stack.invoke("live", event) == {"batchItemFailures": []}
    assert (client.stack.calls.counts[PUSH], listeners(client)) == (0, 1)
