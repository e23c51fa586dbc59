"""Derive what one committed change brings: journal entries, events, notifications, counts.

Nothing is stored here, so the same change always gives the same result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from duecourse.domain.chat.chat_address import ChatAddress
from duecourse.domain.chat.notification import Notification
from duecourse.domain.chat.notifications_for import notifications_for
from duecourse.domain.events.event import LiveEvent, build_live_events
from duecourse.domain.journal.counted_runs import counted_run_increment, run_to_name
from duecourse.domain.journal.counters import count_change
from duecourse.domain.journal.failed_runs import failed_run_increment, is_named_by_counters
from duecourse.domain.journal.failure_tracker import FailureTracker, find_changed_tracker
from duecourse.domain.journal.history import ended_run
from duecourse.domain.journal.increment import Increment
from duecourse.domain.journal.journal_entries import JournalEntries, to_journal_entries
from duecourse.domain.journal.learned_patterns import (
    LearnedCorrection,
    find_learned_correction,
)
from duecourse.domain.tasks.task import Task


@dataclass(frozen=True, kw_only=True, slots=True)
class ProjectedChange:
    """What a change brings. `tracker` and `correction` are stored beside the journal."""

    entries: JournalEntries | None = None
    tracker: FailureTracker | None = None
    correction: LearnedCorrection | None = None
    events: Sequence[LiveEvent] = ()
    notifications: Sequence[Notification] = ()
    increments: Sequence[Increment] = ()


@dataclass(frozen=True)
class ProjectionSettings:
    operator_chats: Sequence[ChatAddress]
    late_after: timedelta


def project_change(
    old: Task | None,
    new: Task | None,
    settings: ProjectionSettings,
    *,
    at: datetime,
    counted_at: datetime | None = None,
) -> ProjectedChange:
    """Return what the change from `old` to `new` brings: nothing if the task expired.

    `at` is the time of the write, and `counted_at` the time at which it is counted, if they differ.
    """
    if new is None:
        return ProjectedChange()
    is_named = is_named_by_counters(old, new, counted_at=counted_at or at)
    entries = to_journal_entries(old, new, at=at, is_named_by_counters=is_named)
    increments = count_change(old, new, late_after=settings.late_after)
    run = ended_run(old, new)
    if is_named:
        increments.append(failed_run_increment(new))
    named = run_to_name(old, new)
    if named is not None and (entries.record is None or counted_at is not None):
        increments.append(counted_run_increment(named, counted_at=counted_at or at))
    return ProjectedChange(
        entries=None if entries.is_empty else entries,
        tracker=find_changed_tracker(old, new),
        correction=find_learned_correction(old, new, run, at=at) if run else None,
        events=build_live_events(old, new, at=at),
        notifications=[
            replace(one, changed_at=at)
            for one in notifications_for(old, new, settings.operator_chats)
        ],
        increments=increments,
    )
