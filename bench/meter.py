"""Count what the calls of each function are billed as."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import ceil
from typing import Any

from moto.dynamodb.models import dynamodb_backends
from moto.dynamodb.models.dynamo_type import DynamoType

from bench.dynamodb_units import (
    TRANSACTION_FACTOR,
    Item,
    Table,
    item_size,
    page_units,
    read_units,
    table_from_template,
)
from local.runtime.call_interceptor import Call
from local.runtime.stack import Stack
from local.runtime.template import ACCOUNT, REGION, resources_of_type

POLLER = "poller"
_BILLED_CHUNK = 64 * 1024  # larger messages and events are billed as several
_SINGLE_WRITES = {"PutItem", "UpdateItem", "DeleteItem"}
_POLLING_OPERATIONS = {"ReceiveMessage", "DeleteMessage", "DeleteMessageBatch"}


@dataclass
class Usage:
    """`tables` are the names of the DynamoDB tables that were read or written."""

    write_units: float = 0
    read_units: float = 0
    sqs_requests: int = 0
    bus_events: int = 0
    invocations: int = 0
    calls: Counter[str] = field(default_factory=Counter)
    tables: set[str] = field(default_factory=set)


class Meter:
    """Remembers the last state of each item, to compute what a write changed in the indexes."""

    def __init__(self, template: dict[str, Any]) -> None:
        found = resources_of_type(template, "AWS::DynamoDB::Table")
        self._tables = {name: table_from_template(table) for name, table in found.items()}
        self._known_items = {name: _all_items(name, table) for name, table in self._tables.items()}
        self.usage: defaultdict[str, Usage] = defaultdict(Usage)
        self.unknown_operations: set[str] = set()

    @contextmanager
    def observe(self, stack: Stack) -> Iterator[None]:
        stack.calls.on_aws_call, stack.functions.on_invoke = self.on_call, self.on_invoke
        try:
            yield
        finally:
            stack.calls.on_aws_call = stack.functions.on_invoke = None

    def on_invoke(self, function: str) -> None:
        self.usage[function].invocations += 1

    def on_call(self, call: Call) -> None:
        if call.function is None:
            self._count_polling(call)
            return
        spent = self.usage[call.function]
        spent.calls[f"{call.service}.{call.operation}"] += 1
        if call.service == "sqs":
            spent.sqs_requests += _billed_sqs_requests(call)
        elif call.service == "dynamodb":
            self._count_dynamodb(call, spent)
        elif call.service == "events":
            self._count_published(call, spent)

    def _count_polling(self, call: Call) -> None:
        """Count a poller's request. An empty receive is idle polling, a constant cost per queue."""
        is_empty = call.operation == "ReceiveMessage" and not call.reply.get("Messages")
        if call.service == "sqs" and call.operation in _POLLING_OPERATIONS and not is_empty:
            self.usage[POLLER].sqs_requests += _billed_sqs_requests(call)

    def _count_published(self, call: Call, usage: Usage) -> None:
        if call.operation == "PutEvents":
            usage.bus_events += sum(_billed_bus_events(entry) for entry in call.body["Entries"])
        else:
            self.unknown_operations.add(call.operation)

    def _count_dynamodb(self, call: Call, usage: Usage) -> None:
        usage.tables.update(_table_names(call.body))
        match call.operation:
            case "GetItem":
                usage.read_units += _get_read_units(call.body, call.reply.get("Item", {}))
            case "Query" if "FilterExpression" not in call.body:
                consistent = bool(call.body.get("ConsistentRead"))
                items = call.reply.get("Items", [])
                usage.read_units += page_units(items, is_consistent=consistent)
            case "BatchGetItem":
                usage.read_units += sum(_batch_get_read_units(call))
            case operation if operation in _SINGLE_WRITES:
                usage.write_units += self._write_units(call.body["TableName"], call.body)
            case "BatchWriteItem":
                usage.write_units += sum(
                    self._write_units(*one) for one in _batch_writes(call.body)
                )
            case "TransactWriteItems":
                writes = _transact_writes(call.body)
                usage.write_units += TRANSACTION_FACTOR * sum(
                    self._write_units(*one) for one in writes
                )
            case operation:
                self.unknown_operations.add(operation)

    def _write_units(self, table_name: str, request: dict[str, Any]) -> int:
        """Return the units, by comparing the stored item with its last state.

        A rejected write is therefore recognised.
        """
        table, known = self._tables[table_name], self._known_items[table_name]
        key = table.key_of(request.get("Item") or request["Key"])
        old, new = known.get(str(key)), _load_item(table_name, key)
        if new is None:
            known.pop(str(key), None)
        else:
            known[str(key)] = new
        return table.units(old, new)


def _table_names(body: dict[str, Any]) -> Iterator[str]:
    if "TableName" in body:
        yield body["TableName"]
    yield from body.get("RequestItems", ())
    for part in body.get("TransactItems", ()):
        yield from (request["TableName"] for request in part.values())


def _get_read_units(request: dict[str, Any], item: Item) -> float:
    return read_units(item_size(item), is_consistent=bool(request.get("ConsistentRead")))


def _batch_get_read_units(call: Call) -> Iterator[float]:
    """Yield the units per item, each rounded up. A missing key costs as much as a small item."""
    replies: dict[str, list[Item]] = call.reply.get("Responses", {})
    for table, request in call.body["RequestItems"].items():
        items = replies.get(table, [])
        missing: list[Item] = [{}] * (len(request["Keys"]) - len(items))
        yield from (_get_read_units(request, item) for item in [*items, *missing])


def _batch_writes(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for table, requests in body["RequestItems"].items():
        for request in requests:
            yield table, next(iter(request.values()))


def _transact_writes(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in body["TransactItems"]:
        [request] = part.values()
        yield request["TableName"], request


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
