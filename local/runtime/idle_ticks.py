"""Find the next tick of the scanner and the sweeper that could find anything to do.

Without this, a jump over a year would run half a million ticks that do nothing. A tick is skipped
only if the function would change and send nothing: the scanner needs an open task beyond its cursor
that is due soon; the sweeper an overdue task, a recovering breaker, a blocked task past its
timeout, or a task whose code was redeployed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from duecourse.adapters.aws.dynamodb.circuit_breakers import STATE_KEY as BREAKERS_KEY
from duecourse.adapters.aws.dynamodb.circuit_breakers import to_breaker
from duecourse.adapters.aws.dynamodb.deployments import STATE_KEY as DEPLOYMENT_KEY
from duecourse.adapters.aws.dynamodb.scan_cursors import STATE_KEY as CURSOR_KEY
from duecourse.adapters.aws.dynamodb.task_mapper import AWAITING_FIX, BLOCKED
from duecourse.app import registry, stores
from duecourse.domain.dispatch.timing import LOOKAHEAD
from duecourse.domain.limits.circuit_breaker import CircuitState
from duecourse.domain.time.instant import from_text
from duecourse.usecases.dispatch.recover_expired_leases import GRACE_PERIOD

from local.runtime.moto_tables import ALWAYS, every_tick_if_unreadable, get_table, state_value


@every_tick_if_unreadable
def scanner_needed_from() -> datetime | None:
    cursor = _scan_cursor()
    if cursor is None:
        return ALWAYS  # the first tick sets the cursor
    undispatched = [due_at for due_at in _open_due_times() if due_at >= from_text(cursor)]
    return min(undispatched) - LOOKAHEAD if undispatched else None


@every_tick_if_unreadable
def sweeper_needed_from() -> datetime | None:
    if _has_redeployed_fix():
        return ALWAYS
    moments = [due_at + GRACE_PERIOD for due_at in _open_due_times()]
    return min([*moments, *_breaker_recovery_times(), *_blocked_timeouts()], default=None)


def _breaker_recovery_times() -> list[datetime]:
    stored = _load_state(BREAKERS_KEY).get("breakers", {}).values()
    returning = [one for one in map(to_breaker, stored) if one.state is CircuitState.RETURNING]
    return [one.state_until for one in returning if one.state_until is not None]


def _blocked_timeouts() -> list[datetime]:
    blocked = [attrs for shard, attrs in _due_index_items() if shard == BLOCKED]
    since = [attrs.get("blocked_at", attrs["due_at"]).value for attrs in blocked]
    return [from_text(one) + stores.settings().blocked_timeout for one in since]


def _has_redeployed_fix() -> bool:
    """Return whether a task waits that failed with a code version other than the deployed one."""
    waiting = [attrs["run"].value for shard, attrs in _due_index_items() if shard == AWAITING_FIX]
    if not waiting:
        return False
    version, deployment = registry.deployed_version(), _load_state(DEPLOYMENT_KEY)
    if deployment.get("version") == version and deployment["is_done"]:
        return False
    return any(json.loads(run)["handler_version"] != version for run in waiting)


def _open_due_times() -> list[datetime]:
    return [_due_time(attrs) for shard, attrs in _due_index_items() if shard >= 0]


def _due_time(attrs: dict[str, Any]) -> datetime:
    """Return the due time, or ALWAYS if unreadable: every sweep has to record such an item."""
    try:
        return from_text(attrs["due_at"].value)
    except ValueError:
        return ALWAYS


def _due_index_items() -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the shard and attributes of every item in the due index."""
    for item in get_table("TasksTable").all_items():
        if "due_shard" in item.attrs:
            yield int(item.attrs["due_shard"].value), item.attrs


def _scan_cursor() -> str | None:
    return min(_load_state(CURSOR_KEY).values(), default=None)


def _load_state(key: str) -> dict[str, Any]:
    for item in get_table("StateTable").all_items():
        if item.attrs["key"].value == key:
            stored: dict[str, Any] = state_value(item.attrs)
            return stored
    return {}
