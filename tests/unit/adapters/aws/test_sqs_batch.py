"""The handler of the functions that read a queue: what it reports, counts and logs."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from aws_lambda_powertools import Logger, Metrics
from duecourse.adapters.aws.sqs_batch import DeferredMessageError, QueueRecord, sqs_batch_handler

CONTEXT: Any = SimpleNamespace(
    function_name="f",
    memory_limit_in_mb=128,
    invoked_function_arn="arn:f",
    aws_request_id="1",
    get_remaining_time_in_millis=lambda: 1_000,
)


def record(body: str, *, group: str = "") -> dict[str, Any]:
    attributes = {"MessageGroupId": group} if group else {}
    return {
        "messageId": f"m-{body}",
        "receiptHandle": "r",
        "body": body,
        "attributes": attributes,
        "eventSource": "aws:sqs",
    }


class Batch:
    """Handles a batch whose messages say what becomes of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
        monkeypatch.setenv("POWERTOOLS_METRICS_DISABLED", "true")
        self.handled: list[str] = []
        self._stream = io.StringIO()
        self.metrics = Metrics(namespace="test", service="batch")
        self.metrics.clear_metrics()
        self._handler = sqs_batch_handler(
            self._handle_record,
            logger=Logger(service=f"batch-{id(self)}", stream=self._stream),
            metrics=self.metrics,
            received_metric="MessagesReceived",
            **options,
        )

    def _handle_record(self, message: QueueRecord) -> None:
        self.handled.append(message.body)
        if message.body.startswith("bad"):
            raise ValueError(message.body)
        if message.body.startswith("deferred"):
            raise DeferredMessageError

    def failed(self, *records: dict[str, Any]) -> list[str]:
        reply = self._handler({"Records": [*records]}, CONTEXT)
        return [one["itemIdentifier"] for one in reply["batchItemFailures"]]

    @property
    def logged(self) -> list[tuple[str, str]]:
        lines = map(json.loads, self._stream.getvalue().splitlines())
        return [(line["message"], line["message_id"]) for line in lines]


@pytest.fixture
def make_batch(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Batch]:
    return lambda **options: Batch(monkeypatch, **options)


def test_only_failed_messages_return_to_the_queue(make_batch: Callable[..., Batch]) -> None:
    batch = make_batch()
    assert batch.failed(record("a"), record("bad"), record("b")) == ["m-bad"]
    assert batch.handled == ["a", "bad", "b"]
    assert batch.logged == [("message_requeued", "m-bad")]


def test_an_invocation_succeeds_even_if_every_message_fails(
    make_batch: Callable[..., Batch],
) -> None:
    assert make_batch().failed(record("bad 1"), record("bad 2")) == ["m-bad 1", "m-bad 2"]


def test_each_batch_has_its_own_results(make_batch: Callable[..., Batch]) -> None:
    batch = make_batch()
    assert batch.failed(record("bad")) == ["m-bad"]
    assert batch.failed(record("a")) == []


def test_a_deferred_message_stays_on_the_queue_and_is_no_error(
    make_batch: Callable[..., Batch],
) -> None:
    batch = make_batch()
    assert batch.failed(record("deferred"), record("a")) == ["m-deferred"]
    assert batch.logged == []


def test_received_messages_are_counted(make_batch: Callable[..., Batch]) -> None:
    batch = make_batch()
    batch.failed(record("a"), record("bad"))
    assert batch.metrics.provider.metric_set["MessagesReceived"]["Value"] == [2.0]


def test_messages_are_handled_in_the_order_of_the_sort_key(
    make_batch: Callable[..., Batch],
) -> None:
    batch = make_batch(sort_key=lambda raw: raw["body"])
    batch.failed(record("c"), record("a"), record("b"))
    assert batch.handled == ["a", "b", "c"]


def test_in_a_fifo_queue_later_messages_of_the_group_wait_for_a_failed_one(
    make_batch: Callable[..., Batch],
) -> None:
    batch = make_batch(is_fifo=True)
    failed = batch.failed(
        record("bad", group="ada"), record("later", group="ada"), record("other", group="bob")
    )
    assert failed == ["m-bad", "m-later"]
    assert batch.handled == ["bad", "other"]
