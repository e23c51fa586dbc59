"""DynamoDB streams as event sources: in order, one batch at a time, with retries."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from moto.dynamodb.models import dynamodb_backends

from local.runtime import aws_clients
from local.runtime.clock import LocalClock
from local.runtime.functions import Functions, InvocationError
from local.runtime.template import ACCOUNT, REGION, Resolver, resources_of_type

_RETRY_AFTER = timedelta(seconds=1)


class StreamSource:
    def __init__(
        self, mapping: dict[str, Any], table: str, functions: Functions, clock: LocalClock
    ) -> None:
        self._mapping = mapping
        self._function = mapping["FunctionName"]["Ref"]
        self._table = table
        self._functions = functions
        self._clock = clock
        self._matches_filter = _build_filter(mapping.get("FilterCriteria"))
        self._position = 0
        self._attempts = 0
        self._is_busy = False
        self._batch_size = mapping["BatchSize"]
        self._retry_at: datetime | None = None

    def take_due(self, now: datetime) -> Sequence[Callable[[], None]]:
        next_at = self.next_at(now)
        if next_at is None or next_at > now:
            return ()
        self._is_busy = True
        return (self._invoke,)

    def next_at(self, now: datetime, _until: datetime | None = None) -> datetime | None:
        if self._is_busy or self._position >= len(self._stream_records()):
            return None
        return max(self._retry_at or now, now)

    def _invoke(self) -> None:
        items = self._stream_records()[self._position : self._position + self._batch_size]
        batch = [_to_lambda_record(item.to_json()) for item in items]
        matching = [record for record in batch if self._matches_filter(record)]
        if not matching:
            self._is_busy = False
            self._advance(len(batch))
            return
        try:
            reply = self._functions.invoke(self._function, {"Records": matching}) or {}
            failed = {item["itemIdentifier"] for item in reply.get("batchItemFailures", ())}
        except InvocationError:
            failed = {_sequence_number(matching[0])}
            # Lambda bisects a batch whose invocation failed, to isolate the record that causes it.
            self._batch_size = max(1, len(batch) // 2)
        finally:
            self._is_busy = False
        done = next(
            (n for n, record in enumerate(batch) if _sequence_number(record) in failed), None
        )
        if done is None:
            self._advance(len(batch))
        else:
            self._handle_partial_failure(batch, done)

    def _advance(self, count: int) -> None:
        self._position += count
        self._attempts = 0
        self._batch_size = self._mapping["BatchSize"]
        self._retry_at = None

    def _handle_partial_failure(self, batch: list[dict[str, Any]], done_count: int) -> None:
        self._position += done_count
        self._attempts = self._attempts + 1 if done_count == 0 else 1
        self._retry_at = self._clock.now() + _RETRY_AFTER
        if self._attempts > self._mapping["MaximumRetryAttempts"]:
            self._discard_record(batch[done_count])

    def _discard_record(self, record: dict[str, Any]) -> None:
        """Give up on a record. Without a configured destination it is dropped, as Lambda does."""
        if "DestinationConfig" in self._mapping:
            self._send_to_dead_letter_queue(record)
        self._advance(1)

    def _send_to_dead_letter_queue(self, record: dict[str, Any]) -> None:
        arn = self._mapping["DestinationConfig"]["OnFailure"]["Destination"]
        client = aws_clients.client("sqs")
        url = client.get_queue_url(QueueName=arn.rpartition(":")[2])["QueueUrl"]
        body = {"requestContext": {"condition": "RetryAttemptsExhausted"}, "record": record}
        client.send_message(QueueUrl=url, MessageBody=json.dumps(body))

    def _stream_records(self) -> list[Any]:
        shard = dynamodb_backends[ACCOUNT][REGION].tables[self._table].stream_shard
        found: list[Any] = shard.items
        return found


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


def _to_lambda_record(record: dict[str, Any]) -> dict[str, Any]:
    """Convert moto's record to Lambda's, with the time of the write in seconds."""
    change = record["dynamodb"]
    written_at = change["ApproximateCreationDateTime"].replace(tzinfo=UTC).timestamp()
    return {**record, "dynamodb": {**change, "ApproximateCreationDateTime": written_at}}


def _sequence_number(record: dict[str, Any]) -> str:
    return str(record["dynamodb"]["SequenceNumber"])


def make_stream_sources(
    template: dict[str, Any], functions: Functions, resolver: Resolver, clock: LocalClock
) -> list[StreamSource]:
    found = []
    for mapping in resources_of_type(template, "AWS::Lambda::EventSourceMapping").values():
        resolved = resolver.resolve({**mapping, "FunctionName": None})
        arn = resolved["EventSourceArn"]
        if ":dynamodb:" in arn:
            table = arn.split("/")[1]
            mapping = {**resolved, "FunctionName": mapping["FunctionName"]}
            found.append(StreamSource(mapping, table, functions, clock))
    return found
