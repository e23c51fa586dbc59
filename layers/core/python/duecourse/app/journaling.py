"""Build what processes the changes of a stream: for the journal, and for redriving its letters."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from duecourse.app import queues, services, stores
from duecourse.app.lazy import lazy

if TYPE_CHECKING:
    from collections.abc import Callable

    from duecourse.domain.errors import PublishError
    from duecourse.domain.events.stream_change import StreamChange
    from duecourse.usecases.dead_letters.process_again import RejournalDeps
    from duecourse.usecases.journal.process_changes import JournalDeps


def journal_deps(
    *,
    set_aside: Callable[[StreamChange, Exception], None],
    on_retry: Callable[[StreamChange, Exception], None],
    on_publish_error: Callable[[PublishError], None],
) -> JournalDeps:
    from duecourse.adapters.aws.retryable import is_retryable
    from duecourse.domain.events.bus_filter import BusFilter
    from duecourse.usecases.events.publish import publish_events
    from duecourse.usecases.journal.process_changes import JournalDeps
    from duecourse.usecases.journal.project_change import ProjectionSettings

    bus_filter = BusFilter(stores.settings().bus_events)
    return JournalDeps(
        settings=ProjectionSettings(stores.operator_chats(), stores.settings().late_after),
        journal=stores.journal(),
        stats=stores.stats(),
        subjects=lazy(stores.subjects),
        patterns=stores.patterns(),
        counters=stores.counters(),
        wait_sync=services.wait_sync_deps(),
        notification_queue=queues.notification_queue(),
        publish=lambda events: publish_events(
            events, queues.event_bus, bus_filter, on_error=on_publish_error
        ),
        is_retryable=is_retryable,
        set_aside=set_aside,
        on_retry=on_retry,
    )


def rejournal_deps(*, has_time: Callable[[], bool]) -> RejournalDeps:
    """Return what redriving letters of the journal needs, for the letters of one request.

    What fails again stays a dead letter.
    """
    from duecourse.adapters.aws.dynamodb.stream import parse_change
    from duecourse.usecases.dead_letters.process_again import RejournalDeps
    from duecourse.usecases.journal.counted_runs import CountedRuns

    def fail_again(change: StreamChange, error: Exception) -> None:
        del change
        raise error

    deps = journal_deps(
        set_aside=fail_again, on_retry=lambda *_: None, on_publish_error=lambda _: None
    )
    deps = replace(deps, journal=stores.redrive_journal())
    return RejournalDeps(
        parse_change=parse_change,
        journal_deps=deps,
        store=stores.task_store(),
        dead_letters=stores.dead_letters(),
        counted_runs=CountedRuns(deps.counters),
        has_time=has_time,
    )
