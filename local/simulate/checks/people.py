"""Invariants of notifications: people are told of ends, asked, and told of nothing twice."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from duecourse.domain.dispatch.dead_letter import Queue
from duecourse.domain.lifecycle.correction import is_correction
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import ACTION
from duecourse.domain.tasks.wait import WaitReason

from local.simulate.observed import EMIT_SUFFIX, Observed, changes_of_tasks

# Where a fault may lead to a second notification: it is sent at least once.
_REPEATING_PLACES = (
    *("journal", "alerts", "notifier", "NoticesQueue"),
    "TasksTable for JournalFunction",
)
# The same for one that was a dead letter.
_REDRIVING_PLACES = ("api", "deadletter", "NoticesDeadLetterQueue")


def ends_told(observed: Observed) -> Iterator[str | None]:
    """The owner is told that a task failed for good, and that an action is done.

    Unless they want no such messages, or the notification is a dead letter.
    """
    for old, new in changes_of_tasks(observed):
        if _is_end(old, new):
            yield from _check_told(observed, new)


def questions_asked(observed: Observed) -> Iterator[str | None]:
    """The owner of a task that waits for a person was asked. One who has answered need not be.

    A late report may replace the question while the task waits.
    """
    questions: dict[str, list[Any]] = {}
    for change in observed.changes:
        old, new = change.old, change.new
        if old is not None and new is not None:
            if _is_question(old, new):
                questions[new.id] = [new]
            elif not _is_waiting(new):
                questions.pop(new.id, None)
            elif new.id in questions and is_correction(old, new):
                questions[new.id].append(new)
    for task_id, versions in questions.items():
        if task_id in observed.records and task_id not in observed.newer_ids:
            yield from _check_told(observed, *versions)


def refused_sent_again(observed: Observed) -> Iterator[str | None]:
    """A notification that SQS refused is sent again until SQS takes it."""
    for (key, target), is_accepted in observed.refused_notifications.items():
        yield (
            None if is_accepted else f"the notification {key} to {target} was refused, and is lost"
        )


def _check_told(observed: Observed, task: Any, *later: Any) -> Iterator[str | None]:
    """Yield whether the owner got the notification of one of these versions of the task."""
    is_silent = task.sender_id in observed.muted | observed.forgotten
    if is_silent or _is_lost(observed, task):
        return
    keys = {f"{one.id}:{one.version}" for one in (task, *later)}
    is_told = any(one.key in keys and one.target == task.reply_target for one in observed.sent)
    text = f"{task.sender_id} was not told that task {observed.name_of(task.id)} is {task.status}"
    yield None if is_told else text


def _is_question(old: Any, new: Any) -> bool:
    return _is_waiting(new) and not _is_waiting(old)


def _is_waiting(task: Any) -> bool:
    """Return whether the task waits for a person."""
    reason = task.wait.reason if task.wait is not None else None
    is_verified = task.status is Status.PENDING_VERIFICATION and reason is WaitReason.VERIFICATION
    return is_verified or (task.status is Status.BLOCKED and reason is None)


def _is_lost(observed: Observed, task: Any) -> bool:
    """Return whether a dead letter is about the task, or one that an operator dropped."""
    stored = [f"{one.task_id} {one.body}" for one in observed.dead_letters]
    return any(task.id in text for text in [*stored, *_list_dropped(observed)])


def _list_dropped(observed: Observed) -> Iterator[str]:
    letters = observed.dead_letter_log.letters
    for answer in observed.answers:
        if answer.target == "/dead-letters/drop" and answer.request:
            yield from (letters[one].body for one in answer.request["ids"] if one in letters)


def _is_end(old: Any, new: Any) -> bool:
    is_done = new.status is Status.COMPLETED and new.type == ACTION
    has_ended = new.status is Status.FAILED or is_done
    return has_ended and old.status is not new.status and new.review_of is None


def notified_once(observed: Observed) -> Iterator[str | None]:
    is_redriven = any("redrive" in one.target for one in observed.answers)
    places = _REPEATING_PLACES + (_REDRIVING_PLACES if is_redriven else ())
    if observed.was_repeated_by_fault(*places):
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
    for sender, count in observed.message_counts.items():
        is_answered = replies[sender] >= count or has_lost_message
        yield (
            None if is_answered else f"{sender} wrote {count} times, got {replies[sender]} replies"
        )
