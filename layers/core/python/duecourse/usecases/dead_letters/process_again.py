"""Process a change of a dead letter of the journal again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timedelta

from duecourse.domain.dispatch.unjournaled import Record
from duecourse.domain.events.stream_change import StreamChange
from duecourse.domain.journal.counted_runs import run_to_name
from duecourse.ports.queues import DeadLetters
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.journal.counted_runs import CountedRuns
from duecourse.usecases.journal.process_changes import JournalDeps, process_changes

COUNTABLE = timedelta(hours=24)


@dataclass(frozen=True, kw_only=True)
class RejournalDeps:
    """`has_time`: whether the request has time for more. `counted_runs` belongs to one request."""

    parse_change: Callable[[Record], StreamChange]
    journal_deps: JournalDeps
    store: TaskStore
    dead_letters: DeadLetters
    counted_runs: CountedRuns
    has_time: Callable[[], bool]


def process_again(change: StreamChange, deps: RejournalDeps) -> bool:
    """Process the change and return whether that worked. Repeating this counts nothing twice.

    It is counted in a shard of its own: the stream's shard has moved on, and would take the change
    for one that it counted.
    """
    now = deps.journal_deps.wait_sync.clock.now()
    run = run_to_name(change.old, change.new) if change.is_known and change.new else None
    # Older days are summed up and final, so what is redriven later counts with today's changes.
    # Its page then depends on the time of redriving, so only its name tells that it was counted.
    redriven = replace(
        change,
        counted_at=max(change.written_at, now - COUNTABLE),
        is_counted=run is not None and deps.counted_runs.has_name(run, now=now),
    )
    if run is not None:
        # Also if it fails: its letter tries it again, and no other letter of this request.
        deps.counted_runs.add(run)
    shard_id = f"redriven-{change.task_id}-{change.sequence_number}"
    return process_changes([redriven], shard_id, deps.journal_deps) == 1
