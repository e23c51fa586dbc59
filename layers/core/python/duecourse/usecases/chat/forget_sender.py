"""Delete everything that is stored about a sender."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from duecourse.domain.chat.profile import Profile
from duecourse.domain.errors import StaleTaskError, UnknownTaskError
from duecourse.domain.requests.task_filter import TaskFilter
from duecourse.usecases.retry_on_conflict import retry_on_conflict

if TYPE_CHECKING:
    from duecourse.domain.tasks.owner import Owner
    from duecourse.domain.tasks.task import Task
    from duecourse.ports.chat import Profiles, QuietHoursStore
    from duecourse.ports.tasks import TaskStore

PAGE_SIZE = 100
MAX_ATTEMPTS = 5


@dataclass(frozen=True)
class ForgetDeps:
    store: TaskStore
    profiles: Profiles
    quiet_hours: QuietHoursStore


@dataclass(frozen=True)
class ForgetResult:
    """`is_complete` is False if there are more tasks than the limit: forget again.

    `deleted_settings`: the owner had settings, which are deleted after the last task.
    """

    deleted_tasks: int
    deleted_settings: bool
    is_complete: bool


def forget_sender(owner: Owner, deps: ForgetDeps, *, limit: int, now: datetime) -> ForgetResult:
    """Delete up to `limit` tasks of the owner, open ones too, and then the owner's settings.

    The journal erases the history of each deleted task, and its text in the audit log. May be
    repeated, also after a crash. A worker that is running a task finishes its effect, and nothing
    is stored about it.
    """
    deleted, cursor = 0, None
    wanted = TaskFilter(channel=owner.channel, sender_id=owner.sender_id)
    while True:
        page = deps.store.list_page(
            wanted, limit=min(PAGE_SIZE, limit - deleted), cursor=cursor, now=now
        )
        for task in page.items:
            _delete(task, deps.store)
        deleted, cursor = deleted + len(page.items), page.next_cursor
        if cursor is None:
            break
        if deleted >= limit:
            return ForgetResult(deleted, deleted_settings=False, is_complete=False)
    return ForgetResult(deleted, deleted_settings=_delete_settings(owner, deps), is_complete=True)


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
