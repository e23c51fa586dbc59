"""All circuit breakers in one state item, replaced only if its version is unchanged."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

from pynamodb.exceptions import PutError, TransactWriteError
from pynamodb.expressions.condition import Condition

from duecourse.adapters.aws.dynamodb.conditions import is_conflict
from duecourse.adapters.aws.dynamodb.models import JournalItem, StateItem
from duecourse.adapters.aws.dynamodb.state import read_state
from duecourse.adapters.aws.dynamodb.transaction import write_transaction
from duecourse.domain.limits.circuit_breaker import CircuitBreaker, CircuitState
from duecourse.domain.limits.circuit_breakers import CircuitBreakers, StaleCircuitBreakersError
from duecourse.domain.tasks.event import Event
from duecourse.domain.time.instant import from_text, to_text

STATE_KEY = "breakers"
# Stored name to field name.
_INSTANT_FIELDS = {"opened_at": "opened_at", "since": "state_changed_at", "until": "state_until"}
_PLAIN_FIELDS = {
    "failures": "failures",
    "reopened": "reopen_count",
    "probe": "probe_task_id",
    "step": "window_limit",
    "admitted": "window_admitted",
}


class DynamoCircuitBreakerStore:
    def __init__(self, *, retention: timedelta) -> None:
        self._retention = retention

    def load(self) -> CircuitBreakers:
        return read_state(STATE_KEY, _to_panel) or CircuitBreakers()

    def save(self, before: CircuitBreakers, after: CircuitBreakers, event: Event | None) -> None:
        # Two writers may compute the same change. The token shows whether a lost condition was our
        # own write, whose response was lost.
        token = str(uuid.uuid4())
        breakers = {name: _to_stored(breaker) for name, breaker in after.breakers.items()}
        value = {"written_by": token, "breakers": breakers}
        item = StateItem(STATE_KEY, value=value, version=after.version)
        is_first = StateItem.key.does_not_exist()
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


def _to_panel(item: StateItem) -> CircuitBreakers:
    breakers = item.value["breakers"]
    named = {name: to_breaker(stored) for name, stored in breakers.items()}
    return CircuitBreakers(named, int(item.version or 0))


def _is_written_by(token: str) -> bool:
    return read_state(STATE_KEY, lambda item: item.value["written_by"]) == token


def _to_stored(breaker: CircuitBreaker) -> dict[str, Any]:
    """Return the breaker as JSON, without default values."""
    instants: dict[str, datetime | None] = {
        name: getattr(breaker, field) for name, field in _INSTANT_FIELDS.items()
    }
    stored = {
        "state": str(breaker.state),
        "failed_at": [to_text(at) for at in breaker.failed_at],
        **{name: to_text(at) for name, at in instants.items() if at is not None},
        **{name: getattr(breaker, field) for name, field in _PLAIN_FIELDS.items()},
    }
    return {name: value for name, value in stored.items() if value}


def to_breaker(stored: dict[str, Any]) -> CircuitBreaker:
    values: dict[str, Any] = {
        field: stored[name] for name, field in _PLAIN_FIELDS.items() if name in stored
    }
    values |= {
        field: from_text(stored[name]) for name, field in _INSTANT_FIELDS.items() if name in stored
    }
    failed_at = tuple(from_text(at) for at in stored.get("failed_at", ()))
    return CircuitBreaker(state=CircuitState(stored["state"]), failed_at=failed_at, **values)
