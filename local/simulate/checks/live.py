"""Invariants of live events: a listener is sent every end, in a form that it can read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from duecourse.domain.events.connection import MAX_CONNECTION_TIME
from duecourse.domain.tasks.event import EventType
from duecourse.domain.time.instant import from_text
from duecourse.usecases.events.broadcast import MAX_EVENT_AGE

from local.simulate.checks.journal import LAST_EVENT
from local.simulate.listener import Listener
from local.simulate.observed import Observed

# The function may know for a second that nobody listens.
_GRACE = timedelta(seconds=5)
_PLACES = ("live", "TasksTable for LiveFunction", "ConnectionsTable")
_REPLIES = frozenset({"subscribed", "pong", "error"})
_FIELDS = frozenset({"type", "task_id", "at", "detail"})
_MISSED = "broadcast_events_missed"
_HARMLESS = frozenset({"cut-batch", "repeated-batch", "cold-start", "old-code", "index-lag"})


def ends_pushed(observed: Observed) -> Iterator[str | None]:
    """A listener to all events is sent every end while it is connected.

    While faults last, only if none struck on the way to it: missed events are not repeated.
    """
    for number, listener in enumerate(observed.listeners, start=1):
        if listener.opened_at is None or listener.is_filtered or _has_missed(observed, listener):
            continue
        got = {_name(text) for _, text in listener.pushed}
        for change in observed.changes:
            event = _end_of(change)
            if event is None or not _is_expected(observed, listener, change):
                continue
            is_sent = (event, change.task_id) in got
            name = observed.name_of(change.task_id)
            yield None if is_sent else f"listener {number} was not sent {event} of task {name}"


def _is_expected(observed: Observed, listener: Listener, change: Any) -> bool:
    """Return whether the listener was connected, and no fault explains that it was not sent."""
    if change.task_id in observed.newer_ids or listener.opened_at is None:
        return False
    at: datetime = change.written_at
    ends_at = min(
        listener.closed_at or from_text(observed.now),
        listener.opened_at + MAX_CONNECTION_TIME,
    )
    is_connected = listener.opened_at + _GRACE < at < ends_at - MAX_EVENT_AGE
    is_quiet = at > observed.faults_ended_at + MAX_EVENT_AGE
    return is_connected and (is_quiet or not _is_struck(observed))


def _is_struck(observed: Observed) -> bool:
    is_hit = any(
        one.point.startswith(_PLACES) and one.name not in _HARMLESS for one in observed.struck
    )
    return is_hit or "live" in observed.failed_functions


def _has_missed(observed: Observed, listener: Listener) -> bool:
    """Return whether the function says that it had no time to send everything."""
    return any(_MISSED in line and listener.id in line for line in observed.log_lines)


def _end_of(change: Any) -> str | None:
    old, new = change.old, change.new
    if old is None or new is None or old.status is new.status:
        return None
    return LAST_EVENT.get(str(new.status))


def _name(text: str) -> tuple[str, str]:
    event = json.loads(text)
    return event.get("type", ""), event.get("task_id", "")


def messages_readable(observed: Observed) -> Iterator[str | None]:
    """Every message is an event or a reply, as docs/live.md says, and no event is older."""
    for listener in observed.listeners:
        for _, text in listener.pushed:
            yield None if _is_event(json.loads(text)) else f"a listener was sent {text}"
        for text in listener.replies:
            is_reply = json.loads(text).get("type") in _REPLIES or "requestId" in text
            yield None if is_reply else f"a listener was answered {text}"


def _is_event(event: Any) -> bool:
    is_complete = isinstance(event, dict) and set(event) == _FIELDS
    is_known = is_complete and event["type"] in set(EventType) and bool(from_text(event["at"]))
    return is_known and ("event_id" in event["detail"] or event["detail"].get("is_cut", False))
