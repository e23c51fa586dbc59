"""When runs start: not before their task is due, and without a fault not much later."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from duecourse.app import stores
from duecourse.domain.failures.policy import LimitUnit
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.failure_kind import ClearsBy
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import from_text

from local.simulate.observed import Observed, changes_of_tasks

# The scanner ticks once a minute; while the world settles, only after the due time. The sweeper
# sends what was not sent, up to six minutes later.
MAX_UNEXPLAINED_DELAY = timedelta(seconds=75)
LASTING = timedelta(minutes=1)  # of the faults that last
# Where a fault may delay a task: what writes, sends, receives and runs it.
_PLACES = (
    *("api ", "chat ", "webhook ", "worker ", "failure ", "scanner ", "sweeper ", "deadletter "),
    *("WorkQueue", "SlowWorkQueue", "FailuresQueue", "ChatQueue", "TasksTable call", "StateTable"),
)
_HARMLESS = frozenset({"cold-start", "index-lag", "older-item", "unknown-attribute", "old-code"})


def starts_on_time(observed: Observed) -> Iterator[str | None]:
    """Without a fault on its way, a task starts when it is due, or was written if that is later."""
    written: dict[str | None, datetime] = {}
    for change in observed.changes:
        since = written.get(change.task_id, change.written_at)
        written[change.task_id] = change.written_at
        old = None if change.task_id in observed.newer_ids else change.old
        if old is None or old.wait is not None or not _is_start(old, change.new):
            continue
        if not _has_fault_between(observed, min(since, old.due_at), change.written_at):
            late = change.written_at - max(old.due_at, since)
            text = f"task {observed.name_of(change.task_id)} started {late} after it was due"
            yield text if late > MAX_UNEXPLAINED_DELAY else None


def crashes_explained(observed: Observed) -> Iterator[str | None]:
    """A run is taken for crashed only after a fault: a worker reports all else that happens."""
    for record in observed.records.values():
        for run in record.runs:
            started_at = from_text(run["started_at"])
            ended_at = from_text(run["ended_at"] or observed.now)
            if not _has_fault_between(observed, started_at, ended_at):
                text = f"task {record.name}: run {run['id'][:8]} is crashed, and no fault struck"
                yield text if run["status"] == "crashed" else None


def retries_limited(observed: Observed) -> Iterator[str | None]:
    """A task is retried as often as its policy allows, at most."""
    for old, new in changes_of_tasks(observed):
        if new.next_retry_at is not None and new.retry_count > old.retry_count:
            limit = _find_retry_limit(new)
            text = f"task {observed.name_of(new.id)}: retry {new.retry_count} of {limit}"
            yield None if new.retry_count <= limit else text


def _find_retry_limit(task: Task) -> int:
    policy = stores.policies()[task.policy]
    category = policy.categories.get(task.last_error_category or "")
    limit = category.limit if category is not None else None
    most = task.max_retries if limit is None else min(limit, task.max_retries)
    return most - 1 if policy.limit_unit is LimitUnit.RUNS else most


def retries_wait_as_asked(observed: Observed) -> Iterator[str | None]:
    """A retry waits for as long as the other side asked for with Retry-After."""
    for old, new in changes_of_tasks(observed):
        note = new.run.diagnosis if new.run else None
        is_retried = old.status is Status.IN_PROGRESS and new.next_retry_at is not None
        if is_retried and note is not None and note.counted and note.retry_after is not None:
            waited = new.next_retry_at - new.run.started_at
            text = f"task {observed.name_of(new.id)}: retry {waited} after the start of its run"
            yield None if waited >= note.retry_after else f"{text}, not {note.retry_after}"


def persons_asked_at_once(observed: Observed) -> Iterator[str | None]:
    """What only a person can clear is not retried. A task whose provider is paused waits."""
    for old, new in changes_of_tasks(observed):
        note = new.run.diagnosis if new.run else None
        is_reported = old.status is Status.IN_PROGRESS and note is not None and note.counted
        if is_reported and note is not None and note.origin in (Origin.WORK, Origin.ANSWER):
            is_persons = new.last_error_clears_by is ClearsBy.PERSON
            text = f"task {observed.name_of(new.id)} is retried after {new.last_error_kind}"
            yield text if is_persons and new.next_retry_at is not None else None


def _is_start(old: Task, new: Task | None) -> bool:
    is_running = new is not None and new.status is Status.IN_PROGRESS
    return is_running and old.status is Status.PENDING


def _has_fault_between(observed: Observed, start: datetime, end: datetime) -> bool:
    """Return whether a fault may have delayed a task between these times."""
    return any(
        one.point.startswith(_PLACES)
        and one.name not in _HARMLESS
        and (one.name == "clock-skew" or start - LASTING <= observed.starts_at + one.at <= end)
        for one in observed.struck
    )
