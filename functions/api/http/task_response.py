"""A task as JSON, with the fields that depend on this deployment's settings."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from duecourse.app import stores
from duecourse.domain.lifecycle.blocked import blocked_until
from duecourse.domain.requests.json import task_to_json
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_text_or_none


def task_to_response(task: Task) -> dict[str, Any]:
    return show_task(task, blocked_for=stores.settings().blocked_timeout)


def show_task(task: Task, *, blocked_for: timedelta) -> dict[str, Any]:
    until = blocked_until(task, timeout=blocked_for)
    return task_to_json(task) | {"blocked_until": to_text_or_none(until)}
