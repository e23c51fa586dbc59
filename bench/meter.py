"""Count what the calls of each function are billed as."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType

from bench.dynamodb_requests import (
    READS,
    WRITES,
    is_filtered,
    read_parts,
    table_names,
    write_requests,
)
from bench.dynamodb_units import Item, Table, table_from_template
from bench.item_kinds import item_kind
from bench.log_meter import LogMeter
from bench.partitions import Partition, Place
from local.runtime.call_interceptor import Call, current_function
from local.runtime.stack import Stack
from local.runtime.template import ACCOUNT, REGION, resources_of_type

POLLER = "poller"
_BILLED_CHUNK = 64 * 1024  # larger messages and events are billed as several
_POLLING_OPERATIONS = {"ReceiveMessage", "DeleteMessage", "DeleteMessageBatch"}


@dataclass
class Usage:
    """What one function used.

    `tables` are the names of the DynamoDB tables that were read or written. `written` and `read`
    divide the units by the kind of item, or by index; `written_to` and `read_from` by partition.
    """

    write_units: float = 0
    read_units: float = 0
    sqs_requests: int = 0
    bus_events: int = 0
    secret_reads: int = 0
    invocations: int = 0
    slept_seconds: float = 0
    log_bytes: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    tables: set[str] = field(default_factory=set)
    written: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    read: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    written_to: defaultdict[Partition, float] = field(default_factory=lambda: defaultdict(float))
    read_from: defaultdict[Partition, float] = field(default_factory=lambda: defaultdict(float))

    def add_read(self, partition: Partition, units: float) -> None:
        self.read_units += units
        self.read[partition.place.label] += units
        self.read_from[partition] += units

    def add_write(self, partition: Partition, units: int) -> None:
        self.write_units += units
        self.written[partition.place.label] += units
        self.written_to[partition] += units


class NotUnderstoodError(RuntimeError):
    """The functions made requests that the meter cannot price."""

    def __init__(self, operations: Iterable[str]) -> None:
        super().__init__(f"bench/meter.py does not count {', '.join(sorted(operations))}")


class FailedInvocationError(RuntimeError):
    """An invocation failed, so what was measured includes its repetition."""

    def __init__(self, errors: Iterable[str]) -> None:
        super().__init__("\n".join(sorted(errors)))


class Meter:
    """Remembers the last state of each item, to compute what a write changed in the indexes."""

    def __init__(self, template: dict[str, Any]) -> None:
        found = resources_of_type(template, "AWS::DynamoDB::Table")
        self._tables = {name: table_from_template(table) for name, table in found.items()}
        self._known_items = {name: _all_items(name, table) for name, table in self._tables.items()}
        self._logs = LogMeter()
        self.usage: defaultdict[str, Usage] = defaultdict(Usage)
        self.unknown_operations: set[str] = set()
        self.errors: set[str] = set()

    @property
    def metrics(self) -> set[tuple[str, str]]:
        """Return the CloudWatch metrics that the functions wrote: function and name."""
        return self._logs.metrics

    @contextmanager
    def observe(self, stack: Stack) -> Iterator[None]:
        stack.calls.on_aws_call, stack.functions.on_invoke = self.on_call, self.on_invoke
        stack.functions.on_error = self.on_error
        try:
            with self._logs.observe(stack), self._count_sleep():
                yield
        finally:
            stack.calls.on_aws_call = stack.functions.on_invoke = stack.functions.on_error = None
            for function, size in self._logs.bytes.items():
                self.usage[function].log_bytes = size

    def check_complete(self) -> None:
        """Raise FailedInvocationError or NotUnderstoodError if the figures are not to be used."""
        if self.errors:
            raise FailedInvocationError(self.errors)
        if self.unknown_operations:
            raise NotUnderstoodError(self.unknown_operations)

    def on_invoke(self, function: str) -> None:
        self.usage[function].invocations += 1

    def on_error(self, function: str, error: Exception) -> None:
        self.errors.add(f"{function}: {type(error).__name__}: {error}")

    def on_call(self, call: Call) -> None:
        if call.function is None:
            self._count_polling(call)
            return
        spent = self.usage[call.function]
        spent.calls[f"{call.service}.{call.operation}"] += 1
        match call.service, call.operation:
            case "sqs", _:
                spent.sqs_requests += _billed_sqs_requests(call)
            case "dynamodb", _:
                self._count_dynamodb(call, spent)
            case "events", "PutEvents":
                spent.bus_events += sum(map(_billed_bus_events, call.body["Entries"]))
            case "events", "ListRules":
                pass  # EventBridge bills no management requests
            case "secretsmanager", "GetSecretValue":
                spent.secret_reads += 1
            case _, operation:
                self.unknown_operations.add(operation)

    @contextmanager
    def _count_sleep(self) -> Iterator[None]:
        """Count the seconds that functions sleep on the local clock: Lambda bills them."""
        sleep = time.sleep

        def sleep_and_count(seconds: float) -> None:
            if function := current_function():
                self.usage[function].slept_seconds += float(seconds)
            sleep(seconds)

        time.sleep = sleep_and_count  # type: ignore[assignment]  # the local clock replaced it too
        try:
            yield
        finally:
            time.sleep = sleep

    def _count_polling(self, call: Call) -> None:
        """Count a poller's request. An empty receive is idle polling, a constant cost per queue."""
        is_empty = call.operation == "ReceiveMessage" and not call.reply.get("Messages")
        if call.service == "sqs" and call.operation in _POLLING_OPERATIONS and not is_empty:
            self.usage[POLLER].sqs_requests += _billed_sqs_requests(call)

    def _count_dynamodb(self, call: Call, usage: Usage) -> None:
        usage.tables.update(table_names(call.body))
        if call.operation in READS and not is_filtered(call.body):
            for table, index, items, units in read_parts(call):
                usage.add_read(self._partition_of(table, index, items), units)
        elif call.operation in WRITES:
            for table, request in write_requests(call):
                self._count_write(call.operation, table, request, usage)
        else:
            self.unknown_operations.add(call.operation)

    def _count_write(
        self, operation: str, table_name: str, request: dict[str, Any], usage: Usage
    ) -> None:
        """Count one write, by comparing the stored item with its last state.

        A rejected write is therefore recognised.
        """
        table, known = self._tables[table_name], self._known_items[table_name]
        key = table.key_of(request.get("Item") or request["Key"])
        old, new = known.get(str(key)), _load_item(table_name, key)
        if new is None:
            known.pop(str(key), None)
        else:
            known[str(key)] = new
        indexes = table.index_units(old, new)
        is_transaction = operation == "TransactWriteItems"
        total = table.units(old, new, is_transaction=is_transaction)
        kind = item_kind(table_name, key)
        written = Partition(Place(table_name, "", kind), _text_of(key[table.key[0]]))
        usage.add_write(written, total - sum(indexes.values()))
        for name, units in indexes.items():
            index = table.index_named(name)
            entry = index.entry(new) or index.entry(old) or {}
            place = Place(table_name, name, kind)
            usage.add_write(Partition(place, _text_of(entry[index.key[0]])), units)

    def _partition_of(self, table_name: str, index: str, items: Sequence[Item]) -> Partition:
        """Return the partition of the items that were read; of none, the kind is the table."""
        table = self._tables[table_name]
        found = [item for item in items if all(part in item for part in table.key)]
        if not found:
            return Partition(Place(table_name, index, table_name), "")
        hash_key = (table.index_named(index) if index else table).key[0]
        kind = item_kind(table_name, table.key_of(found[0]))
        return Partition(Place(table_name, index, kind), _text_of(found[0][hash_key]))


def _text_of(value: Mapping[str, Any]) -> str:
    return str(next(iter(value.values())))


def _billed_sqs_requests(call: Call) -> int:
    return _chunk_count(call.size)


def _billed_bus_events(entry: dict[str, Any]) -> int:
    return _chunk_count(len(entry["Detail"].encode()))


def _chunk_count(size: int) -> int:
    return max(1, ceil(size / _BILLED_CHUNK))


def _load_item(table: str, key: dict[str, Any]) -> Item | None:
    """Read the item directly from moto, without counting the read."""
    parts = [DynamoType(value) for value in key.values()]
    return _to_attributes(dynamodb_backends[ACCOUNT][REGION].tables[table].get_item(*parts))


def _all_items(name: str, table: Table) -> dict[str, Item]:
    stored = dynamodb_backends[ACCOUNT][REGION].tables[name].all_items()
    items = [item for found in stored if (item := _to_attributes(found)) is not None]
    return {str(table.key_of(item)): item for item in items}


def _to_attributes(item: Any) -> Item | None:
    return None if item is None else item.to_json()["Attributes"]
