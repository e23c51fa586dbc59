"""Conditions on stored tasks for writes and queries."""

from __future__ import annotations

from pynamodb.expressions.condition import Condition

from duecourse.adapters.aws.dynamodb.models import TaskItem
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.task import Task


def task_version_condition(task: Task) -> Condition:
    # Items without a version were written before versions existed; they count as version 0.
    never_versioned = TaskItem.version.does_not_exist() & TaskItem.id.exists()
    return TaskItem.version == task.version if task.version else never_versioned


def owner_condition(owner: Owner) -> Condition:
    is_theirs: Condition = (TaskItem.channel == owner.channel) & (
        TaskItem.sender_id == owner.sender_id
    )
    return is_theirs
