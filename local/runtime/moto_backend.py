"""moto as the AWS emulation, read where its API does not tell what the runtime needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, overload

from botocore.awsrequest import AWSPreparedRequest
from botocore.compat import HTTPHeaders
from duecourse.adapters.aws.dynamodb.stream_reader import to_lambda_record
from moto import mock_aws
from moto.core.models import DEFAULT_ACCOUNT_ID, botocore_stubber
from moto.core.utils import unix_time_millis
from moto.dynamodb.models import dynamodb_backends
from moto.events.models import events_backends
from moto.secretsmanager.models import secretsmanager_backends
from moto.sqs.models import sqs_backends

from local.runtime.clock import LocalClock
from local.runtime.moto_calls import call_dynamodb, install_direct_calls
from local.runtime.moto_dynamodb import install_dynamodb_patches
from local.runtime.moto_sqs import install_sqs_patches
from local.runtime.moto_transactions import patch_transaction_rollback
from local.runtime.template import ACCOUNT, REGION

_STREAMS_TARGET = "DynamoDBStreams_"
_SENT_HEADERS = ("content-type", "x-amzn-requestid", "x-amzn-errortype", "x-amz-crc32")
_BACKENDS = (dynamodb_backends, sqs_backends, secretsmanager_backends, events_backends)


class MotoBackend:
    @contextmanager
    def install(self, clock: LocalClock) -> Iterator[None]:  # noqa: ARG002 - moto asks the process
        assert ACCOUNT == DEFAULT_ACCOUNT_ID  # noqa: S101 - ARNs are made of it
        with (
            mock_aws(),
            patch_transaction_rollback(),
            install_dynamodb_patches(),
            install_sqs_patches(),
            install_direct_calls(),
        ):
            yield

    def reset(self) -> None:
        for backends in _BACKENDS:
            backends[ACCOUNT][REGION].reset()

    def next_message_at(self, queue: str) -> datetime | None:
        groups = _message_groups(queue)
        available_at = min((max(map(_visible_at, group)) for group in groups), default=None)
        return None if available_at is None else _from_milliseconds(available_at)

    def release_visible(self, queue: str) -> None:
        """Mark all visible messages as receivable before the receive.

        moto does that one by one during the receive. Of two messages in a FIFO group it would then
        skip the first and return the second.
        """
        pending = _get_queue(queue).pending_messages
        now = unix_time_millis()
        pending.difference_update([one for one in pending if one.visible_at < now])

    def stream_records(self, table: str) -> Sequence[dict[str, Any]]:
        return LambdaRecords(dynamodb_backends[ACCOUNT][REGION].tables[table].stream_shard.items)

    def stream_shard_id(self, table: str) -> str:
        return str(dynamodb_backends[ACCOUNT][REGION].tables[table].stream_shard.id)

    def read(self, operation: str, request: dict[str, Any]) -> dict[str, Any]:
        return call_dynamodb(operation, request)

    def answer(
        self, service: str, method: str, target: str, headers: Mapping[str, str], body: bytes
    ) -> tuple[int, dict[str, str], bytes]:
        """Return status, headers and body of the response to a call over HTTP.

        It is answered for the stack's region and account, whatever the caller's are.
        """
        is_stream = headers.get("x-amz-target", "").startswith(_STREAMS_TARGET)
        host = f"{'streams.' if is_stream else ''}{service}.{REGION}.amazonaws.com"
        signature = f"AWS4-HMAC-SHA256 Credential=local/20260101/{REGION}/{service}/aws4_request"
        own = {"host": host, "authorization": signature}
        request: Any = AWSPreparedRequest(
            method, f"https://{host}{target}", _to_headers({**headers, **own}), body, False
        )
        status, found, content = botocore_stubber.process_request(request)
        sent = {name: str(value) for name, value in found.items() if name.lower() in _SENT_HEADERS}
        return status, sent, content.encode() if isinstance(content, str) else content


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


def _to_headers(values: Mapping[str, str]) -> HTTPHeaders:
    headers = HTTPHeaders()
    for name, value in values.items():
        headers[name] = value
    return headers


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


def _visible_at(message: Any) -> int:
    """Return when the message can be received, in milliseconds.

    moto shows a message only after the millisecond in which it becomes visible.
    """
    return max(int(message.visible_at) + 1, int(message.delayed_until))


def _from_milliseconds(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, tz=UTC)
