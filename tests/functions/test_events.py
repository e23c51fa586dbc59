"""Every sample event, sent to its function on an empty stack, has the expected effect."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from duecourse.app import stores

from local.runtime.template import ROOT
from tests.support.bus_listener import BusListener
from tests.support.stack_client import StackClient, moto_stack

EVENTS = sorted(path for path in (ROOT / "events").glob("*.json") if path.stem != "env")
TASK = "a1b2c3d4-0000-4000-8000-000000000001"
Expectation = Callable[[StackClient, Any], None]


def _alerts_tick(client: StackClient, reply: Any) -> None:
    assert reply == {"raised": [], "sent": []}
    assert set(client.stack.functions.metrics["ErrorRatePercent"]) == {0}
    assert client.outbox("operators") == []


def _api_create_reminder(client: StackClient, reply: Any) -> None:
    assert (reply["statusCode"], _body(reply)["status"]) == (201, "pending")
    client.advance("11s")
    assert [messages["text"] for messages in client.outbox("111")] == ["Reminder: stretch"]


def _api_create_without_description(client: StackClient, reply: Any) -> None:
    assert reply["statusCode"] == 422
    assert {error["field"] for error in _body(reply)["errors"]} >= {"description", "colour"}
    assert client.items("/tasks") == []


def _api_health(_client: StackClient, reply: Any) -> None:
    assert (reply["statusCode"], _body(reply)["status"]) == (200, "ok")


def _api_without_token(_client: StackClient, reply: Any) -> None:
    assert reply["statusCode"] == 401


def _chat_tasks(client: StackClient, reply: Any) -> None:
    assert reply == {"batchItemFailures": []}
    assert client.outbox("ada")[-1]["text"].startswith("You have no open tasks")


def _authorizer_known_token(_client: StackClient, reply: Any) -> None:
    assert reply == {"isAuthorized": True, "context": {"name": "local", "scope": "admin"}}


def _authorizer_unknown_token(_client: StackClient, reply: Any) -> None:
    assert reply == {"isAuthorized": True, "context": {"name": "", "scope": ""}}


def _authorizer_browser_without_token(_client: StackClient, reply: Any) -> None:
    assert reply == {"isAuthorized": True, "context": {"name": "", "scope": ""}}


def _deadletter_throttled_worker(client: StackClient, reply: Any) -> None:
    """On an empty stack its task is unknown: the letter is kept."""
    assert reply == {"batchItemFailures": []}
    [letter] = client.items("/dead-letters")
    assert (letter["queue"], letter["cause"]) == ("work", "throttle")
    assert TASK in letter["reason"]


def _deadletter_unreadable_message(client: StackClient, reply: Any) -> None:
    assert reply == {"batchItemFailures": []}
    [letter] = client.items("/dead-letters")
    assert letter["reason"] == "the message cannot be parsed"


def _failure_connection_refused(_client: StackClient, reply: Any) -> None:
    """Of a task that does not exist here, as if it had been deleted: it is dropped."""
    assert reply == {"batchItemFailures": []}


def _failure_unreadable_report(_client: StackClient, reply: Any) -> None:
    unreadable = "33333333-3333-4333-8333-333333333333"
    assert reply == {"batchItemFailures": [{"itemIdentifier": unreadable}]}


def _journal_reminder_delivered(client: StackClient, reply: Any) -> None:
    assert reply == {"batchItemFailures": []}
    assert client.stack.calls.counts["journal", "events.PutEvents"] == 1
    assert client.call("GET", "/stats?days=30").body["lateness"]["count"] == 1
    # The task itself tells the rest.
    assert client.stack.calls.counts["journal", "dynamodb.BatchWriteItem"] == 0


def _journal_breaker_opened(client: StackClient, reply: Any) -> None:
    """It is told, and nothing is kept: it was read in the journal."""
    assert reply == {"batchItemFailures": []}
    assert client.stack.calls.counts["journal", "events.PutEvents"] == 1
    assert client.stack.calls.counts["journal", "dynamodb.BatchWriteItem"] == 0


def _journal_task_aged_out(client: StackClient, reply: Any) -> None:
    assert reply == {"batchItemFailures": []}
    assert _journaled_events(client) == []


def _live_connect(client: StackClient, reply: Any) -> None:
    """Let in, with a token among the subprotocols; nothing of the token is kept."""
    assert reply == {"statusCode": 200, "headers": {"Sec-WebSocket-Protocol": "duecourse"}}
    [known] = client.stack.scheduler.call(lambda: stores.connections().list_all())
    assert (known.id, known.token_name, known.scope) == ("L0SM9cOFvHcCIhw=", "local", "admin")


def _live_ping(_client: StackClient, reply: Any) -> None:
    assert reply == {"statusCode": 200, "body": '{"type":"pong"}'}


def _live_changes(client: StackClient, reply: Any) -> None:
    """On an empty stack nobody listens."""
    assert reply == {"batchItemFailures": []}
    counts = client.stack.calls.counts
    assert {call for function, call in counts if function == "live"} == {"dynamodb.Query"}


def _notifier_notice(client: StackClient, reply: Any) -> None:
    assert reply == {"batchItemFailures": []}
    assert [messages["text"] for messages in client.outbox("ada")] == [
        "Done: fix the build\nMended."
    ]


def _scanner_tick(_client: StackClient, reply: Any) -> None:
    assert reply == {"dispatched": 0, "is_complete": True}


def _sweeper_tick(_client: StackClient, reply: Any) -> None:
    counts = (
        "runs_recovered",
        "overdue_tasks_requeued",
        "breakers_closed",
        "retried_after_deploy",
        "timed_out",
        "days_summed_up",
        "quiet_hours_expired",
        "unreadable",
    )
    assert reply == dict.fromkeys(counts, 0)


def _webhook_console_remind(client: StackClient, reply: Any) -> None:
    assert reply["statusCode"] == 200
    client.advance("11s")
    response, reminder = [messages["text"] for messages in client.outbox("ada")]
    assert response.endswith(": stretch")
    assert reminder == "Reminder: stretch"


def _webhook_discord_without_key(_client: StackClient, reply: Any) -> None:
    """Well signed, but a laptop knows no key of Discord's."""
    assert reply["statusCode"] == 401


def _webhook_slack_expired(client: StackClient, reply: Any) -> None:
    """Well signed, an hour ago: no file can hold a signature that stays valid."""
    assert reply["statusCode"] == 401
    assert client.outbox() == []


def _webhook_telegram_remind(client: StackClient, reply: Any) -> None:
    assert (reply["statusCode"], reply["body"]) == (200, "")
    client.advance("11s")
    assert len(client.outbox("111")) == 2


def _webhook_unknown_platform(client: StackClient, reply: Any) -> None:
    assert reply["statusCode"] == 404
    assert client.outbox() == []


def _worker_batch_of_two(client: StackClient, reply: Any) -> None:
    """On an empty stack both are messages for tasks that no longer exist."""
    assert reply == {"batchItemFailures": []}
    assert client.stack.functions.metrics["DuplicatesDropped"] == [1, 1]


def _worker_unreadable_message(_client: StackClient, reply: Any) -> None:
    unreadable = "33333333-3333-4333-8333-333333333333"
    assert reply == {"batchItemFailures": [{"itemIdentifier": unreadable}]}


EXPECTED: dict[str, Expectation] = {
    "alerts_tick": _alerts_tick,
    "api_create_reminder": _api_create_reminder,
    "api_create_without_description": _api_create_without_description,
    "api_health": _api_health,
    "api_without_token": _api_without_token,
    "chat_tasks": _chat_tasks,
    "authorizer_browser_without_token": _authorizer_browser_without_token,
    "authorizer_known_token": _authorizer_known_token,
    "authorizer_unknown_token": _authorizer_unknown_token,
    "deadletter_throttled_worker": _deadletter_throttled_worker,
    "deadletter_unreadable_message": _deadletter_unreadable_message,
    "failure_connection_refused": _failure_connection_refused,
    "failure_unreadable_report": _failure_unreadable_report,
    "journal_breaker_opened": _journal_breaker_opened,
    "journal_reminder_delivered": _journal_reminder_delivered,
    "journal_task_aged_out": _journal_task_aged_out,
    "live_changes": _live_changes,
    "live_connect": _live_connect,
    "live_ping": _live_ping,
    "notifier_notice": _notifier_notice,
    "scanner_tick": _scanner_tick,
    "sweeper_tick": _sweeper_tick,
    "webhook_console_remind": _webhook_console_remind,
    "webhook_discord_without_key": _webhook_discord_without_key,
    "webhook_slack_expired": _webhook_slack_expired,
    "webhook_telegram_remind": _webhook_telegram_remind,
    "webhook_unknown_platform": _webhook_unknown_platform,
    "worker_batch_of_two": _worker_batch_of_two,
    "worker_unreadable_message": _worker_unreadable_message,
}


@pytest.fixture
def client(monkeypatch: pytest.MonkeyPatch) -> Iterator[StackClient]:
    """At the moment that the events tell of: a worker sends back what is not yet due.

    The senders of the chat events may use chat.
    """
    monkeypatch.setenv("CHAT_ACCESS", "telegram:111,slack:team:T0001")
    with moto_stack("2026-02-17T15:00:00Z") as running:
        yield running


@pytest.mark.parametrize("path", EVENTS, ids=lambda path: path.stem)
def test_a_sample_event_has_the_expected_effect(client: StackClient, path: Path) -> None:
    expectation = EXPECTED.get(path.stem)
    assert expectation is not None, f"say in EXPECTED what {path.name} should do"
    function = path.stem.partition("_")[0]
    BusListener()  # without a rule, nothing is published

    expectation(client, client.stack.invoke(function, json.loads(path.read_text())))


def test_every_function_has_an_event_file(client: StackClient) -> None:
    assert {path.stem.partition("_")[0] for path in EVENTS} == set(client.stack.functions.names)


def test_every_expectation_has_its_event_file() -> None:
    assert EXPECTED.keys() == {path.stem for path in EVENTS}


def _body(reply: dict[str, Any]) -> dict[str, Any]:
    return dict(json.loads(reply["body"]))


def _journaled_events(client: StackClient) -> list[str]:
    """Read past the API, which knows no task of the event's."""
    events = client.stack.scheduler.call(lambda: stores.journal().list_events(TASK))
    return [one.event.type for one in events]
