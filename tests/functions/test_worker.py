"""The worker function: which messages are requeued, counted and logged."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest

from functions.worker import app
from tests.support.stack_client import StackClient

Log = Callable[[], list[dict[str, Any]]]


def _record(n: int, body: Any) -> dict[str, Any]:
    text = body if isinstance(body, str) else json.dumps(body)
    return {
        "messageId": f"message-{n}",
        "receiptHandle": f"handle-{n}",
        "body": text,
        "attributes": {"ApproximateReceiveCount": "1"},
        "messageAttributes": {},
        "md5OfBody": "",
        "eventSource": "aws:sqs",
        "eventSourceARN": "arn:aws:sqs:eu-central-1:123456789012:WorkQueue",
        "awsRegion": "eu-central-1",
    }


def _batch(*bodies: Any) -> dict[str, Any]:
    return {"Records": [_record(n, body) for n, body in enumerate(bodies)]}


@pytest.fixture
def due_message(client: StackClient) -> dict[str, Any]:
    """Return a message for a task that is due now; the queue has not delivered its own yet."""
    task = client.create(**{"in": "1s"})
    return {"task_id": task["id"], "due_at": task["due_at"]}


@pytest.fixture
def log(client: StackClient) -> Iterator[Log]:
    """Capture the worker's log lines as CloudWatch receives them."""
    del client  # the stack sets the log level when it starts
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(app.logger.registered_formatter)
    powertools = logging.getLogger("worker")
    level = powertools.level
    powertools.addHandler(handler)
    powertools.setLevel(logging.INFO)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    powertools.removeHandler(handler)
    powertools.setLevel(level)


def test_only_an_unreadable_message_is_requeued(
    client: StackClient, due_message: dict[str, Any]
) -> None:
    reply = client.stack.invoke("worker", _batch("not a dispatch", due_message, {"task_id": "x"}))

    failed_ids = [item["itemIdentifier"] for item in reply["batchItemFailures"]]
    assert sorted(failed_ids) == ["message-0", "message-2"]
    assert [message["text"] for message in client.outbox()] == ["Reminder: stretch"]


def test_duplicate_messages_deliver_once(client: StackClient, due_message: dict[str, Any]) -> None:
    reply = client.stack.invoke("worker", _batch(due_message, due_message))

    assert reply == {"batchItemFailures": []}
    assert len(client.outbox()) == 1
    metrics = client.stack.functions.metrics
    assert (metrics["TasksDelivered"], metrics["DuplicatesDropped"]) == ([1], [1])


def test_a_stale_message_is_dropped(client: StackClient, due_message: dict[str, Any]) -> None:
    stale = {**due_message, "due_at": "2026-02-17T11:00:00.000Z"}
    client.stack.invoke("worker", _batch(stale))

    assert client.outbox() == []
    assert client.stack.functions.metrics["DuplicatesDropped"] == [1]


def test_a_message_far_too_early_is_requeued(client: StackClient) -> None:
    task = client.create(**{"in": "1h"})
    client.stack.invoke("worker", _batch({"task_id": task["id"], "due_at": task["due_at"]}))

    assert client.outbox() == []
    assert client.stack.functions.metrics["TasksRequeuedEarly"] == [1]


def test_dispatches_deliveries_and_lateness_are_counted(client: StackClient) -> None:
    client.create(**{"in": "1h"})
    client.advance("2h")

    metrics = client.stack.functions.metrics
    assert sum(metrics["TasksDispatched"]) == 1
    assert metrics["TasksDelivered"] == [1]
    assert metrics["MessagesReceived"] == [1]
    [late_ms] = metrics["Lateness"]
    assert 0 <= late_ms <= 2


def test_a_delivery_is_logged_with_its_task_and_run(client: StackClient, log: Log) -> None:
    task = client.create(**{"in": "10s"})
    client.advance("1m")

    [line] = log()
    assert (line["message"], line["task_id"]) == ("delivered", task["id"])
    assert line["run_id"] == client.task(task["id"])["run_id"]
    assert line["level"] == "INFO"
    assert line["function_name"] == "WorkerFunction"


def test_a_failed_run_is_logged_with_its_error(client: StackClient, log: Log) -> None:
    client.add_fault(call="channel.send", kind="error", error={"message": "the line is dead"})
    task = client.create(**{"in": "10s"})
    client.advance("30s")

    [line] = log()
    assert (line["message"], line["task_id"]) == ("failed", task["id"])
    assert line["error"].endswith("the line is dead")
    assert line["run_id"] == client.task(task["id"])["run_id"]


def test_an_unreadable_message_is_logged_with_its_id(client: StackClient, log: Log) -> None:
    client.stack.invoke("worker", _batch("not a dispatch"))

    [line] = log()
    assert (line["level"], line["message_id"]) == ("ERROR", "message-0")
    assert "not a dispatch" in line["exception"]


def test_concurrent_batches_report_their_own_failures(
    client: StackClient, due_message: dict[str, Any]
) -> None:
    """The first batch waits for its second message while the other one starts and ends."""
    replies: list[Any] = []

    def run(batch: dict[str, Any]) -> None:
        replies.append(client.stack.functions.invoke("worker", batch))

    for batch in (_batch("not a dispatch", due_message), _batch(due_message)):
        client.stack.scheduler.spawn(partial(run, batch))
    client.advance("2s")

    failures = [reply["batchItemFailures"] for reply in replies]
    assert sorted(failures, key=len) == [[], [{"itemIdentifier": "message-0"}]]
