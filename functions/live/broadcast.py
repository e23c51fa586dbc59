"""Records of the streams, told to listeners as live events."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from aws_lambda_powertools import Logger
from duecourse.adapters.aws.dynamodb.stream import Record, live_events_of, written_at
from duecourse.app import services, stores
from duecourse.domain.access.tokens import UnusableTokensError
from duecourse.domain.events.event import LiveEvent
from duecourse.usecases.events.broadcast import NEWS_FOR, Heard, push_live

logger = Logger(service="live", child=True)


def push_changes(records: Sequence[Record]) -> None:
    """Raises where it cannot be known who listens: the batch then comes once more."""
    try:
        heard = push_live(_news(records, now=stores.clock().now()), services.audience())
    except UnusableTokensError as error:
        logger.error("nobody is told anything", problem=str(error))
        return
    for one in heard:
        _log(one)


def _news(records: Sequence[Record], *, now: datetime) -> Iterator[LiveEvent]:
    for record in records:
        try:
            if now - written_at(record) <= NEWS_FOR:
                yield from live_events_of(record)
        except Exception:
            # Nobody waits for it, and those behind it are to be heard.
            logger.exception("a record is passed over", keys=record["dynamodb"].get("Keys"))


def _log(heard: Heard) -> None:
    told = {"connection_id": heard.connection.id, "by": heard.connection.token_name}
    if heard.error is not None:
        logger.warning("listener_not_told", extra={**told, "error": repr(heard.error)})
    elif heard.missed:
        logger.warning("listener_missed_events", extra={**told, "missed": heard.missed})
    elif heard.ended:
        logger.info("listener_gone", extra={**told, "reason": heard.ended})
