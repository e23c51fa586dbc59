"""Buttons under chat messages. Each sends a command with the full id of the task."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from duecourse.domain.chat.chat_message import Button
from duecourse.domain.chat.occurrence_ref import encode_ref, latest_occurrence_at
from duecourse.domain.errors import DuecourseError
from duecourse.domain.tasks.task import Task

COMMAND_LIMIT = 64  # bytes: Telegram has the lowest limit
_SNOOZE_OPTIONS = {"Snooze 20 min": "20m", "1 h": "1h", "Tomorrow": "tomorrow"}


def reminder_buttons(task: Task) -> tuple[Button, ...]:
    """Return the buttons of a reminder. They refer to this occurrence even after later ones."""
    mark = encode_ref(latest_occurrence_at(task))
    done = Button("Done", f"/done {task.id} {mark}")
    snoozes = (
        Button(label, f"/snooze {task.id} {length} {mark}")
        for label, length in _SNOOZE_OPTIONS.items()
    )
    return (done, *snoozes)


def failure_buttons(task: Task) -> tuple[Button, ...]:
    """Return buttons for the actions that the task's current state allows."""
    from duecourse.domain.lifecycle import user_actions  # a reminder's buttons do without

    buttons = []
    if _can_apply(lambda: user_actions.retry(task, at=task.due_at)):
        buttons.append(Button("Retry now", f"/retry {task.id}"))
    if _can_apply(lambda: user_actions.cancel(task, at=task.due_at)):
        buttons.append(Button("Cancel", f"/cancel {task.id}"))
    return tuple(buttons)


def resolution_buttons(task: Task) -> tuple[Button, ...]:
    from duecourse.domain.lifecycle.resolve_indeterminate import Resolution, resolve_indeterminate

    options = {
        "It happened": Resolution.APPLIED,
        "It did not happen": Resolution.NOT_APPLIED,
        "Skip": Resolution.SKIP,
    }
    return tuple(
        Button(label, f"/resolve {task.id} {found}")
        for label, found in options.items()
        if _can_apply(partial(resolve_indeterminate, task, found, at=task.due_at))
    )


def verification_buttons(task: Task) -> tuple[Button, ...]:
    """Return Approve and Reject. Only a typed rejection can give a reason."""
    return (
        Button("Approve", f"/approve {task.id}"),
        Button("Reject", f"/reject {task.id} no reason given"),
    )


def _can_apply(change: Callable[[], Task]) -> bool:
    try:
        change()
    except DuecourseError:
        return False
    return True
