"""DynamoDB streams as event sources: in order, one batch at a time, with retries."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from local.runtime import aws_clients
from local.runtime.aws_backend import AwsBackend
from local.runtime.clock import LocalClock
from local.runtime.functions import Functions, InvocationError, ThrottledInvocationError
from local.runtime.template import Resolver, function_id, resources_of_type

_RETRY_AFTER = timedelta(seconds=1)
_MAX_RETRY_AFTER = timedelta(minutes=1)


class StreamSource:
    """`waits_for_batches`: whether records wait for others, as they do under load on AWS.

    On the laptop they are processed at once, so that pages and tests need not wait.
    """

    def __init__(
        self,
        mapping: dict[str, Any],
        table: str,
        functions: Functions,
        clock: LocalClock,
        backend: AwsBackend,
        *,
        waits_for_batches: bool = False,
    ) -> None:
        self._mapping = mapping
        self._waits_for_batches = waits_for_batches
        self.function = function_id(mapping["FunctionName"])
        self.table = table
        self.functions = functions
        self._clock = clock
        self._backend = backend
        self._matches_filter = _build_filter(mapping.get("FilterCriteria"))
        self._position = 0
        self._attempts = 0
        self._is_busy = False
        self.batch_size = mapping["BatchSize"]
        self._window = timedelta(seconds=mapping.get("MaximumBatchingWindowInSeconds") or 1)
        self._window_ends_at: datetime | None = None
        self._retry_at: datetime | None = None

    def take_due(self, now: datetime) -> Sequence[Callable[[], None]]:
        next_at = self.next_at(now)
        if next_at is None or next_at > now:
            return ()
        self._is_busy = True
        return (self._invoke,)

    def next_at(self, now: datetime, _until: datetime | None = None) -> datetime | None:
        record_count = len(self._stream_records()) - self._position
        if self._is_busy or record_count <= 0:
            return None
        if self._waits_for_batches and record_count < self.batch_size:
            self._window_ends_at = self._window_ends_at or now + self._window
            return max(self._retry_at or now, self._window_ends_at)
        return max(self._retry_at or now, now)

    def _invoke(self) -> None:
        self._window_ends_at = None
        batch = list(self._stream_records()[self._position : self._position + self.batch_size])
        matching = [record for record in batch if self._matches_filter(record)]
        if not matching:
            self._is_busy = False
            self.advance(len(batch))
            return
        try:
            reply = self.functions.invoke(self.function, self._to_event(matching)) or {}
            failed = {item["itemIdentifier"] for item in reply.get("batchItemFailures", ())}
        except ThrottledInvocationError:
            self.wait(_RETRY_AFTER.total_seconds())  # Lambda counts no attempt
            return
        except InvocationError:
            failed = {_sequence_number(matching[0])}
            if self._mapping.get("BisectBatchOnFunctionError"):
                # Lambda bisects a batch whose invocation failed, to isolate the cause.
                self.batch_size = max(1, len(batch) // 2)
        finally:
            self._is_busy = False
        done = next(
            (n for n, record in enumerate(batch) if _sequence_number(record) in failed), None
        )
        if done is None:
            self.advance(len(batch))
        else:
            self._handle_partial_failure(batch, done)

    def advance(self, count: int) -> None:
        """Go on after `count` records."""
        self._position += count
        self._attempts = 0
        self.batch_size = self._mapping["BatchSize"]
        self._retry_at = None

    def wait(self, seconds: float) -> None:
        """Deliver nothing for some seconds."""
        self._retry_at = self._clock.now() + timedelta(seconds=seconds)

    def _handle_partial_failure(self, batch: list[dict[str, Any]], done_count: int) -> None:
        self._position += done_count
        self._attempts = self._attempts + 1 if done_count == 0 else 1
        self._retry_at = self._clock.now() + min(
            _RETRY_AFTER * 2 ** min(self._attempts - 1, 10), _MAX_RETRY_AFTER
        )
        expired = [record for record in batch[done_count:] if self._is_too_old(record)]
        if expired:
            self._discard(expired, "RecordAgeExceeded")
        elif self._attempts > self._mapping.get("MaximumRetryAttempts", math.inf):
            self._discard(batch[done_count : done_count + 1], "RetryAttemptsExhausted")

    def _is_too_old(self, record: dict[str, Any]) -> bool:
        max_age = self._mapping.get("MaximumRecordAgeInSeconds", -1)
        age = self._clock.now().timestamp() - record["dynamodb"]["ApproximateCreationDateTime"]
        return bool(0 <= max_age < age)

    def _discard(self, records: list[dict[str, Any]], condition: str) -> None:
        """Give up on records. Without a configured destination they are dropped, as Lambda does."""
        if "DestinationConfig" in self._mapping:
            self._send_to_dead_letter_queue(records, condition)
        self.advance(len(records))

    def _send_to_dead_letter_queue(self, records: list[dict[str, Any]], condition: str) -> None:
        """Send what Lambda sends: the position of the records in the stream, not the records."""
        arn = self._mapping["DestinationConfig"]["OnFailure"]["Destination"]
        client = aws_clients.client("sqs")
        url = client.get_queue_url(QueueName=arn.rpartition(":")[2])["QueueUrl"]
        first, last = records[0], records[-1]
        info = {
            "shardId": self._shard_id,
            "startSequenceNumber": _sequence_number(first),
            "endSequenceNumber": _sequence_number(last),
            "approximateArrivalOfFirstRecord": _arrival(first),
            "approximateArrivalOfLastRecord": _arrival(last),
            "batchSize": len(records),
            "streamArn": self._mapping["EventSourceArn"],
        }
        body = {"requestContext": {"condition": condition}, "DDBStreamBatchInfo": info}
        client.send_message(QueueUrl=url, MessageBody=json.dumps(body))

    @property
    def _shard_id(self) -> str:
        return self._backend.stream_shard_id(self.table)

    def _to_event(self, records: list[dict[str, Any]]) -> dict[str, Any]:
        seconds = self._mapping.get("TumblingWindowInSeconds", 0)
        if not seconds:
            return {"Records": records}
        start = int(self._clock.now().timestamp()) // seconds * seconds
        window = {"start": _to_iso(start), "end": _to_iso(start + seconds)}
        return {
            "Records": records,
            "window": window,
            "state": {},
            "shardId": self._shard_id,
            "eventSourceARN": self._mapping["EventSourceArn"],
            "isFinalInvokeForWindow": False,
            "isWindowTerminatedEarly": False,
        }

    def _stream_records(self) -> Sequence[dict[str, Any]]:
        return self._backend.stream_records(self.table)


def _build_filter(criteria: dict[str, Any] | None) -> Callable[[dict[str, Any]], bool]:
    """Return a predicate: the record matches one of the patterns, or there are no patterns."""
    if criteria is None:
        return lambda _: True
    patterns = [json.loads(one["Pattern"]) for one in criteria["Filters"]]
    return lambda record: any(_is_match(record, pattern) for pattern in patterns)


def _is_match(value: Any, pattern: Any) -> bool:
    """Match like EventBridge: one element of a list has to match, by value or by prefix."""
    if isinstance(pattern, dict):
        return isinstance(value, dict) and all(
            _is_match(value.get(name), inner) for name, inner in pattern.items()
        )
    return any(
        str(value).startswith(one["prefix"]) if isinstance(one, dict) else value == one
        for one in pattern
    )


def _sequence_number(record: dict[str, Any]) -> str:
    return str(record["dynamodb"]["SequenceNumber"])


def _arrival(record: dict[str, Any]) -> str:
    return _to_iso(record["dynamodb"]["ApproximateCreationDateTime"])


def _to_iso(timestamp: float) -> str:
    return datetime.fromtimestamp(timestamp, tz=UTC).isoformat().replace("+00:00", "Z")


def make_stream_sources(
    template: dict[str, Any],
    functions: Functions,
    resolver: Resolver,
    clock: LocalClock,
    backend: AwsBackend,
    *,
    waits_for_batches: bool,
) -> list[StreamSource]:
    found = []
    for mapping in resources_of_type(template, "AWS::Lambda::EventSourceMapping").values():
        resolved = resolver.resolve({**mapping, "FunctionName": None})
        arn = resolved["EventSourceArn"]
        if ":dynamodb:" in arn:
            table = arn.split("/")[1]
            mapping = {**resolved, "FunctionName": mapping["FunctionName"]}
            source = StreamSource(
                mapping, table, functions, clock, backend, waits_for_batches=waits_for_batches
            )
            found.append(source)
    return found
