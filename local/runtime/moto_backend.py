"""moto as the AWS emulation, read where its API does not tell what the runtime needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any, overload

from duecourse.adapters.aws.dynamodb.stream_reader import to_lambda_record
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.responses import DynamoHandler
from moto.events.models import events_backends
from moto.secretsmanager.models import secretsmanager_backends
from moto.sqs.exceptions import ReceiptHandleIsInvalid
from moto.sqs.models import SQSBackend, sqs_backends

from local.runtime import moto_patches
from local.runtime.clock import LocalClock
from local.runtime.template import ACCOUNT, REGION

# moto shows a message only after the millisecond in which it becomes visible.
_ONE_MILLISECOND = timedelta(milliseconds=1)
_BACKENDS = (dynamodb_backends, sqs_backends, secretsmanager_backends, events_backends)
_READS: dict[str, Callable[[DynamoHandler], Any]] = {
    "GetItem": DynamoHandler.get_item,
    "BatchGetItem": DynamoHandler.batch_get_item,
    "Query": DynamoHandler.query,
}


class MotoBackend:
    @contextmanager
    def install(self, clock: LocalClock) -> Iterator[None]:  # noqa: ARG002 - moto asks the process
        assert ACCOUNT == DEFAULT_ACCOUNT_ID  # noqa: S101 - ARNs are made of it
        SQSBackend.change_message_visibility = _change_visibility
        with mock_aws(), moto_patches.install_patches():
            yield

    def reset(self) -> None:
        for backends in _BACKENDS:
            backends[ACCOUNT][REGION].reset()

    def next_message_at(self, queue: str) -> datetime | None:
        return min((max(map(_visible_at, group)) for group in _message_groups(queue)), default=None)

    def release_visible(self, queue: str) -> None:
        """Mark all visible messages as receivable before the receive.

        moto does that one by one during the receive. Of two messages in a FIFO group it would then
        skip the first and return the second.
        """
        found = _get_queue(queue)
        found.pending_messages.difference_update([one for one in found._messages if one.visible])

    def stream_records(self, table: str) -> Sequence[dict[str, Any]]:
        return LambdaRecords(dynamodb_backends[ACCOUNT][REGION].tables[table].stream_shard.items)

    def stream_shard_id(self, table: str) -> str:
        return str(dynamodb_backends[ACCOUNT][REGION].tables[table].stream_shard.id)

    def read(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        """Call moto's handler: a read through botocore takes ten times as long."""
        handler = DynamoHandler()
        handler.body, handler.region, handler.current_account = request, REGION, ACCOUNT
        response: dict[str, Any] = _READS[operation](handler).result
        return response


class LambdaRecords(Sequence[dict[str, Any]]):
    """moto's stream records as Lambda hands them to functions, converted when they are read."""

    def __init__(self, items: list[Any]) -> None:
        self._items = items

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, index: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, index: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(index, slice):
            return [to_lambda_record(item.to_json()) for item in self._items[index]]
        return to_lambda_record(self._items[index].to_json())


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


def _visible_at(message: Any) -> datetime:
    hidden_until = _from_milliseconds(message.visible_at) + _ONE_MILLISECOND
    return max(hidden_until, _from_milliseconds(message.delayed_until))


def _from_milliseconds(milliseconds: float) -> datetime:
    return datetime.fromtimestamp(int(milliseconds) / 1000, tz=UTC)
