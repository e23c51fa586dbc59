"""Invariants of tasks that wait: each says why, and until when if the product promises a time."""

from __future__ import annotations

from collections.abc import Iterator

from duecourse.domain.time.instant import from_text

from local.simulate.checks.dispatch import MAX_UNEXPLAINED_DELAY
from local.simulate.observed import Observed
from local.simulate.settling_schedule import PACES
from local.simulate.task_records import Json, TaskRecord

_SWEEPER_GAP = PACES["SweeperFunction"].longest_gap
# These wait without limit: for new code, or for a person who knows whether an effect happened.
_WITHOUT_LIMIT = frozenset({"await_fix", "ask_person"})
_OF_VERIFICATION = frozenset({"verification", "verifier"})


def reasons_stated(observed: Observed) -> Iterator[str | None]:
    """Every open task that does not run at its time says why, and until when."""
    for record in observed.records.values():
        find = _FINDERS.get(record.task["status"])
        if find is not None and (found := find(record, observed.now)) is not None:
            yield f"task {record.name} is {record.task['status']}: {found}" if found else None


def find_missing_in_blocked(record: TaskRecord, now: str) -> str:
    """Return what a blocked task does not state, or nothing."""
    task = record.task
    if not (task["recovery_action"] or task["wait"]):
        return "no reason"
    if task["wait"] and not _has_awaited(task):
        return f"waits for {task['wait']} without saying which"
    is_unlimited = task["recovery_action"] in _WITHOUT_LIMIT or _is_effect_unknown(record)
    if is_unlimited:
        return "" if task["blocked_until"] is None else "a time-out that must not happen"
    if task["blocked_until"] is None:
        return "no time-out"
    is_over = from_text(task["blocked_until"]) + _SWEEPER_GAP < from_text(now)
    return f"not ended at {task['blocked_until']}" if is_over else ""


def find_missing_in_verification(record: TaskRecord, now: str) -> str:
    task = record.task
    if task["wait"] not in _OF_VERIFICATION:
        return f"the reason is {task['wait']}"
    is_timed = task["wait_until"] is not None and task["wait_until"] > now
    return "" if is_timed else f"until {task['wait_until']}"


def find_missing_in_pending(record: TaskRecord, now: str) -> str | None:
    """Return what a deferred task does not state. None if it is not deferred."""
    task = record.task
    if task["wait"] is None or task["paused"]:
        return None
    if not task["wait_text"]:
        return f"no sentence for {task['wait']}"
    # A task that fell due just now is not sent yet.
    is_late = from_text(task["due_at"]) + MAX_UNEXPLAINED_DELAY < from_text(now)
    return f"waits for {task['wait']} until {task['due_at']}" if is_late else ""


def _has_awaited(task: Json) -> bool:
    return task["wait"] != "spec_review" or bool(task["wait_detail"].get("task_id"))


def _is_effect_unknown(record: TaskRecord) -> bool:
    return bool(record.runs) and record.runs[-1]["mutation"]["status"] == "indeterminate"


_FINDERS = {
    "blocked": find_missing_in_blocked,
    "pending_verification": find_missing_in_verification,
    "pending": find_missing_in_pending,
}
