"""Turns calls into what they are billed as, by the function that made them."""

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
    TRANSACTION,
    Item,
    Table,
    item_size,
    page_units,
    read_units,
    table_from_template,
)
from local.runtime.call_interceptor import Call
from local.runtime.stack import Stack
from local.runtime.template import ACCOUNT, REGION, of_type

POLLER = "poller"
_CHUNK = 64 * 1024  # a larger message or event is billed as several
_SINGLE_WRITES = {"PutItem", "UpdateItem", "DeleteItem"}
_POLLING = {"ReceiveMessage", "DeleteMessage", "DeleteMessageBatch"}


@dataclass
class Spent:
    write_units: float = 0
    read_units: float = 0
    sqs_requests: int = 0
    bus_events: int = 0
    invocations: int = 0
    calls: Counter[str] = field(default_factory=Counter)


class Meter:
    """Keeps each item as it last was, to know what a write changed in the indexes."""

    def __init__(self, template: dict[str, Any]) -> None:
        found = of_type(template, "AWS::DynamoDB::Table")
        self._tables = {name: table_from_template(table) for name, table in found.items()}
        self._before = {name: _all_items(name, table) for name, table in self._tables.items()}
        self.spent: defaultdict[str, Spent] = defaultdict(Spent)
        self.not_understood: set[str] = set()

    @contextmanager
    def watching(self, stack: Stack) -> Iterator[None]:
        stack.calls.watch, stack.functions.watch = self.called, self.invoked
        try:
            yield
        finally:
            stack.calls.watch = stack.functions.watch = None

    def invoked(self, function: str) -> None:
        self.spent[function].invocations += 1

    def called(self, call: Call) -> None:
        if call.function is None:
            self._polled(call)
            return
        spent = self.spent[call.function]
        spent.calls[f"{call.service}.{call.operation}"] += 1
        if call.service == "sqs":
            spent.sqs_requests += _sqs_requests(call)
        elif call.service == "dynamodb":
            self._counted(call, spent)
        elif call.service == "events":
            self._published(call, spent)

    def _polled(self, call: Call) -> None:
        """An empty receive is idle polling: a constant of the queue, not of its messages."""
        is_empty = call.operation == "ReceiveMessage" and not call.reply.get("Messages")
        if call.service == "sqs" and call.operation in _POLLING and not is_empty:
            self.spent[POLLER].sqs_requests += _sqs_requests(call)

    def _published(self, call: Call, spent: Spent) -> None:
        if call.operation == "PutEvents":
            spent.bus_events += sum(_bus_events(entry) for entry in call.body["Entries"])
        else:
            self.not_understood.add(call.operation)

    def _counted(self, call: Call, spent: Spent) -> None:
        match call.operation:
            case "GetItem":
                spent.read_units += _get_units(call.body, call.reply.get("Item", {}))
            case "Query" if "FilterExpression" not in call.body:
                consistent = bool(call.body.get("ConsistentRead"))
                items = call.reply.get("Items", [])
                spent.read_units += page_units(items, consistent=consistent)
            case "BatchGetItem":
                spent.read_units += sum(_batch_get_units(call))
            case operation if operation in _SINGLE_WRITES:
                spent.write_units += self._write(call.body["TableName"], call.body)
            case "BatchWriteItem":
                spent.write_units += sum(self._write(*one) for one in _batch_writes(call.body))
            case "TransactWriteItems":
                writes = _transact_writes(call.body)
                spent.write_units += TRANSACTION * sum(self._write(*one) for one in writes)
            case operation:
                self.not_understood.add(operation)

    def _write(self, table_name: str, request: dict[str, Any]) -> int:
        """What is stored now, against what was before: so a refused write is seen as one."""
        table, kept = self._tables[table_name], self._before[table_name]
        key = table.key_of(request.get("Item") or request["Key"])
        old, new = kept.get(str(key)), _stored(table_name, key)
        if new is None:
            kept.pop(str(key), None)
        else:
            kept[str(key)] = new
        return table.units(old, new)


def _get_units(request: dict[str, Any], item: Item) -> float:
    return read_units(item_size(item), consistent=bool(request.get("ConsistentRead")))


def _batch_get_units(call: Call) -> Iterator[float]:
    """Each item is rounded up by itself; keys that led to nothing cost a small one."""
    replies: dict[str, list[Item]] = call.reply.get("Responses", {})
    for table, request in call.body["RequestItems"].items():
        items = replies.get(table, [])
        missing: list[Item] = [{}] * (len(request["Keys"]) - len(items))
        yield from (_get_units(request, item) for item in [*items, *missing])


def _batch_writes(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for table, requests in body["RequestItems"].items():
        for request in requests:
            yield table, next(iter(request.values()))


def _transact_writes(body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for part in body["TransactItems"]:
        [request] = part.values()
        yield request["TableName"], request


def _sqs_requests(call: Call) -> int:
    return _chunks(call.size)


def _bus_events(entry: dict[str, Any]) -> int:
    return _chunks(len(entry["Detail"].encode()))


def _chunks(size: int) -> int:
    return max(1, ceil(size / _CHUNK))


def _stored(table: str, key: dict[str, Any]) -> Item | None:
    """moto is asked what it holds, never what that cost."""
    parts = [DynamoType(value) for value in key.values()]
    return _plain(dynamodb_backends[ACCOUNT][REGION].tables[table].get_item(*parts))


def _all_items(name: str, table: Table) -> dict[str, Item]:
    held = dynamodb_backends[ACCOUNT][REGION].tables[name].all_items()
    items = [item for found in held if (item := _plain(found)) is not None]
    return {str(table.key_of(item)): item for item in items}


def _plain(item: Any) -> Item | None:
    return None if item is None else item.to_json()["Attributes"]
