"""Invariants of a sender who is forgotten: nothing about them is stored."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from duecourse.domain.time.instant import from_text

from local.simulate.actor import Answer
from local.simulate.observed import Observed

_REPLY_KEY = '"answer#'  # replies are stored for three days, as docs/privacy.md says
_MAX_LAG = timedelta(seconds=31)  # of an index that lists the sender's tasks


def nothing_left(observed: Observed) -> Iterator[str | None]:
    """After an acknowledged request, no item names a task of the sender, or has their settings.

    Unless the sender did something later, or a task could not be read for a time.
    """
    for answer in observed.answers:
        if answer.target != "/senders/forget" or not answer.is_success or answer.at is None:
            continue
        sender = answer.request["sender_id"]
        if observed.newer_ids or not answer.body["complete"]:
            continue
        if _has_later_request(observed, sender, answer):
            continue
        lag = _MAX_LAG if any(one.name == "index-lag" for one in observed.struck) else timedelta(0)
        yield from _check_items(observed, _list_names(observed, sender, answer.at - lag))


def _check_items(observed: Observed, names: set[str]) -> Iterator[str | None]:
    for table, items in observed.stored_texts.items():
        checked = [text for text in items if _REPLY_KEY not in text]
        found = sorted(name for name in names for text in checked if name in text)
        yield f"{table} still names {found} of a forgotten sender" if found else None


def _list_names(observed: Observed, sender: str, at: datetime) -> set[str]:
    """Return the ids and descriptions of the sender's tasks until then, and their settings."""
    written = [one.new for one in observed.changes if one.new is not None and one.written_at <= at]
    own = {one.description for one in written if one.sender_id == sender}
    others = {one.description for one in written if one.sender_id != sender}
    return (own - others) | {f"of#console#{sender}"}


def _has_later_request(observed: Observed, sender: str, forgetting: Answer) -> bool:
    """Return whether a request or a message of the sender came later, or was answered later."""
    if forgetting.asked_at is None:
        return True
    for answer in observed.answers:
        is_own = isinstance(answer.request, dict) and answer.request.get("sender_id") == sender
        if is_own and answer is not forgetting and answer.at and answer.at > forgetting.asked_at:
            return True
    replies = [one for one in observed.sent if one.target == sender and not one.key]
    return any(from_text(one.at) > forgetting.asked_at for one in replies)
