"""Invariants of snoozed reminders: each comes again once, at the time that was asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.time.instant import from_text

from local.simulate.actor import Answer
from local.simulate.observed import Observed

_REPLY = re.compile(r"Snoozed (\w{8}) until")
_REQUEST = re.compile(
    r"/snooze \S+ (\d+) ?([mh])"
)  # `1 minute` as people write it, `1h` of a button
_SECONDS = {"m": 60, "h": 3600}
_ROUNDING = timedelta(seconds=1)


def snoozed_as_asked(observed: Observed) -> Iterator[str | None]:
    """Once a snooze is acknowledged, one reminder is stored for the time that was asked for."""
    for reply in observed.sent:
        found = _REPLY.match(reply.content.text)
        requests = list(_list_requests(observed, reply)) if found else []
        if found is None or None in requests:  # somebody asked for a time of the day
            continue
        versions = list(_list_versions(observed, found[1], from_text(reply.at) + _ROUNDING))
        if not versions or versions[0].id in observed.newer_ids:
            continue
        own_times = _list_own_times(observed, versions[0])
        lengths = list(filter(None, requests))
        due = {
            one.due_at
            for one in versions
            if _is_asked_for(one.due_at, lengths, own_times, observed.max_skew)
        }
        yield None if due else f"task {found[1]} was snoozed, and is not due when it was asked for"
        copies = {one.id for at in due for one in _list_copies(observed, versions[0], at)}
        yield f"tasks {sorted(copies)} are the same snooze" if len(copies) > 1 else None


def _list_requests(observed: Observed, reply: Any) -> Iterator[tuple[Answer, timedelta] | None]:
    """Yield the requests to snooze of the person who got the reply, with how long.

    None for a time of the day.
    """
    for answer in observed.answers:
        if answer.target != "/webhooks/console" or answer.request["sender_id"] != reply.target:
            continue
        if not answer.request["text"].startswith("/snooze"):
            continue
        found = _REQUEST.match(answer.request["text"])
        yield (answer, timedelta(seconds=int(found[1]) * _SECONDS[found[2]])) if found else None


def _list_own_times(observed: Observed, task: Any) -> set[datetime]:
    """Return the times of the reminder that was snoozed, in all its versions."""
    ids = (task.id, task.snooze_of)
    return {one.new.nominal_at for one in observed.changes if one.new and one.new.id in ids}


def _list_versions(observed: Observed, short_id: str, until: datetime) -> Iterator[Any]:
    for change in observed.changes:
        new = change.new
        if new is not None and new.id.startswith(short_id) and change.written_at <= until:
            yield new


def _is_asked_for(
    due_at: datetime,
    requests: Sequence[tuple[Answer, timedelta]],
    own_times: set[datetime],
    skew: timedelta,
) -> bool:
    """Return whether it is due so long after a request, or after its own time if that is later."""
    for answer, length in requests:
        if answer.asked_at is None or answer.at is None:
            continue
        earliest, latest = answer.asked_at - skew - _ROUNDING, answer.at + skew + _ROUNDING
        if earliest <= due_at - length <= latest or due_at - length in own_times:
            return True
    return False


def _list_copies(observed: Observed, task: Any, due_at: datetime) -> Iterator[Any]:
    """Yield the versions of snoozes of the same reminder that are due at the same time."""
    first = task.snooze_of or task.id
    for change in observed.changes:
        new = change.new
        if new is not None and new.due_at == due_at and first in (new.snooze_of, new.id):
            yield new
