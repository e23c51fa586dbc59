"""The claim of a reminder that never ran: one update without a read before it.

The expressions are constants and go to the botocore client: PynamoDB would build them anew for each
reminder.
"""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from botocore.exceptions import ClientError

from duecourse.adapters.aws.dynamodb.conditions import CONDITION_FAILED
from duecourse.adapters.aws.dynamodb.item_codec import Stored
from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.adapters.aws.dynamodb.raw_items import Key, client_of
from duecourse.domain.requests.stored_run import run_to_stored
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import REMINDER
from duecourse.domain.time.instant import to_text

_UPDATE = "SET #run = :run, #status = :running, #version = #version + :one REMOVE skipped"
# Everything that `first_run` relies on. A newer schema is left to the code that knows it.
_CONDITION = (
    "#status = :pending AND #type = :reminder AND due_at = :due AND nominal_at = :due"
    " AND schema_version = :schema AND attribute_not_exists(#run) AND attribute_not_exists(#wait)"
    " AND attribute_not_exists(paused) AND attribute_not_exists(subject)"
    " AND attribute_not_exists(next_retry_at)"
)
_NAMES = {f"#{name}": name for name in ("run", "status", "version", "type", "wait")}
_VALUES = {
    ":running": {"S": str(Status.IN_PROGRESS)},
    ":pending": {"S": str(Status.PENDING)},
    ":reminder": {"S": REMINDER},
    ":schema": {"N": str(TaskItem.schema_version.current)},
    ":one": {"N": "1"},
}


def update_if_new(key: Key, run: Run, *, due_at: datetime) -> Stored | None:
    """Store `run` with the reminder and return its item, or None if the condition does not hold."""
    request: dict[str, Any] = {
        "TableName": TaskItem.Meta.table_name,
        "Key": key,
        "UpdateExpression": _UPDATE,
        "ConditionExpression": _CONDITION,
        "ExpressionAttributeNames": _NAMES,
        "ExpressionAttributeValues": {
            **_VALUES,
            ":run": {"S": json.dumps(run_to_stored(run))},
            ":due": {"S": to_text(due_at)},
        },
        "ReturnValues": "ALL_NEW",
    }
    try:
        stored: Stored = client_of(TaskItem).update_item(**request)["Attributes"]
    except ClientError as error:
        if error.response["Error"]["Code"] == CONDITION_FAILED:
            return None
        raise
    return stored
