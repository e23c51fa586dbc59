"""FIFO queues of the local stack deliver as SQS does: a group in order, all or nothing.

The tests move the clock a limited number of steps, so that a queue that always reports due
messages and delivers none fails instead of hanging.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from local.runtime import aws_clients
from local.runtime.aws_backend import AwsBackend
from local.runtime.clock import LocalClock
from local.runtime.functions import InvocationError
from local.runtime.moto_backend import MotoBackend
from local.runtime.queue_sources import QueueSource
from local.runtime.template import ACCOUNT, REGION
from local.testing.lean_aws.backend import LeanBackend

START = datetime(2026, 2, 17, 12, tzinfo=UTC)
MAX_STEPS = 20


class FakeWorker:
    """A worker that fails for chosen bodies and records each batch."""

    def __init__(self) -> None:
        self.failing_bodies: set[str] = set()
        self.is_crashing = False
        self.batches: list[list[str]] = []
        self.handle = ""

    def invoke(self, function: str, event: Any) -> Any:
        del function
        records = event["Records"]
        self.batches.append([record["body"] for record in records])
        self.handle = records[-1]["receiptHandle"]
        if self.is_crashing:
            raise InvocationError("killed")
        failed = [
            record["messageId"] for record in records if record["body"] in self.failing_bodies
        ]
        return {"batchItemFailures": [{"itemIdentifier": message_id} for message_id in failed]}


class FifoQueue:
    """A FIFO queue with a visibility timeout of two minutes and five receives, and its worker."""

    def __init__(self, clock: LocalClock, backend: AwsBackend) -> None:
        self.worker = FakeWorker()
        self.clock = clock
        self._client = aws_clients.client("sqs")
        self._client.create_queue(QueueName="dead.fifo", Attributes={"FifoQueue": "true"})
        redrive = f'{{"deadLetterTargetArn": "{_arn("dead.fifo")}", "maxReceiveCount": 5}}'
        attributes = {"FifoQueue": "true", "VisibilityTimeout": "120", "RedrivePolicy": redrive}
        created = self._client.create_queue(QueueName="line.fifo", Attributes=attributes)
        self._url = created["QueueUrl"]
        functions: Any = self.worker
        self.source = QueueSource(_arn("line.fifo"), "worker", 10, functions, backend)

    def send(self, *bodies: str, group: str = "ada") -> None:
        for body in bodies:
            self._client.send_message(
                QueueUrl=self._url,
                MessageBody=body,
                MessageGroupId=group,
                MessageDeduplicationId=body,
            )

    def defer(self, *, seconds: int) -> None:
        """Change the visibility timeout of the last received message."""
        self._client.change_message_visibility(
            QueueUrl=self._url, ReceiptHandle=self.worker.handle, VisibilityTimeout=seconds
        )

    def run(self) -> None:
        for invoke in self.source.take_due(self.clock.now()):
            invoke()

    def run_until_empty(self) -> None:
        for _ in range(MAX_STEPS):
            self.run()
            next_at = self.source.next_at(self.clock.now())
            if next_at is None:
                return
            assert next_at > self.clock.now(), "time would not advance"
            self.clock.freeze_at(next_at)
        pytest.fail(f"still not empty at {self.clock.now()}")


def _arn(name: str) -> str:
    return f"arn:aws:sqs:{REGION}:{ACCOUNT}:{name}"


@pytest.fixture(params=[MotoBackend, LeanBackend], ids=["moto", "lean"])
def queue(request: pytest.FixtureRequest) -> Iterator[FifoQueue]:
    backend: AwsBackend = request.param()
    clock = LocalClock(is_manual=True, starts_at=START)
    clock.start(lambda _: True)
    with backend.install(clock):
        yield FifoQueue(clock, backend)
    clock.stop()


def test_messages_that_failed_together_return_together_and_in_order(queue: FifoQueue) -> None:
    queue.worker.failing_bodies = {"first", "second"}
    queue.send("first")
    queue.run()
    queue.send("second")
    queue.run_until_empty()

    both = ["first", "second"]
    assert queue.worker.batches == [["first"], both, both, both, both, ["second"]]


def test_messages_of_a_crashed_worker_return_together(queue: FifoQueue) -> None:
    queue.worker.is_crashing = True
    queue.send("first", "second", "third")
    queue.run()
    queue.worker.is_crashing = False
    queue.run_until_empty()

    assert queue.worker.batches == [["first", "second", "third"]] * 2


def test_a_message_waits_for_a_hidden_one_of_its_group(queue: FifoQueue) -> None:
    queue.worker.failing_bodies = {"first"}
    queue.send("first")
    queue.run()
    queue.send("second")
    queue.send("other", group="bob")
    queue.run()
    queue.worker.failing_bodies.clear()
    queue.run_until_empty()

    assert queue.worker.batches == [["first"], ["other"], ["first", "second"]]


def test_a_group_waits_for_its_longest_hidden_message(queue: FifoQueue) -> None:
    queue.worker.failing_bodies = {"first", "second"}
    queue.send("first", "second")
    queue.run()
    queue.defer(seconds=300)
    queue.worker.failing_bodies.clear()
    queue.run_until_empty()

    assert queue.worker.batches == [["first", "second"]] * 2
    assert queue.clock.now() >= START + timedelta(seconds=300)


def test_an_empty_receive_is_repeated_later(
    queue: FifoQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.send("first")
    with monkeypatch.context() as patch:
        patch.setattr(queue.source, "_receive", list)
        queue.run()
        next_at = queue.source.next_at(queue.clock.now())
    assert next_at is not None
    assert next_at > queue.clock.now()

    queue.run_until_empty()
    assert queue.worker.batches == [["first"]]
