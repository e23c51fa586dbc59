"""Which runs failed on a day, as members of the counters `failed#<category>`.

A page of counters is written for each batch of changes anyway. If it names the runs that failed, a
failure needs neither an entry by category nor an audit entry of its own: both are derived from the
run's record. That holds for failures that are counted on the day on which they began and ended, so
that a reader of that day finds them. All others have these entries.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime

from duecourse.domain.journal.audit import to_audit_entry
from duecourse.domain.journal.history import ended_run, is_amendment
from duecourse.domain.journal.increment import Increment
from duecourse.domain.journal.learning_counters import RunRef
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.utc_days import utc_day

FAILED_PREFIX = "failed#"
_AUDITED, _NOT_AUDITED = "a", "-"


@dataclass(frozen=True, order=True, slots=True)
class FailedRun:
    """`category`: at the end of the run. A person may have reclassified it since."""

    ref: RunRef
    category: str
    is_audited: bool


def is_named_by_counters(old: Task | None, new: Task, *, counted_at: datetime) -> bool:
    """Return whether the change ended a run that failed and is counted on its own day.

    A run that waited for verification has an audit entry since then, which has to be replaced.
    """
    run = ended_run(old, new)
    if run is None or old is None or not run.is_failure or is_amendment(run, old):
        return False
    ended_at = run.ended_or_started_at
    days = {utc_day(at) for at in (run.started_at, ended_at, counted_at)}
    return old.status is Status.IN_PROGRESS and len(days) == 1


def failed_run_increment(task: Task) -> Increment:
    """Return the increment that names the task's last run, which failed."""
    run = task.run
    assert run is not None  # noqa: S101 - a task whose run ended has one
    ended_at = run.ended_or_started_at
    ref = RunRef(ended_at, task.id, run.id, run.started_at)
    mark = _NOT_AUDITED if to_audit_entry(task, run) is None else _AUDITED
    name = f"{FAILED_PREFIX}{run.error_category}"
    return Increment(utc_day(ended_at), name, members=frozenset({f"{ref.to_text()} {mark}"}))


def read_failed_runs(increments: Iterable[Increment]) -> Iterator[FailedRun]:
    """Yield the failed runs that the increments name. A member that cannot be read is left out."""
    for one in increments:
        if one.counter.startswith(FAILED_PREFIX):
            category = one.counter.removeprefix(FAILED_PREFIX)
            yield from filter(None, (_parse(member, category) for member in one.members))


def _parse(member: str, category: str) -> FailedRun | None:
    text, _, mark = member.rpartition(" ")
    try:
        return FailedRun(RunRef.from_text(text), category, is_audited=mark == _AUDITED)
    except ValueError:
        return None
