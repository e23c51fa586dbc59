"""DynamoDB streams as event sources: in order, one batch at a time, retried, then given up."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from moto.dynamodb.models import dynamodb_backends

from local.runtime import aws_clients
from local.runtime.clock import LocalClock
from local.runtime.functions import Functions, InvocationError
from local.runtime.template import ACCOUNT, REGION, Resolver, of_type

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
        self._wants = _wanted(mapping.get("FilterCriteria"))
        self._position = 0
        self._tries = 0
        self._is_busy = False
        self._batch_size = mapping["BatchSize"]
        self._not_before: datetime | None = None

    def due(self, now: datetime) -> Sequence[Callable[[], None]]:
        next_at = self.next_at(now)
        if next_at is None or next_at > now:
            return ()
        self._is_busy = True
        return (self._invoke,)

    def next_at(self, now: datetime) -> datetime | None:
        if self._is_busy or self._position >= len(self._items()):
            return None
        return max(self._not_before or now, now)

    def _invoke(self) -> None:
        items = self._items()[self._position : self._position + self._batch_size]
        batch = [_rendered(item.to_json()) for item in items]
        wanted = [record for record in batch if self._wants(record)]
        if not wanted:
            self._is_busy = False
            self._move_on(len(batch))
            return
        try:
            reply = self._functions.invoke(self._function, {"Records": wanted}) or {}
            failed = {item["itemIdentifier"] for item in reply.get("batchItemFailures", ())}
        except InvocationError:
            failed = {_sequence(wanted[0])}
            # As Lambda bisects a batch whose invocation failed, to find the record that does it.
            self._batch_size = max(1, len(batch) // 2)
        finally:
            self._is_busy = False
        done = next((n for n, record in enumerate(batch) if _sequence(record) in failed), None)
        if done is None:
            self._move_on(len(batch))
        else:
            self._fell_short(batch, done)

    def _move_on(self, count: int) -> None:
        self._position += count
        self._tries = 0
        self._batch_size = self._mapping["BatchSize"]
        self._not_before = None

    def _fell_short(self, batch: list[dict[str, Any]], done: int) -> None:
        self._position += done
        self._tries = self._tries + 1 if done == 0 else 1
        self._not_before = self._clock.now() + _RETRY_AFTER
        if self._tries > self._mapping["MaximumRetryAttempts"]:
            self._give_up(batch[done])

    def _give_up(self, record: dict[str, Any]) -> None:
        """Where nothing is said of what becomes of it, it is dropped, as Lambda does."""
        if "DestinationConfig" in self._mapping:
            self._keep(record)
        self._move_on(1)

    def _keep(self, record: dict[str, Any]) -> None:
        arn = self._mapping["DestinationConfig"]["OnFailure"]["Destination"]
        client = aws_clients.client("sqs")
        url = client.get_queue_url(QueueName=arn.rpartition(":")[2])["QueueUrl"]
        body = {"requestContext": {"condition": "RetryAttemptsExhausted"}, "record": record}
        client.send_message(QueueUrl=url, MessageBody=json.dumps(body))

    def _items(self) -> list[Any]:
        shard = dynamodb_backends[ACCOUNT][REGION].tables[self._table].stream_shard
        found: list[Any] = shard.items
        return found


def _wanted(criteria: dict[str, Any] | None) -> Callable[[dict[str, Any]], bool]:
    """A record wakes the function if it fits one of the patterns, or if there are none."""
    if criteria is None:
        return lambda _: True
    patterns = [json.loads(one["Pattern"]) for one in criteria["Filters"]]
    return lambda record: any(_fits(record, pattern) for pattern in patterns)


def _fits(value: Any, pattern: Any) -> bool:
    """As EventBridge matches: of a list, one must fit; texts by themselves or by their prefix."""
    if isinstance(pattern, dict):
        return isinstance(value, dict) and all(
            _fits(value.get(name), wanted) for name, wanted in pattern.items()
        )
    return any(
        str(value).startswith(one["prefix"]) if isinstance(one, dict) else value == one
        for one in pattern
    )


def _rendered(record: dict[str, Any]) -> dict[str, Any]:
    """moto's record as Lambda delivers it: the time of the write in seconds."""
    change = record["dynamodb"]
    written_at = change["ApproximateCreationDateTime"].replace(tzinfo=UTC).timestamp()
    return {**record, "dynamodb": {**change, "ApproximateCreationDateTime": written_at}}


def _sequence(record: dict[str, Any]) -> str:
    return str(record["dynamodb"]["SequenceNumber"])


def stream_sources(
    template: dict[str, Any], functions: Functions, resolver: Resolver, clock: LocalClock
) -> list[StreamSource]:
    found = []
    for mapping in of_type(template, "AWS::Lambda::EventSourceMapping").values():
        resolved = resolver.resolve({**mapping, "FunctionName": None})
        arn = resolved["EventSourceArn"]
        if ":dynamodb:" in arn:
            table = arn.split("/")[1]
            mapping = {**resolved, "FunctionName": mapping["FunctionName"]}
            found.append(StreamSource(mapping, table, functions, clock))
    return found
