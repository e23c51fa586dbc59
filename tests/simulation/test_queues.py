"""A FIFO queue of the local stack hands out what SQS would: of a group all or nothing, in order.

The clock is moved by hand from one moment to the next, a few steps at most: a queue that says again
and again that something is due, and gives nothing, fails here instead of hanging.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from moto import mock_aws

from local.runtime import aws_clients
from local.runtime.clock import LocalClock
from local.runtime.functions import InvocationError
from local.runtime.queue_sources import QueueSource
from local.runtime.template import ACCOUNT, REGION

START = datetime(2026, 2, 17, 12, tzinfo=UTC)
MOST_STEPS = 20


class Worker:
    """Takes what it is given, but for what it is told to fail at, and remembers the tries."""

    def __init__(self) -> None:
        self.failing: set[str] = set()
        self.is_killed = False
        self.tried: list[list[str]] = []
        self.handle = ""

    def invoke(self, function: str, event: Any) -> Any:
        del function
        records = event["Records"]
        self.tried.append([record["body"] for record in records])
        self.handle = records[-1]["receiptHandle"]
        if self.is_killed:
            raise InvocationError("killed")
        failed = [record["messageId"] for record in records if record["body"] in self.failing]
        return {"batchItemFailures": [{"itemIdentifier": one} for one in failed]}


class Line:
    """A FIFO queue with two minutes of hiding and five tries, its worker, and a clock."""

    def __init__(self, clock: LocalClock) -> None:
        self.worker = Worker()
        self.clock = clock
        self._client = aws_clients.client("sqs")
        self._client.create_queue(QueueName="dead.fifo", Attributes={"FifoQueue": "true"})
        redrive = f'{{"deadLetterTargetArn": "{_arn("dead.fifo")}", "maxReceiveCount": 5}}'
        attributes = {"FifoQueue": "true", "VisibilityTimeout": "120", "RedrivePolicy": redrive}
        made = self._client.create_queue(QueueName="line.fifo", Attributes=attributes)
        self._url = made["QueueUrl"]
        self.source = QueueSource(_arn("line.fifo"), "worker", 10, self.worker)  # type: ignore[arg-type]

    def send(self, *bodies: str, group: str = "ada") -> None:
        for body in bodies:
            self._client.send_message(
                QueueUrl=self._url,
                MessageBody=body,
                MessageGroupId=group,
                MessageDeduplicationId=body,
            )

    def defer(self, *, seconds: int) -> None:
        """For that long, the last that was taken."""
        self._client.change_message_visibility(
            QueueUrl=self._url, ReceiptHandle=self.worker.handle, VisibilityTimeout=seconds
        )

    def run(self) -> None:
        for invoke in self.source.take_due(self.clock.now()):
            invoke()

    def run_until_empty(self) -> None:
        for _ in range(MOST_STEPS):
            self.run()
            next_at = self.source.next_at(self.clock.now())
            if next_at is None:
                return
            assert next_at > self.clock.now(), "time would stand still"
            self.clock.freeze_at(next_at)
        pytest.fail(f"still not empty at {self.clock.now()}")


def _arn(name: str) -> str:
    return f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"


@pytest.fixture
def line() -> Iterator[Line]:
    clock = LocalClock(is_manual=True, starts_at=START)
    clock.start(lambda _: True)
    with mock_aws():
        yield Line(clock)
    clock.stop()


def test_two_that_failed_together_come_back_together_and_in_order(line: Line) -> None:
    line.worker.failing = {"first", "second"}
    line.send("first")
    line.run()
    line.send("second")
    line.run_until_empty()

    both = ["first", "second"]
    assert line.worker.tried == [["first"], both, both, both, both, ["second"]]


def test_those_of_a_killed_worker_come_back_together(line: Line) -> None:
    line.worker.is_killed = True
    line.send("first", "second", "third")
    line.run()
    line.worker.is_killed = False
    line.run_until_empty()

    assert line.worker.tried == [["first", "second", "third"]] * 2


def test_what_comes_while_one_of_its_group_is_hidden_waits_for_it(line: Line) -> None:
    line.worker.failing = {"first"}
    line.send("first")
    line.run()
    line.send("second")
    line.send("other", group="bob")
    line.run()
    line.worker.failing.clear()
    line.run_until_empty()

    assert line.worker.tried == [["first"], ["other"], ["first", "second"]]


def test_a_group_waits_for_the_one_of_it_that_is_hidden_longest(line: Line) -> None:
    line.worker.failing = {"first", "second"}
    line.send("first", "second")
    line.run()
    line.defer(seconds=300)
    line.worker.failing.clear()
    line.run_until_empty()

    assert line.worker.tried == [["first", "second"]] * 2
    assert line.clock.now() > START + timedelta(seconds=300)


def test_a_queue_that_gives_nothing_is_asked_again_later(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    line.send("first")
    with monkeypatch.context() as patch:
        patch.setattr(line.source, "_receive", list)
        line.run()
        asked_again = line.source.next_at(line.clock.now())
    assert asked_again is not None
    assert asked_again > line.clock.now()

    line.run_until_empty()
    assert line.worker.tried == [["first"]]
