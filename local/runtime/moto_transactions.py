"""A patch that makes a transaction independent of how much moto's tables hold.

moto copies whole tables for a rollback; the patch copies only the items in the transaction.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from moto.dynamodb.models import DynamoDBBackend
from moto.dynamodb.models.table import Table


@contextmanager
def patch_transaction_rollback() -> Iterator[None]:
    real = DynamoDBBackend.transact_write_items

    def transact(backend: Any, transact_items: list[dict[str, Any]]) -> None:
        undo = [_make_undo(backend, operation) for operation in transact_items]
        try:
            real(backend, transact_items)
        except Exception:
            for undo_one in undo:
                undo_one()
            raise

    DynamoDBBackend.transact_write_items = transact
    Table.__deepcopy__ = lambda table, _memo: table
    try:
        yield
    finally:
        DynamoDBBackend.transact_write_items = real
        del Table.__deepcopy__


def _make_undo(backend: Any, operation: dict[str, Any]) -> Callable[[], None]:
    [(kind, request)] = operation.items()
    table = backend.get_table(request["TableName"])
    attributes = request["Item"] if kind == "Put" else request["Key"]
    keys = {name: attributes[name] for name in table.table_key_attrs}
    item = copy.deepcopy(backend.get_item(request["TableName"], keys))
    record_count = len(table.stream_shard.items) if table.stream_shard else 0

    def undo() -> None:
        if item is not None:
            table.put_item(item.to_json()["Attributes"])
        elif backend.get_item(request["TableName"], keys) is not None:
            backend.delete_item(request["TableName"], keys)
        if table.stream_shard:
            del table.stream_shard.items[record_count:]

    return undo
