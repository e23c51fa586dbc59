"""All breakers in one item of the state table, replaced on condition of its version."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import Any

from pynamodb.exceptions import PutError, TransactWriteError
from pynamodb.expressions.condition import Condition

from duecourse.adapters.aws.dynamodb.conditions import lost_a_race
from duecourse.adapters.aws.dynamodb.models import JournalItem, StateItem
from duecourse.adapters.aws.dynamodb.state import read_state
from duecourse.adapters.aws.dynamodb.transaction import together
from duecourse.domain.limits.circuit_breaker import Breaker, State
from duecourse.domain.limits.circuit_breakers import Panel, StaleBreakersError
from duecourse.domain.tasks.event import Event
from duecourse.domain.time.instant import from_text, to_text

KEY = "breakers"
_INSTANTS = ("opened_at", "since", "until")
_PLAIN = ("failures", "reopened", "probe", "step", "admitted")


class DynamoBreakers:
    def __init__(self, *, retention: timedelta) -> None:
        self._retention = retention

    def load(self) -> Panel:
        return read_state(KEY, _to_panel) or Panel()

    def save(self, before: Panel, after: Panel, event: Event | None) -> None:
        # Two writers may decide the same: the token tells one's own write from its twin.
        token = str(uuid.uuid4())
        breakers = {name: _to_stored(breaker) for name, breaker in after.breakers.items()}
        value = {"written_by": token, "breakers": breakers}
        item = StateItem(KEY, value=value, version=after.version)
        is_first = StateItem.key.does_not_exist()
        unchanged = StateItem.version == before.version if before.version else is_first
        try:
            self._write(item, unchanged, event)
        except (PutError, TransactWriteError) as error:
            if not lost_a_race(error):
                raise
            if not _is_by(token):
                raise StaleBreakersError from error

    def _write(self, item: StateItem, unchanged: Condition, event: Event | None) -> None:
        if event is None:
            item.save(unchanged)
            return
        with together() as transaction:
            transaction.save(item, unchanged)
            transaction.save(self._journaled(event, int(item.version or 0)))

    def _journaled(self, event: Event, version: int) -> JournalItem:
        return JournalItem(
            event.task_id,
            f"e#{version:010d}#0",
            at=to_text(event.at),
            type=str(event.type),
            detail=event.detail,
            expires_at=int((event.at + self._retention).timestamp()),
        )


def _to_panel(item: StateItem) -> Panel:
    breakers = item.value["breakers"]
    named = {name: to_breaker(stored) for name, stored in breakers.items()}
    return Panel(named, int(item.version or 0))


def _is_by(token: str) -> bool:
    return read_state(KEY, lambda item: item.value["written_by"]) == token


def _to_stored(breaker: Breaker) -> dict[str, Any]:
    """Without what is a default."""
    instants: dict[str, datetime | None] = {name: getattr(breaker, name) for name in _INSTANTS}
    stored = {
        "state": str(breaker.state),
        "failed_at": [to_text(at) for at in breaker.failed_at],
        **{name: to_text(at) for name, at in instants.items() if at is not None},
        **{name: getattr(breaker, name) for name in _PLAIN},
    }
    return {name: value for name, value in stored.items() if value}


def to_breaker(stored: dict[str, Any]) -> Breaker:
    values: dict[str, Any] = {name: stored[name] for name in _PLAIN if name in stored}
    values |= {name: from_text(stored[name]) for name in _INSTANTS if name in stored}
    failed_at = tuple(from_text(at) for at in stored.get("failed_at", ()))
    return Breaker(state=State(stored["state"]), failed_at=failed_at, **values)
