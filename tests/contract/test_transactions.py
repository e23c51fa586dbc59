"""Transactions: all operations apply, or none, and the stream follows."""

from __future__ import annotations

from typing import Any

import boto3
import pytest
from botocore.exceptions import ClientError
from duecourse.adapters.aws.dynamodb.journal_models import JournalItem
from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.adapters.aws.dynamodb.tracking_models import CounterItem

from local.runtime.aws_backend import AwsBackend
from tests.support.builders.tasks import a_task

FALSE_CONDITION = "attribute_exists(no_such_attribute)"


@pytest.fixture(autouse=True)
def _task(dynamo: DynamoTaskStore) -> None:
    dynamo.create(a_task())


def increment(name: str, *, condition: str | None = None) -> dict[str, Any]:
    update: dict[str, Any] = {
        "TableName": CounterItem.Meta.table_name,
        "Key": {"day": {"S": "2026-02-17"}, "counter": {"S": name}},
        "UpdateExpression": "ADD times :one",
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    return {"Update": update | ({"ConditionExpression": condition} if condition else {})}


def put(table: str, condition: str | None = None, **attributes: str) -> dict[str, Any]:
    item = {name: {"S": value} for name, value in attributes.items()}
    operation: dict[str, Any] = {"TableName": table, "Item": item}
    return {"Put": operation | ({"ConditionExpression": condition} if condition else {})}


def scan_tables() -> list[Any]:
    client = boto3.client("dynamodb")
    tables = [CounterItem, JournalItem, TaskItem]
    return [client.scan(TableName=table.Meta.table_name)["Items"] for table in tables]


def count_stream_records(backend: AwsBackend) -> int:
    return len(backend.stream_records(TaskItem.Meta.table_name))


def transact(*operations: dict[str, Any]) -> None:
    boto3.client("dynamodb").transact_write_items(TransactItems=list(operations))


def test_all_operations_apply() -> None:
    transact(increment("a"), put(JournalItem.Meta.table_name, task_id="t", entry="e"))
    transact(increment("a"))
    counters, journal, _tasks = scan_tables()
    assert (counters[0]["times"], len(journal)) == ({"N": "2"}, 1)


def test_no_operation_applies_if_one_condition_fails(backend: AwsBackend) -> None:
    transact(increment("a"))
    before, record_count = scan_tables(), count_stream_records(backend)
    task = {name: str(value) for name, value in (("short_id", "0a1b2c3d"), ("id", a_task().id))}

    with pytest.raises(ClientError, match="TransactionCanceled"):
        transact(
            increment("a"),
            increment("b"),
            put(TaskItem.Meta.table_name, **task, description="another"),
            put(JournalItem.Meta.table_name, FALSE_CONDITION, task_id="t", entry="e"),
        )

    assert (scan_tables(), count_stream_records(backend)) == (before, record_count)


def test_a_transaction_writes_one_stream_record(backend: AwsBackend) -> None:
    record_count = count_stream_records(backend)
    task = {"short_id": "0a1b2c3d", "id": a_task().id, "description": "another"}
    transact(put(TaskItem.Meta.table_name, **task), increment("a"))
    assert count_stream_records(backend) == record_count + 1
