"""Run records as items of the journal."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from pynamodb.expressions.update import Action

from duecourse.adapters.aws.dynamodb.error_cursor import ERROR_PREFIX
from duecourse.adapters.aws.dynamodb.journal_models import JournalItem
from duecourse.adapters.aws.dynamodb.older_items import read_run
from duecourse.domain.journal.failure_events import error_detail
from duecourse.domain.journal.learning_counters import RunRef
from duecourse.domain.journal.run_record import RunRecord, events_from_stored, events_to_stored
from duecourse.domain.lifecycle.correction import apply_late_report
from duecourse.domain.requests.stored_run import run_to_stored
from duecourse.domain.tasks.late_report import LateReport
from duecourse.domain.time.instant import from_text, from_text_or_none, to_text, to_text_or_none
from duecourse.domain.time.utc_days import utc_day

_AMENDABLE = ("ended_run", "next_retry_at")


def to_record_item(record: RunRecord, *, retention: timedelta) -> JournalItem:
    """Return the item of a run, keyed by start and id, so writing it twice gives the same item."""
    run, ended_at = record.run, record.run.ended_or_started_at
    values: dict[str, Any] = {
        "ended_run": run_to_stored(run),
        "events": events_to_stored(record) or None,
        "version": record.version,
    }
    if run.is_failure:
        values |= {
            "subject": record.subject,
            "policy": record.policy,
            "provider": record.provider,
            "next_retry_at": to_text_or_none(record.next_retry_at),
            "audit": list(record.audit) if record.audit else None,
        }
    return JournalItem(
        record.task_id,
        _entry_key(run.started_at, run.id),
        at=to_text(ended_at),
        expires_at=int((ended_at + retention).timestamp()),
        **{name: value for name, value in values.items() if value is not None},
    )


def to_pointer_items(
    record: RunRecord, *, retention: timedelta, by_category: bool = True
) -> list[JournalItem]:
    """Return what a failed run is found by: its category and day, and its subject if it has one."""
    run = record.run
    if not run.is_failure:
        return []
    ended_at = run.ended_or_started_at
    keys = [category_key(run.error_category, utc_day(ended_at))] if by_category else []
    if record.subject:
        keys.append(subject_key(record.subject))
    entry, expires_at = error_entry(ended_at, run.id), int((ended_at + retention).timestamp())
    detail = {"task_id": record.task_id, "started_at": to_text(run.started_at)}
    return [
        JournalItem(key, entry, at=to_text(ended_at), detail=detail, expires_at=expires_at)
        for key in keys
    ]


def amend_record(record: RunRecord, *, retention: timedelta) -> None:
    """Store the run as a person or a late report amended it, and move it to its new category.

    The events of its end stay as they are.
    """
    amended = to_record_item(record, retention=retention)
    actions: list[Action] = [
        JournalItem.at.set(amended.at),
        JournalItem.expires_at.set(amended.expires_at),
    ]
    if record.former_detail is not None:
        first = JournalItem.former_detail  # of several amendments, the first one replaced it
        actions.append(first.set(first | record.former_detail))
    for name in _AMENDABLE:
        attribute, value = getattr(JournalItem, name), getattr(amended, name)
        actions.append(attribute.remove() if value is None else attribute.set(value))
    JournalItem(record.task_id, amended.entry).update(actions)
    if record.former_category is not None:
        ended_at = record.run.ended_or_started_at
        former = category_key(record.former_category, utc_day(ended_at))
        JournalItem(former, error_entry(ended_at, record.run.id)).delete()


def correct_record(task_id: str, late: LateReport, *, retention: timedelta) -> None:
    """Store what a worker reported late in the record of its run, if there is one. Idempotent."""
    try:
        item = JournalItem.get(task_id, _entry_key(late.started_at, late.run_id))
    except JournalItem.DoesNotExist:
        return
    record = to_record(item)
    run = apply_late_report(record.run, late)
    if run != record.run:
        former = error_detail(record.run)
        corrected = replace(record, run=run, events=None, former_detail=former)
        amend_record(corrected, retention=retention)


def to_record(item: JournalItem) -> RunRecord:
    """Return the record. Its events are None if older code stored each event as an item."""
    stored: Any = item.ended_run or item.run
    run, events = read_run(stored), None
    if item.events is not None:
        detail = item.former_detail
        events = events_from_stored(item.task_id, run, item.events, former_detail=detail)
    return RunRecord(
        task_id=item.task_id,
        version=int(item.version or 0),
        run=run,
        events=events,
        policy=item.policy or "",
        subject=item.subject,
        provider=item.provider,
        next_retry_at=from_text_or_none(item.next_retry_at),
        former_detail=item.former_detail,
        audit=tuple(item.audit) if item.audit else None,
    )


def category_key(category: str, day: str) -> str:
    return f"category#{category}#{day}"


def subject_key(subject: str) -> str:
    return f"subject#{subject}"


def error_entry(ended_at: datetime, run_id: str) -> str:
    return f"{ERROR_PREFIX}{to_text(ended_at)}#{run_id}"


def record_key(ref: RunRef) -> tuple[str, str]:
    return ref.task_id, _entry_key(ref.started_at, ref.run_id)


def to_ref(pointer: JournalItem) -> RunRef:
    _, at, run_id = pointer.entry.split("#", 2)
    detail = pointer.detail
    return RunRef(from_text(at), detail["task_id"], run_id, from_text(detail["started_at"]))


def _entry_key(started_at: datetime, run_id: str) -> str:
    return f"r#{to_text(started_at)}#{run_id}"
