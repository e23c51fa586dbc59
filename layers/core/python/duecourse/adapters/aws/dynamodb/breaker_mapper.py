"""Convert a circuit breaker to JSON and back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from duecourse.domain.limits.circuit_breaker import CircuitBreaker, CircuitState
from duecourse.domain.time.instant import from_text, to_text

# Stored name to field name.
_INSTANT_FIELDS = {
    "opened_at": "opened_at",
    "reached_at": "reached_at",
    "since": "state_changed_at",
    "until": "state_until",
}
_COUNT_FIELDS = {
    "failures": "failures",
    "reopened": "reopen_count",
    "step": "window_limit",
    "admitted": "window_admitted",
}


def to_stored(breaker: CircuitBreaker) -> dict[str, Any]:
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
        "key_refused": breaker.is_key_refused,
        "refused_run": breaker.refused_run_id,
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
        is_key_refused=stored.get("key_refused") is True,
        refused_run_id=stored.get("refused_run"),
        **values,
    )
