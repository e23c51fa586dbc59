"""Invariants of tasks: none is lost, doubled, stuck or late."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import timedelta

from duecourse.domain.tasks.status import Status
from duecourse.domain.time.instant import from_text

from local.simulate.observed import Observed

# Statuses in which a task may wait for a person, or for its own next occurrence.
_WAITING = frozenset({Status.BLOCKED, Status.PENDING_VERIFICATION})
_ENDED = frozenset({Status.DELIVERED, Status.COMPLETED, Status.FAILED, Status.CANCELLED})
# Without faults a lost message is sent again by the sweeper, which runs every five minutes.
MAX_LATENESS = timedelta(minutes=15)


def accepted_exist(observed: Observed) -> Iterator[str | None]:
    for one in observed.created.values():
        is_there = one.id in observed.records or one.id in observed.deleted
        yield None if is_there else f"task {one.number} was accepted and does not exist"


def created_apart(observed: Observed) -> Iterator[str | None]:
    numbers: defaultdict[str, list[int]] = defaultdict(list)
    for one in observed.created.values():
        numbers[one.id].append(one.number)
    for same in numbers.values():
        yield None if len(same) == 1 else f"tasks {same} are the same task"


def not_stuck(observed: Observed) -> Iterator[str | None]:
    for record in observed.records.values():
        status, due_at = Status(record.task["status"]), record.task["due_at"]
        is_overdue = from_text(due_at) < from_text(observed.now) - MAX_LATENESS
        is_due_later = not is_overdue or record.task["paused"]
        is_explained = status in _ENDED or status in _WAITING or is_due_later
        yield None if is_explained else f"task {record.name} is {status}, due {due_at}"


def late_only_with_faults(observed: Observed) -> Iterator[str | None]:
    """Once the faults have ended, a due task starts within minutes."""
    for change in observed.changes:
        old, new = change.old, change.new
        if old is None or new is None or old.wait is not None:
            continue
        if old.status is not Status.PENDING or new.status is not Status.IN_PROGRESS:
            continue
        late = change.written_at - max(old.due_at, observed.faults_ended_at)
        name = observed.name_of(new.id)
        yield f"task {name} started {late} late" if late > MAX_LATENESS else None


def queues_empty(observed: Observed) -> Iterator[str | None]:
    for queue, count in observed.left_messages.items():
        is_explained = count == 0 or "DeadLetter" in queue
        yield None if is_explained else f"{queue} still holds {count} messages"
