"""The links of a task to other tasks, as stored: in attributes, and by earlier code in the payload.

A link in the payload of an old item cannot be told from one that a caller wrote there. So whoever
follows a link also requires that both tasks have the same owner.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duecourse.adapters.dynamodb.items import TaskItem
from duecourse.domain.ids import is_id_or_prefix
from duecourse.domain.task import ACTION, REMINDER, ReviewLink

_OLD_SNOOZE, _OLD_REVIEW = "snooze_of", "spec_review"


def review_to_stored(review: ReviewLink | None) -> dict[str, Any] | None:
    if review is None:
        return None
    stored = {"of": review.of, "after_attempts": review.after_attempts or None, "spec": review.spec}
    return {name: value for name, value in stored.items() if value is not None}


def read_links(item: TaskItem) -> dict[str, Any]:
    """The task's `payload`, `snooze_of` and `review`: links leave the payload that held them."""
    payload = dict(item.payload or {})
    snooze_of, review = item.snooze_of, item.review
    if _is_made_in_chat(item) and _is_id(payload.get(_OLD_SNOOZE)):
        snooze_of = payload.pop(_OLD_SNOOZE)
    if item.type == ACTION and _is_review(payload.get(_OLD_REVIEW)):
        review = payload.pop(_OLD_REVIEW)
    return {
        "payload": payload,
        "snooze_of": snooze_of,
        "review": _review_from_stored(review) if review else None,
    }


def _review_from_stored(stored: Mapping[str, Any]) -> ReviewLink:
    return ReviewLink(stored["of"], stored.get("after_attempts", 0), stored.get("spec"))


def _is_made_in_chat(item: TaskItem) -> bool:
    """Only there are reminders snoozed. An operator's name has a colon, a token's name has none."""
    is_reminder = (item.type or REMINDER) == REMINDER
    return is_reminder and (item.created_by is None or ":" in item.created_by)


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and is_id_or_prefix(value)


def _is_review(value: Any) -> bool:
    return isinstance(value, Mapping) and _is_id(value.get("of"))
