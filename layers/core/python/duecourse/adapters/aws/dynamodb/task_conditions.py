"""Conditions on stored tasks for writes and queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pynamodb.expressions.condition import Condition

from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.task import Task

# Parameters of a put, for `put_stored`.
NEW_TASK: Mapping[str, Any] = {"ConditionExpression": "attribute_not_exists(id)"}
_NEVER_VERSIONED = "attribute_not_exists(#version) AND attribute_exists(id)"
_NAMES = {"#version": "version"}


def unchanged_since(task: Task) -> Mapping[str, Any]:
    """Return the parameters of `task_version_condition` for a put."""
    if not task.version:
        return {"ConditionExpression": _NEVER_VERSIONED, "ExpressionAttributeNames": _NAMES}
    return {
        "ConditionExpression": "#version = :version",
        "ExpressionAttributeNames": _NAMES,
        "ExpressionAttributeValues": {":version": {"N": str(task.version)}},
    }


def task_version_condition(task: Task) -> Condition:
    # Items without a version were written before versions existed; they count as version 0.
    never_versioned = TaskItem.version.does_not_exist() & TaskItem.id.exists()
    return TaskItem.version == task.version if task.version else never_versioned


def owner_condition(owner: Owner) -> Condition:
    is_theirs: Condition = (TaskItem.channel == owner.channel) & (
        TaskItem.sender_id == owner.sender_id
    )
    return is_theirs
