"""Texts that show a task to its owner in chat: a line of a list, or its details."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from duecourse.domain.chat.notification_text import format_diagnosis
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait_text import describe_wait
from duecourse.domain.text.describe_recurrence import describe_recurrence
from duecourse.domain.text.formatting import format_time, to_one_line

PAGE_SIZE = 20
_LISTED_LENGTH = 100  # characters of a description
_DETAIL_LENGTH = 1_500
_STATUS_LABELS = {
    Status.PENDING: "pending",
    Status.IN_PROGRESS: "in progress",
    Status.PENDING_VERIFICATION: "awaiting verification",
    Status.BLOCKED: "blocked",
}


def format_task_list(tasks: Sequence[Task], zone: str | None, *, page: int = 1) -> str:
    """Return one page of `tasks` in the given order. Without `zone`, each uses its own."""
    if not tasks:
        return "You have no open tasks. Example: /remind in 10 minutes stretch"
    first, last = (page - 1) * PAGE_SIZE, page * PAGE_SIZE
    if first >= len(tasks):
        return f"There is no page {page}. First page: /tasks"
    lines = [_format_line(task, zone or task.timezone) for task in tasks[first:last]]
    more = len(tasks) - last
    return "\n".join([*lines, *([f"{more} more: /tasks {page + 1}"] if more > 0 else [])])


def format_visible_tasks(
    visible: Sequence[Task], hidden_count: int, zone: str | None, *, page: int = 1
) -> str:
    """Return the list for a shared chat: only tasks that belong there, and the count of others."""
    if not hidden_count:
        return format_task_list(visible, zone, page=page)
    listed = (
        format_task_list(visible, zone, page=page) if visible else "You have no open tasks here."
    )
    elsewhere = "task is in another chat" if hidden_count == 1 else "tasks are in other chats"
    return f"{listed}\n{hidden_count} more {elsewhere}. Ask me in private."


def _format_line(task: Task, zone: str) -> str:
    marks = [format_time(task.due_at, zone)]
    if task.repeat:
        marks.append(describe_recurrence(task.repeat, task.anchor))
    if task.paused or task.status is not Status.PENDING:
        marks.append(status_label(task))
    return f"{task.short_id}  {', '.join(marks)}: {to_one_line(task.description, _LISTED_LENGTH)}"


def format_task_details(task: Task, zone: str | None) -> str:
    return "\n".join(_detail_lines(task, zone or task.timezone))


def _detail_lines(task: Task, zone: str) -> Iterator[str]:
    description = to_one_line(task.description, _DETAIL_LENGTH)
    yield f"{task.type.capitalize()} {task.short_id}: {description}"
    yield f"Status: {status_label(task)}"
    if task.is_open and task.status is not Status.BLOCKED:
        yield f"Due: {format_time(task.due_at, zone)}"
    if task.is_open and task.due_at > task.nominal_at and task.repeat:
        yield f"Originally due: {format_time(task.nominal_at, zone)}"
    if task.repeat:
        yield f"Repeats: {describe_recurrence(task.repeat, task.anchor)}"
    if task.delivered_at:
        last = "Last delivered" if task.is_reminder else "Last done"
        yield f"{last}: {format_time(task.delivered_at, zone)}"
    if (waits_for := describe_wait(task.wait)) is not None:
        yield f"Waiting for: {to_one_line(waits_for, _LISTED_LENGTH)}"
    yield from _failure_lines(task, zone)


def _failure_lines(task: Task, zone: str) -> Iterator[str]:
    if task.retry_count:
        yield f"Retries: {task.retry_count} of {task.max_retries}"
    if task.last_error:
        yield f"Last error: {format_diagnosis(task)}"
    if task.next_retry_at:
        yield f"Next retry: {format_time(task.next_retry_at, zone)}"


def status_label(task: Task) -> str:
    if task.paused and task.status is Status.PENDING:
        return "paused"
    return _STATUS_LABELS.get(task.status, str(task.status))
