"""Every sample event, in its built function as `sam local invoke` runs it, beside `duecourse up`.

The local stack holds the sample tasks. It has the channels of a deployed stack, and no bot tokens.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from local.runtime.template import ROOT
from tests.deploy.container import Invocation, architecture, container_settings, invoke
from tests.deploy.local_process import LocalProcess, run_local_stack
from tests.deploy.start_api import call_start_api

EVENTS = sorted(path for path in (ROOT / "events").glob("*.json") if path.stem != "env")
FIRST, SECOND, RUNNING = (f"a1b2c3d4-0000-4000-8000-00000000000{n}" for n in (1, 2, 3))
ALL_PROCESSED: dict[str, Any] = {"batchItemFailures": []}
Expectation = Callable[[LocalProcess, Invocation], None]


@pytest.fixture(scope="module")
def running_stack() -> Iterator[LocalProcess]:
    with run_local_stack() as running:
        yield running


@pytest.fixture
def stack(running_stack: LocalProcess) -> LocalProcess:
    running_stack.call("POST", "/_local/reset")
    running_stack.call("POST", "/_local/samples")
    # Without a rule that can match them, no events are published.
    running_stack.aws_client("events").put_rule(
        Name="all", EventBusName="duecourse", EventPattern='{"source": ["duecourse"]}'
    )
    return running_stack


def _alerts_tick(_stack: LocalProcess, done: Invocation) -> None:
    assert done.reply == {"raised": [], "sent": []}


def _api_create_reminder(stack: LocalProcess, done: Invocation) -> None:
    assert done.reply["statusCode"] == 201
    stack.advance("2m")
    assert "Reminder: stretch" in stack.outbox()
    assert _task(stack, _body(done)["id"])["status"] == "delivered"


def _api_create_without_description(stack: LocalProcess, done: Invocation) -> None:
    assert done.reply["statusCode"] == 422
    assert {error["field"] for error in _body(done)["errors"]} >= {"description", "colour"}
    assert len(stack.items("/tasks")) == 3


def _api_health(_stack: LocalProcess, done: Invocation) -> None:
    assert (done.reply["statusCode"], _body(done)["status"]) == (200, "ok")


def _api_without_token(_stack: LocalProcess, done: Invocation) -> None:
    assert done.reply["statusCode"] == 401


def _authorizer_known_token(_stack: LocalProcess, done: Invocation) -> None:
    assert done.reply["context"] == {"name": "local", "scope": "admin"}


def _authorizer_without_caller(_stack: LocalProcess, done: Invocation) -> None:
    assert done.reply["context"] == {"name": "", "scope": ""}


def _chat_tasks(_stack: LocalProcess, done: Invocation) -> None:
    """The console is not a channel of a deployed stack, so nobody can be answered."""
    assert done.reply == ALL_PROCESSED
    assert "console" in done.logs


def _deadletter_throttled_worker(stack: LocalProcess, done: Invocation) -> None:
    """The task is due, so the local worker takes it up at once."""
    assert done.reply == ALL_PROCESSED
    stack.advance("1s")
    assert _task(stack, FIRST)["status"] == "delivered"
    assert stack.items("/dead-letters") == []


def _deadletter_unreadable_message(stack: LocalProcess, done: Invocation) -> None:
    assert done.reply == ALL_PROCESSED
    [letter] = stack.items("/dead-letters")
    assert letter["reason"] == "the message cannot be parsed"


def _failure_connection_refused(stack: LocalProcess, done: Invocation) -> None:
    assert done.reply == ALL_PROCESSED
    [error] = stack.items(f"/tasks/{RUNNING}/errors")
    assert error["category"] == "transient"
    assert "ECONNREFUSED" in error["message"]
    assert _task(stack, RUNNING)["retry_count"] == 1


def _unreadable_message(_stack: LocalProcess, done: Invocation) -> None:
    unreadable = "33333333-3333-4333-8333-333333333333"
    assert done.reply == {"batchItemFailures": [{"itemIdentifier": unreadable}]}


def _journal_reminder_delivered(stack: LocalProcess, done: Invocation) -> None:
    assert done.reply == ALL_PROCESSED
    assert _read_day(stack, "2026-02-17")  # the run is counted


def _processed(_stack: LocalProcess, done: Invocation) -> None:
    assert done.reply == ALL_PROCESSED


def _live_connect(stack: LocalProcess, done: Invocation) -> None:
    assert done.reply["statusCode"] == 200
    [known] = stack.aws_client("dynamodb").scan(TableName="ConnectionsTable")["Items"]
    assert known["token_name"] == {"S": "local"}


def _live_ping(_stack: LocalProcess, done: Invocation) -> None:
    assert done.reply == {"statusCode": 200, "body": '{"type":"pong"}'}


def _notifier_notice(_stack: LocalProcess, done: Invocation) -> None:
    assert done.reply == ALL_PROCESSED
    assert "Done: fix the build" in done.logs


def _scanner_tick(_stack: LocalProcess, done: Invocation) -> None:
    assert done.reply == {"dispatched": 0, "is_complete": True}


def _sweeper_tick(stack: LocalProcess, done: Invocation) -> None:
    assert (done.reply["overdue_tasks_requeued"], done.reply["runs_recovered"]) == (2, 0)
    assert {_task(stack, one)["status"] for one in (FIRST, SECOND)} == {"delivered"}


def _refused(status: int) -> Expectation:
    def expect(stack: LocalProcess, done: Invocation) -> None:
        assert done.reply["statusCode"] == status
        assert stack.outbox() == []

    return expect


def _webhook_telegram_remind(stack: LocalProcess, done: Invocation) -> None:
    assert (done.reply["statusCode"], done.reply["body"]) == (200, "")
    stack.advance("2m")
    assert stack.outbox()[0].endswith(": stretch")
    assert "Reminder: stretch" in stack.outbox()


def _worker_batch_of_two(stack: LocalProcess, done: Invocation) -> None:
    assert done.reply == ALL_PROCESSED
    assert "Reminder: Call John" in done.logs
    assert "Reminder: Call Mary" in done.logs
    assert {_task(stack, one)["status"] for one in (FIRST, SECOND)} == {"delivered"}


EXPECTED: dict[str, Expectation] = {
    "alerts_tick": _alerts_tick,
    "api_create_reminder": _api_create_reminder,
    "api_create_without_description": _api_create_without_description,
    "api_health": _api_health,
    "api_without_token": _api_without_token,
    "authorizer_browser_without_token": _authorizer_without_caller,
    "authorizer_known_token": _authorizer_known_token,
    "authorizer_unknown_token": _authorizer_without_caller,
    "chat_tasks": _chat_tasks,
    "deadletter_throttled_worker": _deadletter_throttled_worker,
    "deadletter_unreadable_message": _deadletter_unreadable_message,
    "failure_connection_refused": _failure_connection_refused,
    "failure_unreadable_report": _unreadable_message,
    "journal_breaker_opened": _processed,
    "journal_reminder_delivered": _journal_reminder_delivered,
    "journal_task_aged_out": _processed,
    "live_changes": _processed,
    "live_connect": _live_connect,
    "live_ping": _live_ping,
    "notifier_notice": _notifier_notice,
    "scanner_tick": _scanner_tick,
    "sweeper_tick": _sweeper_tick,
    "webhook_console_remind": _refused(404),  # the console exists only in the local stack
    "webhook_discord_without_key": _refused(401),
    "webhook_slack_expired": _refused(401),
    "webhook_telegram_remind": _webhook_telegram_remind,
    "webhook_unknown_platform": _refused(404),
    "worker_batch_of_two": _worker_batch_of_two,
    "worker_unreadable_message": _unreadable_message,
}


@pytest.mark.parametrize("path", EVENTS, ids=lambda path: path.stem)
def test_a_sample_event_does_what_its_name_says(stack: LocalProcess, path: Path) -> None:
    function = f"{path.stem.partition('_')[0].capitalize()}Function"

    done = invoke(function, json.loads(path.read_text()), endpoint=stack.aws_url)

    EXPECTED[path.stem](stack, done)


def test_every_sample_event_has_an_expectation() -> None:
    assert EXPECTED.keys() == {path.stem for path in EVENTS}


@pytest.mark.parametrize("processor", ["arm64", "x86_64"])
def test_functions_run_on_the_processor_that_is_asked_for(processor: str) -> None:
    found = container_settings(processor)
    assert {tuple(one["architectures"]) for one in found.values()} == {(processor,)}


def test_compiled_packages_are_there_for_both_processors(stack: LocalProcess) -> None:
    """The signature of Discord needs one of them. It is imported on this machine's processor."""
    [deps] = {ROOT / one["folders"][1] for one in container_settings(architecture()).values()}
    built = {path.name.split("-")[2] for path in deps.rglob("*.so")}
    assert built == {"aarch64", "x86_64"}
    event = json.loads((ROOT / "events" / "webhook_discord_without_key.json").read_text())
    assert invoke("WebhookFunction", event, endpoint=stack.aws_url).reply["statusCode"] == 401


@pytest.mark.parametrize("name", ["Authorization", "authorization", "AUTHORIZATION"])
def test_start_api_takes_a_token_whatever_the_case_of_its_header(
    stack: LocalProcess, name: str
) -> None:
    assert call_start_api("/tasks", {name: "Bearer local"}, endpoint=stack.aws_url) == 200
    assert call_start_api("/tasks", {name: "Bearer guessed"}, endpoint=stack.aws_url) == 401


def _body(done: Invocation) -> dict[str, Any]:
    return dict(json.loads(done.reply["body"]))


def _task(stack: LocalProcess, task_id: str) -> dict[str, Any]:
    return dict(stack.call("GET", f"/tasks/{task_id}"))


def _read_day(stack: LocalProcess, day: str) -> list[dict[str, Any]]:
    """Return the counters of a day that is too long ago for GET /stats."""
    found = stack.aws_client("dynamodb").query(
        TableName="StatsTable",
        KeyConditionExpression="#day = :day",
        ExpressionAttributeNames={"#day": "day"},
        ExpressionAttributeValues={":day": {"S": day}},
    )
    return list(found["Items"])
