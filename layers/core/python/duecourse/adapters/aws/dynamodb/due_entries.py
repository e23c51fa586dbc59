"""Entries of the due index as DynamoDB returns them: the recording of a failure counts them."""

from __future__ import annotations

from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from pynamodb.exceptions import QueryError

from duecourse.adapters.aws.dynamodb.models import DueIndex, TaskItem
from duecourse.adapters.aws.dynamodb.raw_items import client_of

_CONDITION = "due_shard = :partition AND due_at BETWEEN :first AND :last"


def count_entries(partition: int, first: str, last: str, *, limit: int) -> int:
    """Count the entries of a partition between two due times, both included, up to `limit`."""
    client, count = client_of(TaskItem), 0
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
    while True:
        try:
            reply = client.query(**request, Limit=limit - count)
        except (BotoCoreError, ClientError) as error:
            raise QueryError(f"Failed to query items: {error}", error) from error
        count += int(reply["Count"])
        request["ExclusiveStartKey"] = reply.get("LastEvaluatedKey")
        if count >= limit or not request["ExclusiveStartKey"]:
            return count
