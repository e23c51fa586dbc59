"""The buttons under what people are told: each says a command, with the whole id of the task."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from duecourse.domain.chat.chat_message import Button
from duecourse.domain.chat.occurrence_ref import latest_occurrence, mark_of
from duecourse.domain.errors import DuecourseError
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.lifecycle.user_actions import Resolution
from duecourse.domain.tasks.task import Task

SAYS_LIMIT = 64  # bytes: no platform takes less than Telegram
_SNOOZES = {"Snooze 20 min": "20m", "1 h": "1h", "Tomorrow": "tomorrow"}
_FOUND_OUT = {
    "It happened": Resolution.APPLIED,
    "It didn't": Resolution.NOT_APPLIED,
    "Skip": Resolution.SKIP,
}


def under_reminder(task: Task) -> tuple[Button, ...]:
    """As it rings. They stay about this occurrence, however many ring after it."""
    mark = mark_of(latest_occurrence(task))
    done = Button("Done", f"/done {task.id} {mark}")
    snoozes = (
        Button(label, f"/snooze {task.id} {length} {mark}") for label, length in _SNOOZES.items()
    )
    return (done, *snoozes)


def under_failure(task: Task) -> tuple[Button, ...]:
    """Those that the task, as it is now, does not refuse."""
    buttons = []
    if _is_accepted(lambda: user_actions.retried(task, at=task.due_at)):
        buttons.append(Button("Retry now", f"/retry {task.id}"))
    if _is_accepted(lambda: user_actions.cancelled(task, at=task.due_at)):
        buttons.append(Button("Cancel", f"/cancel {task.id}"))
    return tuple(buttons)


def under_doubt(task: Task) -> tuple[Button, ...]:
    return tuple(
        Button(label, f"/resolve {task.id} {found}")
        for label, found in _FOUND_OUT.items()
        if _is_accepted(partial(user_actions.resolved, task, found, at=task.due_at))
    )


def under_work_to_check(task: Task) -> tuple[Button, ...]:
    """Whoever presses a button gives no reason: typed, a rejection can say what to do better."""
    return (
        Button("Approve", f"/approve {task.id}"),
        Button("Reject", f"/reject {task.id} no reason given"),
    )


def _is_accepted(wish: Callable[[], Task]) -> bool:
    try:
        wish()
    except DuecourseError:
        return False
    return True
