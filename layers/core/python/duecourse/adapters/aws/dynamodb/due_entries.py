"""Entries of the due index as DynamoDB returns them: scans and failures read many of them."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.exceptions import QueryError

from duecourse.adapters.aws.dynamodb.item_codec import Stored
from duecourse.adapters.aws.dynamodb.models import DueIndex, TaskItem
from duecourse.adapters.aws.dynamodb.raw_items import client_of

_CONDITION = "due_shard = :partition AND due_at BETWEEN :first AND :last"


def list_entries(
    partition: int, first: str, last: str, *, limit: int | None = None
) -> Iterator[Stored]:
    """Yield the entries of a partition between two due times, both included, soonest first.

    They are read page by page as they are needed. Raises QueryError.
    """
    request: dict[str, Any] = {
        "TableName": TaskItem.Meta.table_name,
        "IndexName": DueIndex.Meta.index_name,
        "KeyConditionExpression": _CONDITION,
        "ExpressionAttributeValues": {
            ":partition": {"N": str(partition)},
            ":first": {"S": first},
            ":last": {"S": last},
        },
    }
    if limit is not None:
        request["Limit"] = limit
    return islice(_read_pages(request), limit)


def _read_pages(request: dict[str, Any]) -> Iterator[Stored]:
    client = client_of(TaskItem)
    while True:
        try:
            reply = client.query(**request)
        except (BotoCoreError, ClientError) as error:
            raise QueryError(f"Failed to query items: {error}", error) from error
        yield from reply["Items"]
        last_key = reply.get("LastEvaluatedKey")
        if not last_key:
            return
        request = {**request, "ExclusiveStartKey": last_key}
