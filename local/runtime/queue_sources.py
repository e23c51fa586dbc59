"""SQS event sources: batches, partial failures, visibility timeouts and redrive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from local.runtime import aws_clients
from local.runtime.aws_backend import AwsBackend
from local.runtime.functions import Functions, InvocationError
from local.runtime.template import REGION, Resolver, function_id, resources_of_type

_EMPTY_RECEIVE_DELAY = timedelta(seconds=1)
# The most that are received on a real clock before requests and other sources get a turn.
MAX_BATCHES = 10


class QueueSource:
    """`max_batches`: how many it receives at once; None for all that are there."""

    def __init__(
        self,
        arn: str,
        function: str,
        batch_size: int,
        functions: Functions,
        backend: AwsBackend,
        *,
        max_batches: int | None = None,
    ) -> None:
        self._arn = arn
        self._max_batches = max_batches
        self._function = function
        self._batch_size = batch_size
        self._functions = functions
        self._backend = backend
        self._client = aws_clients.client("sqs")
        self.name = arn.rpartition(":")[2]
        self._is_known_empty = False

    @cached_property
    def _url(self) -> str:
        """The URL, read on the first receive: most queues of a short-lived stack stay empty."""
        return str(self._client.get_queue_url(QueueName=self.name)["QueueUrl"])

    def take_due(self, now: datetime) -> Sequence[Callable[[], None]]:
        batches: list[Callable[[], None]] = []
        while self._is_due(now) and len(batches) != self._max_batches:
            messages = self._receive()
            if not messages:
                break
            batches.append(self._make_invocation(messages))
        self._is_known_empty = not batches and self._is_due(now)
        return batches

    def next_at(self, now: datetime, _until: datetime | None = None) -> datetime | None:
        if self._is_known_empty and self._is_due(now):
            return now + _EMPTY_RECEIVE_DELAY  # polling again at once would stop time
        return self._backend.next_message_at(self.name)

    def _is_due(self, now: datetime) -> bool:
        available_at = self._backend.next_message_at(self.name)
        return available_at is not None and available_at <= now

    def _receive(self) -> list[Any]:
        self._backend.release_visible(self.name)
        reply = self._client.receive_message(
            QueueUrl=self._url, MaxNumberOfMessages=self._batch_size, AttributeNames=["All"]
        )
        messages: list[Any] = reply.get("Messages", [])
        return messages

    def _make_invocation(self, messages: list[Any]) -> Callable[[], None]:
        def invoke() -> None:
            try:
                reply = self._functions.invoke(
                    self._function, {"Records": self._to_records(messages)}
                )
            except InvocationError:
                return  # the messages return after their visibility timeout
            self.delete(messages, reply or {})

        return invoke

    def _to_records(self, messages: list[Any]) -> list[dict[str, Any]]:
        return [
            {
                "messageId": message["MessageId"],
                "receiptHandle": message["ReceiptHandle"],
                "body": message["Body"],
                "attributes": message.get("Attributes", {}),
                "messageAttributes": {},
                "md5OfBody": message["MD5OfBody"],
                "eventSource": "aws:sqs",
                "eventSourceARN": self._arn,
                "awsRegion": REGION,
            }
            for message in messages
        ]

    def delete(self, messages: list[Any], reply: dict[str, Any]) -> None:
        """Delete the messages that the function did not report as failed."""
        failed = {item["itemIdentifier"] for item in reply.get("batchItemFailures", ())}
        done = [message for message in messages if message["MessageId"] not in failed]
        if done:
            entries = [
                {"Id": str(n), "ReceiptHandle": message["ReceiptHandle"]}
                for n, message in enumerate(done)
            ]
            self._client.delete_message_batch(QueueUrl=self._url, Entries=entries)


def make_queue_sources(
    template: dict[str, Any],
    functions: Functions,
    resolver: Resolver,
    backend: AwsBackend,
    *,
    max_batches: int | None,
) -> list[QueueSource]:
    mappings = resources_of_type(template, "AWS::Lambda::EventSourceMapping").values()
    arns = [(resolver.resolve(mapping["EventSourceArn"]), mapping) for mapping in mappings]
    return [
        QueueSource(
            arn,
            function_id(mapping["FunctionName"]),
            mapping["BatchSize"],
            functions,
            backend,
            max_batches=max_batches,
        )
        for arn, mapping in arns
        if ":sqs:" in arn
    ]
