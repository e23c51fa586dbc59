"""Redrive dead letters of the journal: process their changes again, or repair what is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import cache

from duecourse.domain.dispatch.dead_letter import DeadLetter
from duecourse.domain.dispatch.unjournaled import (
    Record,
    StreamPosition,
    UnjournaledRecords,
    is_journaled,
    parse_unjournaled,
)
from duecourse.domain.events.stream_change import StreamChange
from duecourse.domain.requests.task_filter import TaskFilter
from duecourse.ports.tasks import TaskStore
from duecourse.usecases.journal.process_changes import JournalDeps, process_changes
from duecourse.usecases.journal.repair_task import find_lost_change

FAILED_AGAIN = "the journal failed on it again: search its log for the task's id"
UNREADABLE = "it names neither records nor a position in the stream"
COUNTABLE = timedelta(hours=24)
_PAGE_SIZE = 100


@dataclass(frozen=True)
class RejournalDeps:
    parse_change: Callable[[Record], StreamChange]
    journal_deps: JournalDeps
    store: TaskStore


def rejournal(letter: DeadLetter, deps: RejournalDeps) -> str | None:
    """Process the letter's changes again; return why that was not possible, else None.

    Each change is counted in a shard of its own, so that repeating this counts nothing twice: the
    stream's shard has moved on, and would take the change for one that it counted.
    """
    try:
        changes = list(_changes(parse_unjournaled(letter.body), deps))
    except (AttributeError, KeyError, TypeError, ValueError):
        return UNREADABLE
    oldest = deps.journal_deps.wait_sync.clock.now() - COUNTABLE
    for change in changes:
        shard_id = f"redriven-{change.task_id}-{change.sequence_number}"
        # Older days are summed up and final, so what is redriven later counts with today's changes.
        redriven = replace(change, counted_at=max(change.written_at, oldest))
        if process_changes([redriven], shard_id, deps.journal_deps) == 0:
            return FAILED_AGAIN
    return None


def _changes(
    content: UnjournaledRecords | StreamPosition, deps: RejournalDeps
) -> Iterator[StreamChange]:
    if isinstance(content, UnjournaledRecords):
        yield from map(deps.parse_change, filter(is_journaled, content.records))
        return
    now = deps.journal_deps.wait_sync.clock.now()
    journal, counters = deps.journal_deps.journal, deps.journal_deps.counters

    @cache  # a day's pages are read once, not once for each task
    def list_counted(day: str) -> frozenset[str]:
        return frozenset(one.ref.run_id for one in counters.list_failed_runs(day))

    cursor = None
    while True:
        page = deps.store.list_page(TaskFilter(), limit=_PAGE_SIZE, cursor=cursor, now=now)
        for task in page.items:
            change = find_lost_change(
                task, journal, list_counted, since=content.started_at, until=content.ended_at
            )
            if change is not None:
                yield change
        cursor = page.next_cursor
        if cursor is None:
            return
