"""Send stream records to WebSocket connections as live events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from aws_lambda_powertools import Logger
from duecourse.adapters.aws.dynamodb.stream import Record, parse_live_events, written_at
from duecourse.app import services, stores
from duecourse.domain.access.tokens import InvalidTokensError
from duecourse.domain.events.event import LiveEvent
from duecourse.usecases.events.broadcast import MAX_EVENT_AGE, BroadcastResult, broadcast

logger = Logger(service="live", child=True)


def broadcast_records(records: Sequence[Record]) -> None:
    """Send the records. Raises if the connections cannot be read; then the batch is retried."""
    try:
        results = broadcast(
            _recent_events(records, now=stores.clock().now()), services.broadcast_deps()
        )
    except InvalidTokensError as error:
        logger.error("api_tokens_invalid", problem=str(error))
        return
    for result in results:
        _log_result(result)


def _recent_events(records: Sequence[Record], *, now: datetime) -> Iterator[LiveEvent]:
    for record in records:
        try:
            if now - written_at(record) <= MAX_EVENT_AGE:
                yield from parse_live_events(record)
        except Exception:
            # Live events are best effort: skip the record and send those after it.
            logger.exception("record_skipped", keys=record["dynamodb"].get("Keys"))


def _log_result(result: BroadcastResult) -> None:
    connection = {"connection_id": result.connection.id, "by": result.connection.token_name}
    if result.error is not None:
        logger.warning("broadcast_failed", extra={**connection, "error": repr(result.error)})
    elif result.missed_count:
        logger.warning(
            "broadcast_events_missed", extra={**connection, "missed": result.missed_count}
        )
    elif result.end_reason:
        logger.info("connection_closed", extra={**connection, "reason": result.end_reason})
