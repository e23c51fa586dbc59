"""Invariants of notifications: people are told of every end, and of nothing twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from duecourse.domain.dispatch.dead_letter import Queue
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import ACTION

from local.simulate.observed import EMIT_SUFFIX, Observed, changes_of_tasks

# Where a fault may lead to a second notification: it is sent at least once.
_REPEATING_PLACES = ("journal", "notifier", "NoticesQueue", "TasksTable for JournalFunction")


def ends_told(observed: Observed) -> Iterator[str | None]:
    """The owner is told that a task failed for good, and that an action is done.

    Unless they want no such messages, or the notification is a dead letter.
    """
    sent = {(one.key, one.target) for one in observed.sent}
    for old, new in changes_of_tasks(observed):
        is_silent = new.sender_id in observed.muted | observed.forgotten or _is_lost(observed, new)
        if is_silent or not _is_end(old, new):
            continue
        is_told = (f"{new.id}:{new.version}", new.reply_target) in sent
        text = f"{new.sender_id} was not told that task {observed.name_of(new.id)} is {new.status}"
        yield None if is_told else text


def _is_lost(observed: Observed, task: Any) -> bool:
    return any(task.id in f"{one.task_id} {one.body}" for one in observed.dead_letters)


def _is_end(old: Any, new: Any) -> bool:
    is_done = new.status is Status.COMPLETED and new.type == ACTION
    has_ended = new.status is Status.FAILED or is_done
    return has_ended and old.status is not new.status and new.review_of is None


def told_once(observed: Observed) -> Iterator[str | None]:
    if observed.was_repeated_by_fault(*_REPEATING_PLACES):
        return
    notifications = [
        one for one in observed.sent if ":" in one.key and not one.key.endswith(EMIT_SUFFIX)
    ]
    texts = {(one.key, one.target): one.content.text for one in notifications}
    for place, count in Counter((one.key, one.target) for one in notifications).items():
        yield None if count == 1 else f"{place[1]} got {count} times: {texts[place]}"


def messages_answered(observed: Observed) -> Iterator[str | None]:
    """Each message in chat that was accepted has a reply, unless it is a dead letter."""
    replies = Counter(one.target for one in observed.sent if not one.key)
    has_lost_message = any(letter.queue is Queue.CHAT for letter in observed.dead_letters)
    for sender, count in observed.said.items():
        is_answered = replies[sender] >= count or has_lost_message
        yield (
            None if is_answered else f"{sender} wrote {count} times, got {replies[sender]} replies"
        )
