"""Storage for tasks and their subjects."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from duecourse.domain.dispatch.lanes import DUE_LANES, Lane

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
        """Store a new task and return it, or return the existing task with its id."""

    def get(self, task_id: str) -> Task:
        """Return the task (strongly consistent). Raises UnknownTaskError."""

    def peek(self, task_id: str) -> Task | None:
        """Return the task as a replica has it, or None, at half the price of `get`.

        It may be outdated. Whoever saves a change of it learns that from StaleTaskError, and has to
        read it again with `get`, as well as before concluding that there is nothing to do.
        """

    def get_many(self, task_ids: Sequence[str]) -> Sequence[Task]:
        """Return the tasks in the order of their ids, without deleted and unreadable ones.

        Eventually consistent. The store sets unreadable items aside, so they stop no others.
        """

    def find(self, prefix: str, *, owner: Owner | None = None) -> Sequence[Task]:
        """Return the tasks whose id starts with `prefix` (at least eight characters), strongly
        consistent.

        With `owner`, tasks of other owners are not even read, so guessing an id reveals nothing,
        not even through the response time.
        """

    def save(
        self,
        before: Task,
        after: Task,
        *,
        subject: Subject | None = None,
        new_task: Task | None = None,
    ) -> None:
        """Replace exactly `before` by `after`, in one transaction with everything else that is
        given.

        `subject` replaces its previous version. `new_task` is created.

        Of concurrent callers one wins; the others get StaleTaskError. A caller that repeats its own
        write after a lost response wins.
        """

    def delete(self, task: Task) -> None:
        """Delete exactly `task`; the journal then erases its history. Idempotent.

        Raises StaleTaskError if the task has changed since.
        """

    def claim_new(self, task_id: str, run: Run, *, due_at: datetime) -> Task | None:
        """Claim a reminder of the lane NEW_REMINDER with one write and return the claimed task.

        Returns None, and writes nothing, if the task is no longer due at `due_at` or is of another
        lane: the caller reads it. A caller that repeats its own claim after a lost response wins.
        """

    def list_due(
        self, partition: int, *, start: datetime | None, end: datetime
    ) -> Iterator[Dispatch]:
        """Yield the tasks of a partition of the due index with start <= due_at < end, soonest
        first. Eventually consistent.
        """

    def list_awaiting_fix(self) -> Iterator[str]:
        """Yield the ids of tasks that wait for a new deployment. Eventually consistent."""

    def list_blocked(self, limit: int) -> Sequence[Task]:
        """Return blocked tasks, longest waiting first; the order is approximate beyond `limit`
        tasks.

        Eventually consistent, but never returns a task that is no longer blocked.
        """

    def list_blocked_before(self, instant: datetime) -> Iterator[str]:
        """Yield the ids of all tasks blocked up to `instant`, and maybe others. Eventually
        consistent."""

    def list_open(self, owner: Owner) -> Sequence[Task]:
        """Return the owner's open tasks, soonest first.

        If the owner has thousands of tasks, ended ones included, only the newest and the oldest of
        them are looked at.
        """

    def list_page(
        self, task_filter: TaskFilter, *, limit: int, cursor: str | None, now: datetime
    ) -> TaskPage:
        """Return one page, newest first, or by due time if the filter has an open or failed status.

        No task that exists throughout is skipped or repeated; by due time, none whose due time and
        status stay the same. What a page costs is bounded: it may be short and have a cursor.
        """

    def list_soonest(self, limit: int, lanes: Sequence[Lane] = DUE_LANES) -> Sequence[Task]:
        """Return running and scheduled tasks of the lanes, soonest first.

        Eventually consistent, but never returns a task that has changed status since. Up to a limit
        of 100, the cost does not depend on how many tasks there are.
        """

    def list_retries(self, limit: int) -> Sequence[Task]:
        """Return tasks that wait for a retry, soonest first.

        Eventually consistent, but never returns a task that has changed status since. With very
        many running retries, the list is shorter than `limit` although more wait.
        """

    def list_to_verify(self, limit: int) -> Sequence[Task]:
        """Return tasks that wait for a person's verification, earliest deadline first.

        Eventually consistent, but never returns a task that has changed status since.
        """

    def list_latest_due(self, partition: int, limit: int) -> Sequence[datetime]:
        """Return the last due times in a partition of the due index, latest first. One query."""

    def count_due(self, partition: int, *, start: datetime, end: datetime, limit: int) -> int:
        """Return how many tasks of a partition have start <= due_at < end, counted up to `limit`.

        One query. Eventually consistent.
        """


class Subjects(Protocol):
    def get(self, subject_id: str) -> Subject:
        """Return the subject (strongly consistent); a fresh one if it is unknown."""

    def save(self, subject: Subject) -> None:
        """Replace the previous version. Raises StaleSubjectError if another caller replaced it
        first."""
