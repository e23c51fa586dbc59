"""Where tasks and their subjects are kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from duecourse.domain.dispatch.timing import Dispatch
    from duecourse.domain.failures.subject import Subject
    from duecourse.domain.requests.task_filter import TaskFilter
    from duecourse.domain.tasks.owner import Owner
    from duecourse.domain.tasks.run import Run
    from duecourse.domain.tasks.task import Task


@dataclass(frozen=True)
class TaskPage:
    items: Sequence[Task]
    next_cursor: str | None


class TaskStore(Protocol):
    def create(self, task: Task) -> Task:
        """Keep a new task, once: it is returned itself, or the one that has its id already."""

    def get(self, task_id: str) -> Task:
        """The task as last written, never an older state. Raises UnknownTaskError."""

    def find(self, prefix: str, *, owner: Owner | None = None) -> Sequence[Task]:
        """The tasks whose id begins so (at least eight characters): few, as last written.

        Where an owner is named, another's task is not even read out: whoever guesses its id learns
        nothing, and waits no longer either.
        """

    def save(
        self,
        before: Task,
        after: Task,
        *,
        subject: Subject | None = None,
        ended_run: Run | None = None,
        new_task: Task | None = None,
    ) -> None:
        """Replace exactly `before`, and with it the subject's version before, or neither. `ended`
        is kept by the same write as the run that `after` has a new one in place of. `made` is a
        new task that the same write makes.

        Raises StaleTaskError for all callers but one. A write whose answer was lost is recognised
        as one's own and does not raise.
        """

    def list_due(self, shard: int, *, start: datetime | None, end: datetime) -> Iterator[Dispatch]:
        """Open tasks with start <= due_at < end, soonest first. May lag behind the writes."""

    def list_awaiting_fix(self) -> Iterator[str]:
        """The ids of tasks that wait for mended code. May lag behind the writes."""

    def list_blocked(self, limit: int) -> Sequence[Task]:
        """Blocked tasks, those that have waited longest first: nearly so where there are more than
        the limit. May lag; none that has moved on is told."""

    def list_blocked_before(self, instant: datetime) -> Iterator[str]:
        """The ids of blocked tasks that may time out: all that were blocked up to that instant, and
        maybe others. May lag behind the writes."""

    def list_open(self, owner: Owner) -> Sequence[Task]:
        """Their open tasks, soonest first."""

    def list_page(self, task_filter: TaskFilter, *, limit: int, cursor: str | None) -> TaskPage:
        """Newest first. No task that exists throughout the walk is skipped or repeated."""

    def list_soonest(self, limit: int) -> Sequence[Task]:
        """What runs, and what comes by itself at its time, soonest first. May lag; none that has
        moved on is told. Of at most 100, it costs the same however many there are."""

    def list_retries(self, limit: int) -> Sequence[Task]:
        """Tasks that wait for a retry, soonest first. May lag; none that has moved on is told."""

    def list_to_verify(self, limit: int) -> Sequence[Task]:
        """Work that waits for a person's verdict, what runs out first before the rest. May lag;
        none that has moved on is told."""

    def list_latest_retry_times(self, limit: int) -> Sequence[datetime]:
        """When the last of the retries come that wait in the lane "soon", latest first. May lag."""


class Subjects(Protocol):
    def get(self, subject_id: str) -> Subject:
        """As last written, never an older state; one never seen is a fresh one."""

    def save(self, subject: Subject) -> None:
        """Replace the version before it. Raises StaleSubjectError for all callers but one."""
