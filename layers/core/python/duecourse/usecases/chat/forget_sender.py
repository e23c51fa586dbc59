"""Delete everything that is stored about a sender."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from duecourse.domain.chat.personal_letter import find_subjects
from duecourse.domain.chat.profile import Profile
from duecourse.domain.dispatch.dead_letter import Queue
from duecourse.domain.errors import StaleTaskError, UnknownTaskError
from duecourse.domain.requests.task_filter import TaskFilter
from duecourse.usecases.retry_on_conflict import retry_on_conflict

if TYPE_CHECKING:
    from duecourse.domain.tasks.owner import Owner
    from duecourse.domain.tasks.task import Task
    from duecourse.ports.chat import Profiles, QuietHoursStore
    from duecourse.ports.queues import DeadLetters
    from duecourse.ports.tasks import TaskStore

PAGE_SIZE = 100
MAX_ATTEMPTS = 5


@dataclass(frozen=True)
class ForgetDeps:
    store: TaskStore
    profiles: Profiles
    quiet_hours: QuietHoursStore
    dead_letters: DeadLetters


@dataclass(frozen=True)
class ForgetResult:
    """`is_complete` is False if there are more tasks or dead letters than the limit: forget again.

    `deleted_settings`: the owner had settings, which are deleted after the last task.
    """

    deleted_tasks: int
    deleted_settings: bool
    is_complete: bool
    deleted_dead_letters: int = 0


def forget_sender(owner: Owner, deps: ForgetDeps, *, limit: int, now: datetime) -> ForgetResult:
    """Delete up to `limit` dead letters and tasks of the owner, and then the owner's settings.

    Open tasks are deleted too. The journal erases the history of each deleted task, and its text in
    the audit log. May be repeated, also after a crash. A worker that is running a task finishes its
    effect, and nothing is stored about it.

    Dead letters come first: without the tasks, nothing says whose they are. All of them are read.
    """
    tasks, has_more = _list_tasks(owner, deps.store, limit=limit, now=now)
    letters = _drop_letters(owner, {task.id for task in tasks}, deps.dead_letters, limit=limit)
    if letters == limit:
        return ForgetResult(
            0, deleted_settings=False, is_complete=False, deleted_dead_letters=letters
        )
    for task in tasks:
        _delete(task, deps.store)
    return ForgetResult(
        len(tasks),
        deleted_settings=not has_more and _delete_settings(owner, deps),
        is_complete=not has_more,
        deleted_dead_letters=letters,
    )


def _list_tasks(
    owner: Owner, store: TaskStore, *, limit: int, now: datetime
) -> tuple[list[Task], bool]:
    """Return up to `limit` tasks of the owner, and whether there are more."""
    wanted = TaskFilter(channel=owner.channel, sender_id=owner.sender_id)
    tasks: list[Task] = []
    cursor = None
    while True:
        page_size = min(PAGE_SIZE, limit - len(tasks))
        page = store.list_page(wanted, limit=page_size, cursor=cursor, now=now)
        tasks += page.items
        cursor = page.next_cursor
        if cursor is None or len(tasks) >= limit:
            return tasks, cursor is not None


def _drop_letters(
    owner: Owner, task_ids: set[str], dead_letters: DeadLetters, *, limit: int
) -> int:
    """Drop up to `limit` dead letters of the owner and of the tasks; return how many.

    A redrive of one would bring the person back.
    """
    dropped, notified_ids = 0, set(task_ids)
    for letter in dead_letters.list_letters():
        subjects = find_subjects(letter)
        is_owned = owner in subjects.owners
        if is_owned and letter.queue is Queue.CHAT:
            # The sender was notified that this message failed; the notification may be dead, too.
            notified_ids |= subjects.task_ids
        ids = notified_ids if letter.queue is Queue.NOTIFICATIONS else task_ids
        if is_owned or subjects.task_ids & ids:
            dead_letters.drop(letter)
            dropped += 1
            if dropped == limit:
                break
    return dropped


def _delete_settings(owner: Owner, deps: ForgetDeps) -> bool:
    """Delete the owner's settings; return whether there were any."""
    hours, profile = deps.quiet_hours.get(owner), deps.profiles.get(owner)
    deps.quiet_hours.set(owner, None)
    deps.profiles.delete(owner)
    return hours is not None or profile != Profile(owner)


def _delete(task: Task, store: TaskStore) -> None:
    def delete(attempt: int) -> None:
        store.delete(task if attempt == 1 else store.get(task.id))

    with suppress(UnknownTaskError):  # somebody else was faster
        retry_on_conflict(delete, conflict=StaleTaskError, max_attempts=MAX_ATTEMPTS)
