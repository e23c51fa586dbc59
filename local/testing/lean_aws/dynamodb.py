"""DynamoDB: the operations on tables, items and batches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from local.testing.lean_aws import reads
from local.testing.lean_aws.errors import (
    AwsError,
    UnsupportedError,
    check_parameters,
    validation_error,
)
from local.testing.lean_aws.stream import Stream
from local.testing.lean_aws.table import Table
from local.testing.lean_aws.transactions import get_in_transaction, write_in_transaction
from local.testing.lean_aws.values import measure_item
from local.testing.lean_aws.writes import key_of_write, prepare, returned_attributes

MAX_BATCH_WRITES = 25
MAX_BATCH_READS = 100
MAX_RESPONSE_BYTES = 16 * 1024 * 1024
_BATCH = frozenset({"RequestItems", "ReturnConsumedCapacity", "ReturnItemCollectionMetrics"})
_BATCH_KEYS = frozenset(
    {"Keys", "ConsistentRead", "ProjectionExpression", "ExpressionAttributeNames"}
)


class DynamoDb:
    """`batch_limit`: the most items that a batch processes; the others come back unprocessed."""

    def __init__(self, *, region: str, account: str, now: Callable[[], float]) -> None:
        self._region = region
        self._account = account
        self._now = now
        self.tables: dict[str, Table] = {}
        self.batch_limit: int | None = None
        self.operations: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "CreateTable": self.create_table,
            "DescribeTable": lambda request: {"Table": self._describe(self._table(request))},
            "DeleteTable": self.delete_table,
            "ListTables": lambda _request: {"TableNames": sorted(self.tables)},
            "GetItem": lambda request: reads.get_item(self._table(request), request),
            "Query": lambda request: reads.query(self._table(request), request),
            "Scan": lambda request: reads.scan(self._table(request), request),
            "PutItem": lambda request: self._write("Put", request),
            "UpdateItem": lambda request: self._write("Update", request),
            "DeleteItem": lambda request: self._write("Delete", request),
            "BatchGetItem": self.batch_get,
            "BatchWriteItem": self.batch_write,
            "TransactWriteItems": lambda request: write_in_transaction(request, self.table),
            "TransactGetItems": lambda request: get_in_transaction(request, self.table),
        }

    def table(self, name: str) -> Table:
        name = name.rpartition("/")[2]
        if name not in self.tables:
            raise AwsError("ResourceNotFoundException", "Requested resource not found")
        return self.tables[name]

    def create_table(self, request: dict[str, Any]) -> dict[str, Any]:
        name = request["TableName"]
        if name in self.tables:
            raise AwsError("ResourceInUseException", f"Table already exists: {name}")
        arn = f"arn:aws:dynamodb:{self._region}:{self._account}:table/{name}"
        stream = None
        if (request.get("StreamSpecification") or {}).get("StreamEnabled"):
            view_type = request["StreamSpecification"]["StreamViewType"]
            stream = Stream(f"{arn}/stream/lean", view_type, self._region, self._now)
        self.tables[name] = Table(request, arn, stream)
        return {"TableDescription": self._describe(self.tables[name])}

    def delete_table(self, request: dict[str, Any]) -> dict[str, Any]:
        description = self._describe(self._table(request))
        del self.tables[request["TableName"]]
        return {"TableDescription": description}

    def batch_get(self, request: dict[str, Any]) -> dict[str, Any]:
        check_parameters("BatchGetItem", request, _BATCH)
        wanted = [
            (name, one, key) for name, one in request["RequestItems"].items() for key in one["Keys"]
        ]
        if not 1 <= len(wanted) <= MAX_BATCH_READS:
            raise validation_error("Too many items requested for the BatchGetItem call")
        _refuse_duplicates([(name, self.table(name).schema.key_of(key)) for name, _, key in wanted])
        found: dict[str, list[Any]] = {name: [] for name in request["RequestItems"]}
        unprocessed: dict[str, Any] = {}
        size = 0
        for position, (name, one, key) in enumerate(wanted):
            check_parameters("BatchGetItem", one, _BATCH_KEYS)
            if position == self.batch_limit or size > MAX_RESPONSE_BYTES or unprocessed:
                unprocessed.setdefault(name, {**one, "Keys": []})["Keys"].append(key)
                continue
            options = {option: value for option, value in one.items() if option != "Keys"}
            item = reads.get_item(self.table(name), {"TableName": name, "Key": key, **options})
            size += measure_item(item.get("Item", {}))
            found[name].extend(item.values())
        return {"Responses": found, "UnprocessedKeys": unprocessed}

    def batch_write(self, request: dict[str, Any]) -> dict[str, Any]:
        check_parameters("BatchWriteItem", request, _BATCH)
        wanted = [(name, one) for name, many in request["RequestItems"].items() for one in many]
        if not 1 <= len(wanted) <= MAX_BATCH_WRITES:
            raise validation_error("Too many items requested for the BatchWriteItem call")
        writes = [(name, *_to_write(name, one)) for name, one in wanted]
        _refuse_duplicates(
            [(name, key_of_write(kind, self.table(name), one)) for name, kind, one in writes]
        )
        prepared = [prepare(kind, self.table(name), one) for name, kind, one in writes]
        for write in prepared[: self.batch_limit]:
            write.commit()
        unprocessed: dict[str, Any] = {}
        for name, one in wanted[self.batch_limit :] if self.batch_limit is not None else ():
            unprocessed.setdefault(name, []).append(one)
        return {"UnprocessedItems": unprocessed}

    def _write(self, kind: str, request: dict[str, Any]) -> dict[str, Any]:
        write = prepare(kind, self._table(request), request)
        write.commit()
        return returned_attributes(request, write)

    def _table(self, request: dict[str, Any]) -> Table:
        return self.table(request["TableName"])

    def _describe(self, table: Table) -> dict[str, Any]:
        description: dict[str, Any] = {
            "TableName": table.name,
            "TableArn": table.arn,
            "TableStatus": "ACTIVE",
            "ItemCount": len(table.items),
        }
        if table.stream is not None:
            description["LatestStreamArn"] = table.stream.arn
        return description


def _to_write(table: str, request: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    match request:
        case {"PutRequest": {"Item": item}}:
            return "Put", {"TableName": table, "Item": item}
        case {"DeleteRequest": {"Key": key}}:
            return "Delete", {"TableName": table, "Key": key}
    raise UnsupportedError(f"BatchWriteItem with {', '.join(request)}")


def _refuse_duplicates(keys: list[Any]) -> None:
    if len(set(keys)) < len(keys):
        raise validation_error("Provided list of item keys contains duplicates")
