"""Which runs were counted, as members of the counter `counted`.

It names the successful runs that closed their tasks. They have no record, because the task keeps
its run, so this name is the only durable fact that tells whether the journal processed their end.
It also names all runs of redriven changes, so that redriving again counts none of them twice.

A name is a checksum of the run's id and takes about five bytes of a page of counters. Among 40,000
runs of a day, one in 100,000 shares its name with another; if that one is lost, a repair leaves it
out.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from zlib import crc32

from duecourse.domain.journal.history import ended_run, is_amendment
from duecourse.domain.journal.increment import Increment
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.utc_days import utc_day

COUNTED_COUNTER = "counted"


def run_to_name(old: Task | None, new: Task) -> Run | None:
    """Return the run that this change ended, else None. An amendment counts something of its own,
    so the name of its run does not tell whether that was counted."""
    run = ended_run(old, new)
    return None if run is not None and old is not None and is_amendment(run, old) else run


def counted_run_name(run: Run) -> str:
    return f"{crc32(run.id.encode()):08x}"


def counted_run_increment(run: Run, *, counted_at: datetime) -> Increment:
    """Return the increment that names the run, on the day on which its end is counted."""
    members = frozenset({counted_run_name(run)})
    return Increment(utc_day(counted_at), COUNTED_COUNTER, members=members)


def read_counted_runs(increments: Iterable[Increment]) -> frozenset[str]:
    """Return the names in the increments."""
    named = (one.members for one in increments if one.counter == COUNTED_COUNTER)
    return frozenset[str]().union(*named)
