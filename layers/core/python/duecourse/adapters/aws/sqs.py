"""The queues on SQS: work in batches of ten, each with the delay left; failures; notices; chat."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from itertools import islice
from math import ceil
from typing import TYPE_CHECKING, Any

from duecourse.domain.chat.message import Message
from duecourse.domain.chat.notification import Notice
from duecourse.domain.dispatch.dead_letter import DeadLetter, Queue
from duecourse.domain.dispatch.timing import Dispatch, delay_seconds
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.time.instant import from_text, to_text

if TYPE_CHECKING:
    from types_boto3_sqs.client import SQSClient
    from types_boto3_sqs.type_defs import SendMessageBatchRequestEntryTypeDef

BATCH = 10
LONGEST_ID = 100
LONGEST_HIDDEN = timedelta(hours=11)  # SQS allows twelve, counted from when it was received
_REFUSED = re.compile("[\ud800-\udfff\ufffe\uffff]")


class UnsentError(RuntimeError):
    def __init__(self, count: int) -> None:
        super().__init__(f"SQS did not take {count} message(s)")


class SqsWorkQueue:
    def __init__(self, client: SQSClient, url: str) -> None:
        self._client = client
        self._url = url

    def send(self, dispatches: Iterable[Dispatch], *, now: datetime) -> int:
        sent = 0
        for batch in _batches(dispatches):
            entries = [_entry(n, dispatch, now) for n, dispatch in enumerate(batch)]
            reply = self._client.send_message_batch(QueueUrl=self._url, Entries=entries)
            if refused := reply.get("Failed"):
                raise UnsentError(len(refused))
            sent += len(batch)
        return sent


class SqsFailureQueue:
    def __init__(self, client: SQSClient, url: str) -> None:
        self._client = client
        self._url = url

    def send(self, report: FailureReport) -> None:
        self._client.send_message(QueueUrl=self._url, MessageBody=to_body(report.to_json()))


class SqsNotices:
    def __init__(self, client: SQSClient, url: str) -> None:
        self._client = client
        self._url = url

    def send(self, notice: Notice) -> None:
        self._client.send_message(QueueUrl=self._url, MessageBody=to_body(notice.to_json()))

    def hide(self, handle: str, *, until: datetime, now: datetime) -> None:
        seconds = ceil(min(until - now, LONGEST_HIDDEN).total_seconds())
        self._client.change_message_visibility(
            QueueUrl=self._url, ReceiptHandle=handle, VisibilityTimeout=max(seconds, 0)
        )


class SqsInbox:
    """In a FIFO queue: a sender's messages keep their order, and a repeat is dropped."""

    def __init__(self, client: SQSClient, url: str) -> None:
        self._client = client
        self._url = url

    def put(self, message: Message) -> None:
        self._client.send_message(
            QueueUrl=self._url,
            MessageBody=to_body(message.to_json()),
            MessageGroupId=_digest(message.channel, message.sender_id),
            MessageDeduplicationId=_digest(message.channel, message.key),
        )


def _digest(*names: str) -> str:
    """Whatever people and platforms call things, as a name that SQS takes."""
    return hashlib.sha256("\0".join(names).encode()).hexdigest()


class SqsMailRoom:
    """Knows the queue that each kind of letter died on."""

    def __init__(self, client: SQSClient, urls: Mapping[Queue, str]) -> None:
        self._client = client
        self._urls = urls

    def send_back(self, letter: DeadLetter) -> None:
        url = self._urls[letter.queue]
        if letter.queue is not Queue.CHAT:
            self._client.send_message(QueueUrl=url, MessageBody=letter.body)
            return
        # Each is its own group: it came too late to keep any order.
        self._client.send_message(
            QueueUrl=url,
            MessageBody=letter.body,
            MessageGroupId=letter.id,
            MessageDeduplicationId=letter.id,
        )


def to_body(stored: Mapping[str, Any]) -> str:
    """As UTF-8, but for the characters that SQS does not take: JSON writes control characters as
    escapes by itself, the others are written so here."""
    text = json.dumps(stored, ensure_ascii=False)
    return _REFUSED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def report_from_body(body: str) -> FailureReport:
    """Raises ValueError for a body that no report was written to."""
    try:
        report = FailureReport.from_json(json.loads(body))
    except RecursionError as error:
        raise ValueError("not a failure report") from error
    if not (_can_be_id(report.task_id) and _can_be_id(report.run_id)):
        raise ValueError("not a failure report: these are no ids")
    return report


def notice_from_body(body: str) -> Notice:
    """Raises ValueError for a body that no notice was written to."""
    try:
        return Notice.from_json(json.loads(body))
    except RecursionError as error:
        raise ValueError("not a notice") from error


def message_from_body(body: str) -> Message:
    """Raises ValueError for a body that no message was written to."""
    try:
        return Message.from_json(json.loads(body))
    except (OverflowError, RecursionError) as error:
        raise ValueError("not a message") from error


def dispatch_from_body(body: str) -> Dispatch:
    """Raises ValueError for a body that no dispatch was written to."""
    try:
        stored = json.loads(body)
        if not _can_be_id(stored["task_id"]):
            raise TypeError
        return Dispatch(from_text(stored["due_at"]), stored["task_id"])
    except (KeyError, OverflowError, RecursionError, TypeError, ValueError) as error:
        raise ValueError("not a dispatch: needs task_id and due_at") from error


def _can_be_id(value: Any) -> bool:
    """Ids from before they were UUIDs may be any short text, as long as it can be a key."""
    return isinstance(value, str) and 1 <= len(value) <= LONGEST_ID and value.isprintable()


def _entry(n: int, dispatch: Dispatch, now: datetime) -> SendMessageBatchRequestEntryTypeDef:
    body = {"task_id": dispatch.task_id, "due_at": to_text(dispatch.due_at)}
    delay = delay_seconds(dispatch.due_at, now=now)
    return {"Id": str(n), "MessageBody": to_body(body), "DelaySeconds": delay}


def _batches(dispatches: Iterable[Dispatch]) -> Iterator[list[Dispatch]]:
    rest = iter(dispatches)
    while batch := list(islice(rest, BATCH)):
        yield batch
