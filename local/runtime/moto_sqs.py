"""Patches of moto's queues: what a message costs hardly grows with how many others there are.

moto counts all messages of a queue for each message sent or received, and compares the receipts of
all of them for each message deleted. Other behaviour is unchanged, but for the one difference at
`_change_visibility`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cached_property
from typing import Any
from unittest.mock import patch

from moto.core.utils import unix_time, unix_time_millis
from moto.sqs.exceptions import ReceiptHandleIsInvalid
from moto.sqs.models import Queue, SQSBackend

_read_all_attributes = Queue.attributes.fget


@contextmanager
def install_sqs_patches() -> Iterator[None]:
    with ExitStack() as patches:
        for owner, name, replacement in (
            (Queue, "attributes", property(QueueAttributes)),
            (Queue, "messages", property(_receivable_messages)),
            (Queue, "delete_message", _delete_message),
            (SQSBackend, "is_message_valid_based_on_retention_period", _is_kept),
            (SQSBackend, "change_message_visibility", _change_visibility),
        ):
            patches.enter_context(patch.object(owner, name, replacement))
        yield


class QueueAttributes(Mapping[str, Any]):
    """The attributes of a queue. A send asks for one of them, and only some need a count."""

    def __init__(self, queue: Any) -> None:
        self._queue = queue

    @cached_property
    def _all(self) -> dict[str, Any]:
        found: dict[str, Any] = _read_all_attributes(self._queue)
        return found

    def __getitem__(self, name: str) -> Any:
        if name == "ContentBasedDeduplication" and self._queue.fifo_queue:
            return str(self._queue.content_based_deduplication).lower()
        if name == "ContentBasedDeduplication":
            raise KeyError(name)
        return self._all[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


def _receivable_messages(queue: Any) -> list[Any]:
    now = unix_time_millis()
    return [one for one in queue._messages if one.visible_at < now and one.delayed_until <= now]


def _delete_message(queue: Any, receipt_handle: str) -> None:
    if receipt_handle in queue.deleted_messages:
        return
    message = _find_message(queue, receipt_handle)
    queue.pending_messages.discard(message)
    queue.deleted_messages.update(message.all_receipt_handles)
    queue._messages.remove(message)


def _is_kept(backend: Any, queue_name: str, message: Any) -> bool:
    retention = backend.get_queue(queue_name).message_retention_period
    return bool(message.sent_timestamp / 1000 + retention > unix_time())


def _change_visibility(
    backend: Any, queue_name: str, receipt_handle: str, visibility_timeout: int
) -> None:
    """Replace moto's method, which limits the timeout to twelve hours after sending.

    SQS starts the twelve hours again with each receive.
    """
    message = _find_message(backend.get_queue(queue_name), receipt_handle)
    message.change_visibility(visibility_timeout)


def _find_message(queue: Any, receipt_handle: str) -> Any:
    for message in queue._messages:
        if message.receipt_handle == receipt_handle or (
            receipt_handle in message._old_receipt_handles
        ):
            return message
    raise ReceiptHandleIsInvalid
