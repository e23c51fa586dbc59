"""Follows the streams: keeps what happened, puts it on the event bus and has people told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.adapters.aws.dynamodb.stream import Record, breaker_events, is_of_task, task_change
from duecourse.adapters.runtime.unreadable_items import reports_unreadable
from duecourse.app import services, stores
from duecourse.domain.errors import UnpublishedError
from duecourse.domain.events.bus_filter import BusEvents, for_the_bus
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.journal.counters import Increment
from duecourse.usecases.journal.project_change import Kept, record_history
from duecourse.usecases.runs.sync_spec_review import follow_review

from .batch import Batch

logger = Logger(service="journal")


@logger.inject_lambda_context
@reports_unreadable(logger)
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Programs know by its id what comes twice. People do not: they are told when those were, and
    by one container not again, however often a record brings those after it along."""
    batch = Batch(event["Records"])
    batch.keep(_kept)
    untaken = _publish(batch.events)
    if untaken is not None:
        batch.fail_from(untaken)
    batch.tell(_tell)
    _count(batch.increments)
    return batch.reply()


def _kept(record: Record) -> Kept:
    """Whatever follows from one committed change, before anybody hears of it."""
    if not is_of_task(record):
        return Kept(events=breaker_events(record))
    change = task_change(record)
    if not change.is_known:
        # What changed cannot be told. Reviews go by how tasks stand, whatever changed.
        follow_review(None, change.new, services.follower())
        return Kept()
    kept = record_history(change.old, change.new, services.clerk(), at=change.at)
    if kept.uncounted is not None:
        logger.warning("a run is missing from what is learnt", error=str(kept.uncounted))
    follow_review(change.old, change.new, services.follower())
    return kept


def _publish(events: Sequence[LiveEvent]) -> LiveEvent | None:
    """The first that the bus has not taken, of those that go on it; None where it has all."""
    wanted = for_the_bus(events, BusEvents(stores.settings().bus_events))
    if not wanted:
        return None
    try:
        stores.bus().publish(wanted)
    except UnpublishedError as error:
        logger.exception("the rest will be tried again", taken=error.taken, events=len(wanted))
        return wanted[error.taken]
    return None


def _tell(kept: Kept) -> None:
    for notice in kept.notices:
        if notice.key not in stores.told():
            stores.notices().send(notice)
            stores.told().append(notice.key)


def _count(increments: Sequence[Increment]) -> None:
    """How late runs were: one write for the batch, which counts twice if the batch comes twice.

    By now all history is kept. To have the batch come again for the sake of this would replay it
    as long as the counters cannot be written, so what cannot be counted is logged and let go.
    """
    try:
        stores.stats().add(increments)
    except Exception:
        logger.exception("runs are missing in the statistics", increments=len(increments))
