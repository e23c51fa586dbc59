"""A task as its sender sees it in chat: one line of a list, or all that is worth knowing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from duecourse.domain.chat.notification_text import error_of
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait_text import describe_wait
from duecourse.domain.text.describe_recurrence import spoken_repeat
from duecourse.domain.text.formatting import one_line, spoken_time

LONGEST_LISTING = 20
_LISTED = 100  # characters of a description
_SHOWN = 1_500
_STATUS = {
    Status.PENDING: "waiting",
    Status.IN_PROGRESS: "running",
    Status.PENDING_VERIFICATION: "waiting for your verdict",
    Status.BLOCKED: "blocked",
}


def listing(tasks: Sequence[Task], zone: str | None, *, page: int = 1) -> str:
    """In the order given. Without a zone, each in its own."""
    if not tasks:
        return "You have no open tasks. /remind in 10 minutes stretch makes one."
    first, last = (page - 1) * LONGEST_LISTING, page * LONGEST_LISTING
    if first >= len(tasks):
        return f"There is no page {page}. /tasks shows the first."
    lines = [_line(task, zone or task.timezone) for task in tasks[first:last]]
    more = len(tasks) - last
    return "\n".join([*lines, *([f"and {more} more: /tasks {page + 1}"] if more > 0 else [])])


def listing_here(here: Sequence[Task], elsewhere: int, zone: str | None, *, page: int = 1) -> str:
    """Where others read along: those that are told here anyway."""
    if not elsewhere:
        return listing(here, zone, page=page)
    listed = listing(here, zone, page=page) if here else "You have no open tasks here."
    verb = "is" if elsewhere == 1 else "are"
    return f"{listed}\n{elsewhere} more of yours {verb} elsewhere: ask me in private."


def _line(task: Task, zone: str) -> str:
    marks = [spoken_time(task.due_at, zone)]
    if task.repeat:
        marks.append(spoken_repeat(task.repeat, task.anchor))
    if task.paused or task.status is not Status.PENDING:
        marks.append(_status(task))
    return f"{task.short_id}  {', '.join(marks)}: {one_line(task.description, _LISTED)}"


def card(task: Task, zone: str | None) -> str:
    return "\n".join(_lines(task, zone or task.timezone))


def _lines(task: Task, zone: str) -> Iterator[str]:
    yield f"{task.type.capitalize()} {task.short_id}: {one_line(task.description, _SHOWN)}"
    yield f"Status: {_status(task)}"
    if task.is_open and task.status is not Status.BLOCKED:
        yield f"When: {spoken_time(task.due_at, zone)}"
    if task.is_open and task.due_at > task.nominal_at and task.repeat:
        yield f"Its own time: {spoken_time(task.nominal_at, zone)}"
    if task.repeat:
        yield f"Repeats: {spoken_repeat(task.repeat, task.anchor)}"
    if task.delivered_at:
        last = "Last delivered" if task.is_reminder else "Last done"
        yield f"{last}: {spoken_time(task.delivered_at, zone)}"
    if (waits_for := describe_wait(task.wait)) is not None:
        yield f"Waits for: {one_line(waits_for, _LISTED)}"
    yield from _failures(task, zone)


def _failures(task: Task, zone: str) -> Iterator[str]:
    if task.retry_count:
        yield f"Retries: {task.retry_count} of {task.max_retries}"
    if task.last_error:
        yield f"Last error: {error_of(task)}"
    if task.next_retry_at:
        yield f"Next try: {spoken_time(task.next_retry_at, zone)}"


def _status(task: Task) -> str:
    if task.paused and task.status is Status.PENDING:
        return "paused"
    return _STATUS.get(task.status, str(task.status))
