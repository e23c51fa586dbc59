"""Consumes the DynamoDB streams: journals changes, publishes events and sends notifications."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.utilities.typing import LambdaContext
from duecourse.adapters.aws.dynamodb.stream import (
    Record,
    breaker_events,
    is_task_record,
    parse_task_change,
)
from duecourse.adapters.runtime.unreadable_items import reports_unreadable
from duecourse.app import queues, services, stores
from duecourse.domain.errors import PublishError
from duecourse.domain.events.bus_filter import BusFilter, filter_for_bus
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.journal.counters import Increment
from duecourse.usecases.journal.project_change import ProjectedChange, project_change
from duecourse.usecases.tasks.sync_waiting_task import sync_waiting_task

from .batch import Batch

logger = Logger(service="journal")
metrics = Metrics(service="journal")


@logger.inject_lambda_context
@reports_unreadable(logger, metrics, is_only_metric=True)
def handler(event: dict[str, Any], _context: LambdaContext) -> dict[str, Any]:
    """Process a batch and return the records to retry.

    Consumers drop duplicates by event id. People cannot, so they are notified only after publishing
    succeeded, and at most once per container.
    """
    batch = Batch(event["Records"])
    batch.project(_project_record)
    unpublished = _publish(batch.events)
    if unpublished is not None:
        batch.fail_from(unpublished)
    batch.notify(_send_notifications)
    _add_increments(batch.increments)
    return batch.response()


def _project_record(record: Record) -> ProjectedChange:
    """Journal one record and return what is to be published, sent and counted."""
    if not is_task_record(record):
        return ProjectedChange(events=breaker_events(record))
    change = parse_task_change(record)
    if not change.is_known:
        # Without the old image the change is unknown. Reviews depend on the current state only.
        sync_waiting_task(None, change.new, services.wait_sync_deps())
        return ProjectedChange()
    projected = project_change(change.old, change.new, services.journal_deps(), at=change.at)
    if projected.count_error is not None:
        logger.warning("run_not_learned", error=str(projected.count_error))
    sync_waiting_task(change.old, change.new, services.wait_sync_deps())
    return projected


def _publish(events: Sequence[LiveEvent]) -> LiveEvent | None:
    """Publish the events selected by the bus filter; return the first unpublished one, if any."""
    selected = filter_for_bus(events, BusFilter(stores.settings().bus_events))
    if not selected:
        return None
    try:
        queues.event_bus().publish(selected)
    except PublishError as error:
        logger.exception(
            "events_not_published", published=error.published_count, selected=len(selected)
        )
        return selected[error.published_count]
    return None


def _send_notifications(projected: ProjectedChange) -> None:
    for notification in projected.notifications:
        if notification.idempotency_key not in queues.sent_notification_keys():
            queues.notification_queue().send(notification)
            queues.sent_notification_keys().append(notification.idempotency_key)


def _add_increments(increments: Sequence[Increment]) -> None:
    """Add the counters with one write for the batch. A retried batch counts twice.

    The history is stored by now. Failing the batch would replay it for as long as the counters
    cannot be written, so errors are only logged.
    """
    try:
        stores.stats().add(increments)
    except Exception:
        logger.exception("runs_not_counted", increments=len(increments))
