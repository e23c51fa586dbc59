"""All circuit breakers in one state item, replaced only if its version is unchanged."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

from pynamodb.exceptions import DoesNotExist, PutError, TransactWriteError
from pynamodb.expressions.condition import Condition

from duecourse.adapters.aws.dynamodb.conditions import is_conflict
from duecourse.adapters.aws.dynamodb.models import JournalItem, StateItem
from duecourse.adapters.aws.dynamodb.state import read_state
from duecourse.adapters.aws.dynamodb.stored_item import read_item
from duecourse.adapters.aws.dynamodb.transaction import write_transaction
from duecourse.adapters.runtime.unreadable_items import set_aside
from duecourse.domain.errors import UnreadableItemError
from duecourse.domain.limits.circuit_breaker import CircuitBreaker, CircuitState
from duecourse.domain.limits.circuit_breakers import CircuitBreakers, StaleCircuitBreakersError
from duecourse.domain.tasks.event import Event
from duecourse.domain.time.instant import from_text, to_text

STATE_KEY = "breakers"
# Stored name to field name.
_INSTANT_FIELDS = {"opened_at": "opened_at", "since": "state_changed_at", "until": "state_until"}
_COUNT_FIELDS = {
    "failures": "failures",
    "reopened": "reopen_count",
    "step": "window_limit",
    "admitted": "window_admitted",
}


class DynamoCircuitBreakerStore:
    def __init__(self, *, retention: timedelta) -> None:
        self._retention = retention

    def load(self) -> CircuitBreakers:
        """Return all breakers. What is unreadable is recorded and counts as closed.

        A corrupt item is replaced by the next change; an item of newer code never is.
        """
        try:
            item = StateItem.get(STATE_KEY, consistent_read=True)
        except DoesNotExist:
            return CircuitBreakers()
        try:
            return read_item(item, _to_breakers)
        except UnreadableItemError:
            return CircuitBreakers(version=int(item.version or 0), is_read_only=item.is_newer)

    def save(self, before: CircuitBreakers, after: CircuitBreakers, event: Event | None) -> None:
        # Two writers may compute the same change. The token shows whether a lost condition was our
        # own write, whose response was lost.
        token = str(uuid.uuid4())
        breakers = {name: _to_stored(breaker) for name, breaker in after.breakers.items()}
        value = {"written_by": token, "breakers": {**after.unreadable, **breakers}}
        item = StateItem(STATE_KEY, value=value, version=after.version)
        # The version of a corrupt item may be missing or no number.
        is_first = ~StateItem.version.is_type()
        unchanged = StateItem.version == before.version if before.version else is_first
        try:
            self._write(item, unchanged, event)
        except (PutError, TransactWriteError) as error:
            if not is_conflict(error):
                raise
            if not _is_written_by(token):
                raise StaleCircuitBreakersError from error

    def _write(self, item: StateItem, condition: Condition, event: Event | None) -> None:
        if event is None:
            item.save(condition)
            return
        with write_transaction() as transaction:
            transaction.save(item, condition)
            transaction.save(self._to_journal_item(event, int(item.version or 0)))

    def _to_journal_item(self, event: Event, version: int) -> JournalItem:
        return JournalItem(
            event.task_id,
            f"e#{version:010d}#0",
            at=to_text(event.at),
            type=str(event.type),
            detail=event.detail,
            expires_at=int((event.at + self._retention).timestamp()),
        )


def _to_breakers(item: StateItem) -> CircuitBreakers:
    readable, unreadable = {}, {}
    for provider, stored in item.value["breakers"].items():
        try:
            readable[provider] = to_breaker(stored)
        except Exception as error:  # noqa: BLE001 - whatever is wrong with it, the others are read
            unreadable[provider] = stored
            reason = f"{type(error).__name__} while it was read"
            set_aside(UnreadableItemError(f"circuit breaker {provider}", reason))
    return CircuitBreakers(readable, int(item.version or 0), unreadable)


def _is_written_by(token: str) -> bool:
    try:
        return read_state(STATE_KEY, lambda item: item.value["written_by"]) == token
    except UnreadableItemError:
        return False  # we wrote a readable one


def _to_stored(breaker: CircuitBreaker) -> dict[str, Any]:
    """Return the breaker as JSON, without default values."""
    instants: dict[str, datetime | None] = {
        name: getattr(breaker, field) for name, field in _INSTANT_FIELDS.items()
    }
    stored = {
        "state": str(breaker.state),
        "failed_at": [to_text(at) for at in breaker.failed_at],
        **{name: to_text(at) for name, at in instants.items() if at is not None},
        **{name: getattr(breaker, field) for name, field in _COUNT_FIELDS.items()},
        "probe": breaker.probe_task_id,
    }
    return {name: value for name, value in stored.items() if value}


def to_breaker(stored: dict[str, Any]) -> CircuitBreaker:
    values: dict[str, Any] = {
        field: int(stored[name]) for name, field in _COUNT_FIELDS.items() if name in stored
    }
    values |= {
        field: from_text(stored[name]) for name, field in _INSTANT_FIELDS.items() if name in stored
    }
    failed_at = tuple(from_text(at) for at in stored.get("failed_at", ()))
    return CircuitBreaker(
        state=CircuitState(stored["state"]),
        failed_at=failed_at,
        probe_task_id=stored.get("probe"),
        **values,
    )
