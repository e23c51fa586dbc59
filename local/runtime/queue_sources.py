"""SQS event sources on moto: batches, partial failures, visibility timeouts and redrive."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from moto.sqs.exceptions import ReceiptHandleIsInvalid
from moto.sqs.models import SQSBackend, sqs_backends

from local.runtime import aws_clients
from local.runtime.functions import Functions, InvocationError
from local.runtime.template import ACCOUNT, REGION, Resolver, resources_of_type

# moto shows a message only after the millisecond in which it becomes visible.
_ONE_MILLISECOND = timedelta(milliseconds=1)
_EMPTY_RECEIVE_DELAY = timedelta(seconds=1)


class QueueSource:
    def __init__(self, arn: str, function: str, batch_size: int, functions: Functions) -> None:
        self._arn = arn
        self._function = function
        self._batch_size = batch_size
        self._functions = functions
        self._client = aws_clients.client("sqs")
        self._name = arn.rpartition(":")[2]
        self._url = self._client.get_queue_url(QueueName=self._name)["QueueUrl"]
        self._is_known_empty = False

    def take_due(self, now: datetime) -> Sequence[Callable[[], None]]:
        batches = []
        is_due = self._is_due(now)
        while is_due and (messages := self._receive()):
            batches.append(self._make_invocation(messages))
        self._is_known_empty = is_due and not batches
        return batches

    def next_at(self, now: datetime, _until: datetime | None = None) -> datetime | None:
        if self._is_known_empty and self._is_due(now):
            return now + _EMPTY_RECEIVE_DELAY  # polling again at once would stop time
        return self._next_available_at()

    def _is_due(self, now: datetime) -> bool:
        given_at = self._next_available_at()
        return given_at is not None and given_at <= now

    def _next_available_at(self) -> datetime | None:
        """Return when the next message can be received.

        A FIFO group becomes available only when all its messages are visible.
        """
        groups = _message_groups(self._name)
        return min((max(map(_visible_at, group)) for group in groups), default=None)

    def _receive(self) -> list[Any]:
        _release_visible(self._name)
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
            self._delete(messages, reply or {})

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

    def _delete(self, messages: list[Any], reply: dict[str, Any]) -> None:
        failed = {item["itemIdentifier"] for item in reply.get("batchItemFailures", ())}
        done = [message for message in messages if message["MessageId"] not in failed]
        if done:
            entries = [
                {"Id": str(n), "ReceiptHandle": message["ReceiptHandle"]}
                for n, message in enumerate(done)
            ]
            self._client.delete_message_batch(QueueUrl=self._url, Entries=entries)


def make_queue_sources(
    template: dict[str, Any], functions: Functions, resolver: Resolver
) -> list[QueueSource]:
    SQSBackend.change_message_visibility = _change_visibility
    mappings = resources_of_type(template, "AWS::Lambda::EventSourceMapping").values()
    arns = [(resolver.resolve(mapping["EventSourceArn"]), mapping) for mapping in mappings]
    return [
        QueueSource(arn, mapping["FunctionName"]["Ref"], mapping["BatchSize"], functions)
        for arn, mapping in arns
        if ":sqs:" in arn
    ]


def _change_visibility(
    backend: SQSBackend, queue_name: str, receipt_handle: str, visibility_timeout: int
) -> None:
    """Replace moto's method, which limits the timeout to twelve hours after sending.

    SQS starts the twelve hours again with each receive.
    """
    for message in backend.get_queue(queue_name)._messages:
        if message.had_receipt_handle(receipt_handle):
            message.change_visibility(visibility_timeout)
            return
    raise ReceiptHandleIsInvalid


def _get_queue(name: str) -> Any:
    return sqs_backends[ACCOUNT][REGION].queues[name]


def _message_groups(name: str) -> Iterable[list[Any]]:
    """Return the messages that are received together: FIFO groups, otherwise single messages."""
    messages = _get_queue(name)._messages
    if not name.endswith(".fifo"):
        return ([message] for message in messages)
    groups = defaultdict(list)
    for message in messages:
        groups[message.group_id].append(message)
    return groups.values()


def _release_visible(name: str) -> None:
    """Mark all visible messages as receivable before the receive.

    moto does that one by one during the receive. Of two messages in a FIFO group it would then skip
    the first and return the second.
    """
    queue = _get_queue(name)
    queue.pending_messages.difference_update([one for one in queue._messages if one.visible])


def _visible_at(message: Any) -> datetime:
    hidden_until = _from_milliseconds(message.visible_at) + _ONE_MILLISECOND
    return max(hidden_until, _from_milliseconds(message.delayed_until))


def _from_milliseconds(milliseconds: float) -> datetime:
    return datetime.fromtimestamp(int(milliseconds) / 1000, tz=UTC)
