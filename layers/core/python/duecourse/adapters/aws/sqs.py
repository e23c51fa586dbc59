"""The SQS queues: work, failures, notifications, chat messages and dead letters.

Every function uses some of them, so what a message holds is loaded only by those that read it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import datetime, timedelta
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING, Any, TypeVar

from duecourse.adapters.runtime.unsent_dispatches import note_unsent
from duecourse.domain.dispatch.lanes import lane_from_number
from duecourse.domain.dispatch.timing import Dispatch, delay_seconds
from duecourse.domain.time.instant import from_text, to_text

if TYPE_CHECKING:
    from types_boto3_sqs.client import SQSClient
    from types_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef

    from duecourse.domain.chat.message import Message
    from duecourse.domain.chat.notification import Notification
    from duecourse.domain.dispatch.dead_letter import DeadLetter, Queue
    from duecourse.domain.failures.failure_report import FailureReport
    from duecourse.ports.queues import WorkQueue

T = TypeVar("T")
MAX_BATCH_SIZE = 10
MAX_ID_LENGTH = 100
MAX_REMEMBERED = 1_000
MAX_VISIBILITY_TIMEOUT = timedelta(hours=11)  # SQS allows twelve hours after the receive
MAX_DELAY = timedelta(minutes=15)  # of SQS
_INVALID_CHARACTERS = re.compile("[\ud800-\udfff\ufffe\uffff]")


class MessagesNotSentError(RuntimeError):
    def __init__(self, count: int) -> None:
        super().__init__(f"SQS did not take {count} message(s)")


class _TrySend:
    """Adds `try_send` to a work queue."""

    def try_send(self: WorkQueue, dispatch: Dispatch, *, now: datetime) -> None:
        try:
            self.send([dispatch], now=now)
        except Exception as error:  # noqa: BLE001 - of whatever kind, the task is stored
            note_unsent(dispatch, error)


class SqsWorkQueue(_TrySend):
    def __init__(self, client: SQSClient, url: str) -> None:
        self._client = client
        self._url = url

    def send(self, dispatches: Iterable[Dispatch], *, now: datetime) -> int:
        sent = 0
        for batch in _split_batches(dispatches):
            entries = [_to_entry(n, dispatch, now) for n, dispatch in enumerate(batch)]
            _send_batch(self._client, self._url, entries)
            sent += len(batch)
        return sent


class LaneWorkQueue(_TrySend):
    """Sends each dispatch to the work queue of its lane. Without a lane, the worker reroutes it."""

    def __init__(self, work_queue: WorkQueue, slow_queue: WorkQueue) -> None:
        self._work_queue = work_queue
        self._slow_queue = slow_queue

    def send(self, dispatches: Iterable[Dispatch], *, now: datetime) -> int:
        dispatches = list(dispatches)
        slow = [dispatch for dispatch in dispatches if dispatch.lane and dispatch.lane.is_slow]
        others = [one for one in dispatches if not (one.lane and one.lane.is_slow)]
        return self._slow_queue.send(slow, now=now) + self._work_queue.send(others, now=now)


class SqsFailureQueue:
    def __init__(self, client: SQSClient, url: str) -> None:
        self._client = client
        self._url = url

    def send(self, report: FailureReport) -> None:
        self._client.send_message(QueueUrl=self._url, MessageBody=to_body(report.to_json()))

    def send_all(self, reports: Sequence[FailureReport]) -> None:
        for batch in _split_batches(reports):
            bodies = enumerate(to_body(report.to_json()) for report in batch)
            _send_batch(
                self._client, self._url, [{"Id": str(n), "MessageBody": body} for n, body in bodies]
            )


class SqsNotificationQueue:
    """Remembers what this container sent last: people cannot drop duplicates as programs can."""

    def __init__(self, client: SQSClient, url: str) -> None:
        self._client = client
        self._url = url
        self._sent_keys: deque[str] = deque(maxlen=MAX_REMEMBERED)

    def send(self, notification: Notification) -> None:
        self._client.send_message(QueueUrl=self._url, MessageBody=to_body(notification.to_json()))

    def send_all(self, notifications: Sequence[Notification]) -> int:
        for start in range(0, len(notifications), MAX_BATCH_SIZE):
            batch = notifications[start : start + MAX_BATCH_SIZE]
            unsent = {n: one for n, one in enumerate(batch) if not self._is_sent(one)}
            refused = self._send_batch(unsent)
            self._sent_keys += [
                one.idempotency_key for n, one in unsent.items() if n not in refused
            ]
            if refused:
                return start + min(refused)
        return len(notifications)

    def _is_sent(self, notification: Notification) -> bool:
        return notification.idempotency_key in self._sent_keys

    def _send_batch(self, batch: Mapping[int, Notification]) -> Set[int]:
        """Send the notifications and return the positions of those that SQS did not take."""
        if not batch:
            return set()
        entries: list[SendMessageBatchRequestEntryTypeDef] = [
            {"Id": str(n), "MessageBody": to_body(one.to_json())} for n, one in batch.items()
        ]
        try:
            reply = self._client.send_message_batch(QueueUrl=self._url, Entries=entries)
        except Exception:  # noqa: BLE001 - some may have been sent; all are sent again
            return set(batch)
        return {int(one["Id"]) for one in reply.get("Failed", ())}

    def defer(self, receipt_handle: str, *, until: datetime, now: datetime) -> None:
        seconds = ceil(min(until - now, MAX_VISIBILITY_TIMEOUT).total_seconds())
        self._client.change_message_visibility(
            QueueUrl=self._url, ReceiptHandle=receipt_handle, VisibilityTimeout=max(seconds, 0)
        )

    def send_later(self, notification: Notification, *, at: datetime, now: datetime) -> None:
        delay = min(max(at - now, timedelta(0)), MAX_DELAY)
        self._client.send_message(
            QueueUrl=self._url,
            MessageBody=to_body(notification.to_json()),
            DelaySeconds=ceil(delay.total_seconds()),
        )


class SqsChatQueue:
    """A FIFO queue: each sender's messages stay in order, and duplicates are dropped."""

    def __init__(self, client: SQSClient, url: str) -> None:
        self._client = client
        self._url = url

    def send(self, message: Message) -> None:
        self._client.send_message(
            QueueUrl=self._url,
            MessageBody=to_body(message.to_json()),
            MessageGroupId=_digest(message.channel, message.sender_id),
            MessageDeduplicationId=_digest(message.channel, message.dedup_key),
        )


def _digest(*names: str) -> str:
    """Return a hash: SQS restricts the length and characters of these ids."""
    return hashlib.sha256("\0".join(names).encode()).hexdigest()


class SqsSourceQueues:
    """Redrives a dead letter to the queue it came from."""

    def __init__(self, client: SQSClient, urls: Mapping[Queue, str]) -> None:
        self._client = client
        self._urls = urls

    def redrive(self, letter: DeadLetter) -> None:
        from duecourse.domain.dispatch.dead_letter import Queue

        url = self._urls[letter.queue]
        if letter.queue is not Queue.CHAT:
            self._client.send_message(QueueUrl=url, MessageBody=letter.body)
            return
        # A group of its own: the order among the sender's messages is lost already.
        self._client.send_message(
            QueueUrl=url,
            MessageBody=letter.body,
            MessageGroupId=letter.id,
            MessageDeduplicationId=letter.id,
        )


def to_body(document: Mapping[str, Any]) -> str:
    """Return `document` as JSON in UTF-8, with the characters that SQS rejects written as escapes.

    json.dumps already escapes control characters; this adds surrogates, U+FFFE and U+FFFF.
    """
    text = json.dumps(document, ensure_ascii=False)
    return _INVALID_CHARACTERS.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def report_from_body(body: str) -> FailureReport:
    """Return the report. Raises ValueError if `body` is not one."""
    from duecourse.domain.failures.failure_report import FailureReport

    try:
        report = FailureReport.from_json(json.loads(body))
    except RecursionError as error:
        raise ValueError("not a failure report") from error
    if not (_is_valid_id(report.task_id) and _is_valid_id(report.run_id)):
        raise ValueError("not a failure report: these are no ids")
    return report


def notification_from_body(body: str) -> Notification:
    """Return the notification. Raises ValueError if `body` is not one."""
    from duecourse.domain.chat.notification import Notification

    try:
        return Notification.from_json(json.loads(body))
    except RecursionError as error:
        raise ValueError("not a notification") from error


def message_from_body(body: str) -> Message:
    """Return the chat message. Raises ValueError if `body` is not one."""
    from duecourse.domain.chat.message import Message

    try:
        return Message.from_json(json.loads(body))
    except (OverflowError, RecursionError) as error:
        raise ValueError("not a message") from error


def dispatch_from_body(body: str) -> Dispatch:
    """Return the dispatch. Raises ValueError if `body` is not one."""
    try:
        stored = json.loads(body)
        if not _is_valid_id(stored["task_id"]):
            raise TypeError
        lane = lane_from_number(stored.get("lane"))
        return Dispatch(from_text(stored["due_at"]), stored["task_id"], lane)
    except (KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise ValueError("not a dispatch: needs task_id and due_at") from error


def _is_valid_id(value: Any) -> bool:
    """Return whether `value` can be an id. Older ids are not UUIDs but any short printable text."""
    return isinstance(value, str) and 1 <= len(value) <= MAX_ID_LENGTH and value.isprintable()


def _to_entry(n: int, dispatch: Dispatch, now: datetime) -> SendMessageBatchRequestEntryTypeDef:
    body: dict[str, Any] = {"task_id": dispatch.task_id, "due_at": to_text(dispatch.due_at)}
    if dispatch.lane is not None:
        body["lane"] = int(dispatch.lane)
    delay = delay_seconds(dispatch.due_at, now=now)
    return {"Id": str(n), "MessageBody": to_body(body), "DelaySeconds": delay}


def _send_batch(
    client: SQSClient, url: str, entries: Sequence[SendMessageBatchRequestEntryTypeDef]
) -> None:
    reply = client.send_message_batch(QueueUrl=url, Entries=entries)
    if refused := reply.get("Failed"):
        raise MessagesNotSentError(len(refused))


def _split_batches(messages: Iterable[T]) -> Iterator[list[T]]:
    rest = iter(messages)
    while batch := list(islice(rest, MAX_BATCH_SIZE)):
        yield batch
