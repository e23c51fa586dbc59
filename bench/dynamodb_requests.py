"""Take DynamoDB's requests apart into the reads and writes that are billed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench.dynamodb_units import Item, item_size, page_units, read_units
from local.runtime.call_interceptor import Call

WRITES = {"PutItem", "UpdateItem", "DeleteItem", "BatchWriteItem", "TransactWriteItems"}
READS = {"GetItem", "Query", "BatchGetItem"}
# DynamoDB bills what it reads before it applies these; the reply does not tell how much that is.
_HIDING_PARAMETERS = {"FilterExpression", "ProjectionExpression", "Select"}
ReadPart = tuple[str, str, list[Item], float]


def table_names(body: dict[str, Any]) -> Iterator[str]:
    if "TableName" in body:
        yield body["TableName"]
    yield from body.get("RequestItems", ())
    for part in body.get("TransactItems", ()):
        yield from (request["TableName"] for request in part.values())


def is_filtered(body: dict[str, Any]) -> bool:
    """Return whether a read's reply holds less than what the read is billed for."""
    requests = [body, *(body.get("RequestItems") or {}).values()]
    return any(_HIDING_PARAMETERS & request.keys() for request in requests)


def read_parts(call: Call) -> Iterator[ReadPart]:
    """Yield the table, the index or "", the items and the billed units of each part of a read.

    Instead of an item that does not exist, its key is yielded.
    """
    body, reply = call.body, call.reply
    match call.operation:
        case "GetItem":
            item = reply.get("Item", {})
            yield body["TableName"], "", [item or body["Key"]], _item_units(body, item)
        case "Query":
            items = reply.get("Items", [])
            units = page_units(items, is_consistent=_is_consistent(body))
            yield body["TableName"], body.get("IndexName", ""), items, units
        case "BatchGetItem":
            yield from _batch_get_parts(call)


def write_requests(call: Call) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the table and the request of each item that is written."""
    match call.operation:
        case "BatchWriteItem":
            for table, requests in call.body["RequestItems"].items():
                yield from ((table, next(iter(request.values()))) for request in requests)
        case "TransactWriteItems":
            for part in call.body["TransactItems"]:
                [request] = part.values()
                yield request["TableName"], request
        case _:
            yield call.body["TableName"], call.body


def _batch_get_parts(call: Call) -> Iterator[ReadPart]:
    """Yield a part per item, each rounded up. A missing key costs as much as a small item."""
    replies: dict[str, list[Item]] = call.reply.get("Responses", {})
    for table, request in call.body["RequestItems"].items():
        items = replies.get(table, [])
        missing: list[Item] = [{}] * (len(request["Keys"]) - len(items))
        yield from ((table, "", [item], _item_units(request, item)) for item in [*items, *missing])


def _item_units(request: dict[str, Any], item: Item) -> float:
    return read_units(item_size(item), is_consistent=_is_consistent(request))


def _is_consistent(request: dict[str, Any]) -> bool:
    return bool(request.get("ConsistentRead"))
