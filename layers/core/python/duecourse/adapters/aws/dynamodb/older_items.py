"""Upgrade items that older code stored to the form that today's code writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from duecourse.adapters.aws.dynamodb.older_waits import (
    read_sentence,
    read_skip_reason,
    says_it_was_reviewed,
)
from duecourse.adapters.aws.dynamodb.task_links import review_from_stored
from duecourse.domain.origin import Origin
from duecourse.domain.requests.stored_run import run_from_stored
from duecourse.domain.tasks.ids import is_id_or_prefix
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.skipped import SkippedOccurrences
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import ACTION, REMINDER
from duecourse.domain.tasks.wait import Wait, WaitReason

_WITH_GUIDANCE = (
    Action.RETRY_WITH_GUIDANCE,
    Action.RETRY_WITH_SPEC_REFRESH,
    Action.ESCALATE_TO_HUMAN,
    Action.MARK_AS_BLOCKED,
)
_OLD_SNOOZE, _OLD_REVIEW = "snooze_of", "spec_review"


def upgrade_task(values: dict[str, Any], schema_version: int) -> dict[str, Any]:
    """Return the attributes of a stored task as today's code would have written them."""
    if schema_version < 1:
        _upgrade_from_0(values)
    return values


def _upgrade_from_0(values: dict[str, Any]) -> None:
    """Add fields that did not exist yet, and convert those that had another form."""
    values.setdefault("type", REMINDER)
    values.setdefault("timezone", "UTC")
    values.setdefault("nominal_at", values["due_at"])
    values.setdefault("version", 0)
    if values.get("repeat") == "once":
        del values["repeat"]
    if "waits_for" in values:
        values["wait"] = read_sentence(values["waits_for"], values.get("recovery_action"))
    if values.get("recovery_action") is Action.RETRY_WITH_SPEC_REFRESH:
        _note_review(values)
    if "payload" in values:
        _move_links_out_of_payload(values)


def read_run(stored: Mapping[str, Any]) -> Run:
    stored = dict(stored)
    if isinstance(waited_for := stored.get("waited_for"), str):
        stored["waited_for"] = read_sentence(waited_for).to_json()
    if diagnosis := stored.get("diagnosis"):
        stored["diagnosis"] = {"guidance_lines": _lines_added(diagnosis), **diagnosis}
    return run_from_stored(stored)


def read_skipped(stored: Sequence[Any]) -> SkippedOccurrences:
    count, reason = stored
    return SkippedOccurrences(count, read_skip_reason(reason))


def _note_review(values: dict[str, Any]) -> None:
    """Set `reviewed_at` of a task whose spec review is done: it became due at that moment.

    While the review is open, set `wait`. The older sentence has only the first characters of the
    review's id; the run has all of it.
    """
    if says_it_was_reviewed(values.get("guidance", ())):
        values.setdefault("reviewed_at", values["due_at"])
    diagnosis = values["run"].diagnosis if values.get("run") else None
    if values.get("status") is Status.BLOCKED and diagnosis and diagnosis.review:
        values["wait"] = Wait(WaitReason.SPEC_REVIEW, task_id=diagnosis.review)


def _lines_added(diagnosis: Mapping[str, Any]) -> int:
    """Return how many lines of guidance a failure added, as its action and origin imply."""
    is_rejected = diagnosis.get("origin") == Origin.REJECTED
    return (diagnosis.get("action") in _WITH_GUIDANCE) + is_rejected


def _move_links_out_of_payload(values: dict[str, Any]) -> None:
    """Move the links between tasks, which earlier code stored in the payload, to their fields.

    A caller could have written the same keys. So every use of a link also requires that both tasks
    have the same owner.
    """
    payload = values["payload"] = dict(values["payload"])
    if _is_made_in_chat(values) and _is_id(payload.get(_OLD_SNOOZE)):
        values["snooze_of"] = payload.pop(_OLD_SNOOZE)
    if values["type"] == ACTION and _is_review(payload.get(_OLD_REVIEW)):
        values["review"] = review_from_stored(payload.pop(_OLD_REVIEW))


def _is_made_in_chat(values: Mapping[str, Any]) -> bool:
    """Return whether a reminder was created in chat, the only place where reminders are snoozed.

    The name of an operator contains a colon, the name of a token does not.
    """
    created_by = values.get("created_by")
    return values["type"] == REMINDER and (created_by is None or ":" in created_by)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and is_id_or_prefix(value)


def _is_review(value: Any) -> bool:
    return isinstance(value, Mapping) and _is_id(value.get("of"))
