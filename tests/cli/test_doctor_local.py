"""`duecourse doctor` against the local stack: healthy, and broken in several ways."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from local.cli.doctor import run
from local.cli.doctor.examine import NAMES
from local.runtime import aws_clients
from tests.cli.command_client import TOKEN, CommandClient, CommandResult, serve_receiver
from tests.support.stack_client import StackClient

# Only AWS knows these, so a local stack says why it skips them.
AWS_ONLY = (
    *("credentials", "stack", "queues", "alarms", "alarm_email", "reminder_email"),
    *("secrets", "webhook_signing", "api_tokens"),
)
HEALTHY = ("api", "token", "task", "history", "clock", "dead_letters", "schedule")


@pytest.fixture(autouse=True)
def _no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "REAL_TIME", run.Time(run.REAL_TIME.now, lambda _seconds: None))


def checks_of(result: CommandResult) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in result.json["checks"]}


def statuses_of(result: CommandResult) -> dict[str, str]:
    return {name: check["status"] for name, check in checks_of(result).items()}


def test_a_healthy_stack_passes(duecourse: CommandClient, stack: StackClient) -> None:
    del stack

    result = duecourse("doctor", "--json")

    assert (result.code, result.err) == (0, "")
    assert statuses_of(result) == dict.fromkeys(AWS_ONLY, "skipped") | dict.fromkeys(HEALTHY, "ok")
    assert result.json["status"] == "ok"
    assert result.json["target"]["kind"] == "local"
    assert all(checks_of(result)[name]["detail"] for name in AWS_ONLY)


def test_people_get_a_table(duecourse: CommandClient, stack: StackClient) -> None:
    del stack

    result = duecourse("doctor")

    assert result.code == 0
    lines = result.out.splitlines()
    assert lines[0].startswith("Local stack at http://127.0.0.1:")
    assert lines[2].split() == ["CHECK", "STATUS", "DETAIL"]
    assert [line.split()[0] for line in lines[3:-2]] == [*NAMES]
    assert lines[-1] == f"{len(HEALTHY)} ok, {len(AWS_ONLY)} skipped"


def test_its_task_disturbs_nobody_and_is_closed(
    duecourse: CommandClient, stack: StackClient
) -> None:
    duecourse("doctor")

    assert {message["channel"] for message in stack.outbox()} == {"log"}
    assert stack.items("/tasks?status=pending") == []


def test_a_worker_that_cannot_deliver_is_found(
    duecourse: CommandClient, stack: StackClient
) -> None:
    stack.add_fault(function="worker", call="channel.send", kind="error", times=100)

    result = duecourse("doctor", "--json")

    assert result.code == 1
    assert result.err == "duecourse: failed: task\n"
    task = checks_of(result)["task"]
    assert (task["status"], "injected" in task["detail"], bool(task["advice"])) == (
        *("failed", True, True),
    )
    assert statuses_of(result)["history"] == "skipped"
    assert stack.items("/tasks") == []


def test_a_worker_that_does_not_run_is_found(duecourse: CommandClient, stack: StackClient) -> None:
    stack.add_fault(function="worker", call="dynamodb.GetItem", kind="crash", times=100)

    result = duecourse("doctor", "--json")

    assert (result.code, statuses_of(result)["task"]) == (1, "failed")
    assert "still pending" in checks_of(result)["task"]["detail"]


def test_a_journal_that_does_not_run_is_found(duecourse: CommandClient, stack: StackClient) -> None:
    stack.add_fault(function="journal", call="dynamodb.BatchWriteItem", kind="error", times=1000)

    result = duecourse("doctor", "--json")

    assert (result.code, statuses_of(result)["task"]) == (1, "ok")
    history = checks_of(result)["history"]
    assert (history["status"], history["detail"]) == ("failed", "without task:changed")
    assert "journal" in history["advice"]


def test_a_scanner_that_crashes_is_found(duecourse: CommandClient, stack: StackClient) -> None:
    stack.add_fault(function="scanner", call="dynamodb.Query", kind="crash", times=100)
    stack.advance("2m")

    result = duecourse("doctor", "--json")

    assert result.code == 1
    schedule = checks_of(result)["schedule"]
    assert schedule["status"] == "failed"
    assert "scanner" in schedule["detail"]
    assert "DELETE /_local/faults" in schedule["advice"]


def test_a_scanner_that_recovered_is_fine(duecourse: CommandClient, stack: StackClient) -> None:
    stack.add_fault(function="scanner", call="dynamodb.Query", kind="crash", times=1)
    stack.advance("5m")

    assert statuses_of(duecourse("doctor", "--json"))["schedule"] == "ok"


def test_dead_letters_are_found(duecourse: CommandClient, stack: StackClient) -> None:
    sqs = aws_clients.client("sqs")
    queue = sqs.get_queue_url(QueueName="WorkDeadLetterQueue")["QueueUrl"]
    sqs.send_message(QueueUrl=queue, MessageBody="?")
    stack.advance("1m")

    result = duecourse("doctor", "--json")

    letters = checks_of(result)["dead_letters"]
    assert (result.code, letters["status"], letters["detail"]) == (
        1,
        "failed",
        "1 stored, of: work",
    )
    assert "redrive" in letters["advice"]


@pytest.mark.parametrize("hours", [-3, 3])
def test_a_moved_clock_is_a_warning(
    duecourse: CommandClient, stack: StackClient, monkeypatch: pytest.MonkeyPatch, hours: int
) -> None:
    del stack
    real = run.REAL_TIME
    moved = run.Time(lambda: real.now() + timedelta(hours=hours), real.pause)
    monkeypatch.setattr(run, "REAL_TIME", moved)

    result = duecourse("doctor", "--json")

    clock = checks_of(result)["clock"]
    assert (result.code, clock["status"]) == (0, "warning")
    assert ("behind" if hours > 0 else "ahead of") in clock["detail"]
    assert result.json["status"] == "warning"


def test_a_wrong_token_is_found_and_not_printed(
    duecourse: CommandClient, stack: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    del stack
    monkeypatch.setenv("DUECOURSE_TOKEN", TOKEN)

    for arguments in (("doctor",), ("doctor", "--json")):
        result = duecourse(*arguments)
        assert result.code == 1
        assert TOKEN not in result.out + result.err
    assert statuses_of(result)["token"] == "failed"
    assert {statuses_of(result)[name] for name in ("task", "history", "clock", "dead_letters")} == {
        "skipped"
    }


def test_the_token_in_use_is_named(
    duecourse: CommandClient, stack: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    del stack
    detail = checks_of(duecourse("doctor", "--json"))["token"]["detail"]
    assert detail == "the local stack's default token works"

    monkeypatch.setenv("DUECOURSE_TOKEN", "local")
    assert checks_of(duecourse("doctor", "--json"))["token"]["detail"] == "DUECOURSE_TOKEN works"


def test_a_stack_that_is_starting_is_asked_again(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_receiver(monkeypatch) as receiver:
        receiver.answer(404)  # it is no local stack
        receiver.answer(200, b'{"version": "1"}')
        receiver.answer(503, b"{}")
        receiver.drop_connection()
        receiver.answer(200, b'{"items": []}')
        receiver.answer(403, b'{"detail": "not allowed"}')
        result = duecourse("doctor", "--json")

    assert (statuses_of(result)["token"], statuses_of(result)["task"]) == ("ok", "failed")


def test_a_stack_that_does_not_start_is_found(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_receiver(monkeypatch) as receiver:
        receiver.answer(404)
        receiver.answer(200, b'{"version": "1"}')
        receiver.answer(503, b"{}")
        result = duecourse("doctor", "--json")
        requests = [request.path for request in receiver.requests]

    assert statuses_of(result)["token"] == "failed"
    assert requests == ["/_local/schedules", "/health", *["/tasks?limit=1"] * 3]


def test_a_token_that_may_only_read_is_found(
    duecourse: CommandClient, stack: StackClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUECOURSE_TOKEN", "local-read")

    result = duecourse("doctor", "--json")

    assert (result.code, statuses_of(result)["task"]) == (1, "failed")
    assert "scope write" in checks_of(result)["task"]["detail"]
    assert stack.items("/tasks") == []


def test_a_stack_that_does_not_answer_is_found(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUECOURSE_URL", "http://127.0.0.1:9")

    result = duecourse("doctor", "--json")

    assert (result.code, result.err) == (1, "duecourse: failed: api\n")
    assert checks_of(result)["api"]["detail"] == "cannot connect to http://127.0.0.1:9"
    assert set(statuses_of(result).values()) == {"failed", "skipped"}


def test_the_advice_to_start_the_stack_is_printed_once(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DUECOURSE_URL", "http://127.0.0.1:9")

    result = duecourse("doctor")

    assert [result.out.count(advice) for advice in ("make up", "DUECOURSE_URL")] == [1, 1]


def test_an_api_that_answers_nonsense_is_found(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serve_receiver(monkeypatch) as receiver:
        receiver.answer(200, b"<html>")
        result = duecourse("doctor", "--json")

    assert (result.code, statuses_of(result)["api"]) == (1, "failed")
    assert TOKEN not in result.out + result.err


@pytest.mark.parametrize(
    "arguments",
    [
        ("--preflight", "--next-steps"),
        ("--env", "nowhere"),
        ("--url", "ftp://x"),
        ("--url", "http://example.com"),
        ("--colour",),
    ],
)
def test_bad_usage_is_one_line(duecourse: CommandClient, arguments: tuple[str, ...]) -> None:
    result = duecourse("doctor", *arguments)

    assert (result.code, result.out, result.err.count("\n")) == (2, "", 1)
