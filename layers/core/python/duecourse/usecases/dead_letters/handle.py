"""Handle dead letters: turn each into a recorded failure, a requeued task or a stored letter."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from duecourse.domain.chat.message import Message
from duecourse.domain.chat.notification import Notification
from duecourse.domain.chat.undeliverable import undeliverable_notification
from duecourse.domain.dispatch.dead_letter import Cause, DeadLetter
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.dispatch.unjournaled import (
    StreamPosition,
    UnjournaledRecords,
    is_journaled,
    unjournaled_to_json,
)
from duecourse.domain.errors import StaleTaskError, UnknownTaskError, UnreadableItemError
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.lifecycle.lease import lease_expired, lease_expired_report
from duecourse.domain.lifecycle.run_transitions import requeue
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import truncate_to_millisecond
from duecourse.ports.queues import DeadLetters, NotificationQueue, StreamReader
from duecourse.usecases.failures.record_failure import FailureDeps, policy_of, record_failure
from duecourse.usecases.tasks.enqueue_if_due_soon import enqueue_if_due_soon

_FAILURE_BY_CAUSE = {
    Cause.THROTTLE: ("the worker was throttled on every delivery", "function_throttled"),
    Cause.TIMEOUT: ("the worker timed out on every delivery", "function_timeout"),
    Cause.CRASH: ("the worker crashed on every delivery", "worker_vanished"),
    Cause.UNKNOWN: ("no worker received the message", "function_throttled"),
}
_TOO_OLD_REASON = "the journal could not process this change for 23 hours"
_LOST_REASON = "the journal could not process these changes, and the stream no longer has them"
_UNANSWERED_REASON = "the chat function failed on every delivery: search its log for this id"


class DeadLetterOutcome(StrEnum):
    RECORDED = "recorded"
    REQUEUED = "requeued"
    STALE = "stale"
    STORED = "stored"


@dataclass(frozen=True)
class DeadLetterDeps:
    failure_deps: FailureDeps
    dead_letters: DeadLetters
    notification_queue: NotificationQueue
    stream_reader: StreamReader


DeadLetterContent = (
    Dispatch | FailureReport | Notification | Message | UnjournaledRecords | StreamPosition
)


def handle_dead_letter(
    letter: DeadLetter, content: DeadLetterContent | None, deps: DeadLetterDeps
) -> DeadLetterOutcome:
    """Handle one dead letter. `content` is its parsed body, None if it cannot be parsed.

    A notification that could not be delivered does not change its task; the letter is stored and
    can be redriven.
    """
    if content is None:
        deps.dead_letters.save(letter.prepare_for_storage("the message cannot be parsed"))
        return DeadLetterOutcome.STORED
    if isinstance(content, Notification):
        return _handle_notification(letter, content, deps)
    if isinstance(content, Message):
        return _handle_message(letter, content, deps)
    if isinstance(content, UnjournaledRecords):
        reason = f"the journal failed on this change each time, with {content.error}"
        deps.dead_letters.save(letter.prepare_for_storage(reason, task_id=content.task_id))
        return DeadLetterOutcome.STORED
    if isinstance(content, StreamPosition):
        return _handle_position(letter, content, deps)
    try:
        if isinstance(content, FailureReport):
            recorded = record_failure(content, deps.failure_deps)
            return DeadLetterOutcome.RECORDED if recorded else DeadLetterOutcome.STALE
        return _handle_dispatch(letter, content, deps.failure_deps)
    except (UnknownTaskError, UnreadableItemError) as error:
        deps.dead_letters.save(letter.prepare_for_storage(str(error), task_id=content.task_id))
        return DeadLetterOutcome.STORED


def _handle_notification(
    letter: DeadLetter, notification: Notification, deps: DeadLetterDeps
) -> DeadLetterOutcome:
    """Store the notification. A reply loses its reply context first, as a message does.

    Nothing is stored of a deleted task: its owner may have asked to be forgotten.
    """
    if notification.run_id is not None and _is_deleted(notification.task_id, deps):
        return DeadLetterOutcome.STALE
    if notification.reply_to is not None:
        letter = replace(letter, body=json.dumps(notification.without_reply_context().to_json()))
    reason = f"channel {notification.channel} rejected it on every delivery"
    deps.dead_letters.save(letter.prepare_for_storage(reason))
    return DeadLetterOutcome.STORED


def _is_deleted(task_id: str, deps: DeadLetterDeps) -> bool:
    try:
        deps.failure_deps.store.get(task_id)
    except UnknownTaskError:
        return True
    except UnreadableItemError:
        pass
    return False


def _handle_message(
    letter: DeadLetter, message: Message, deps: DeadLetterDeps
) -> DeadLetterOutcome:
    """Store the chat message and notify its sender that it was not answered.

    The reply context is removed first: it holds credentials for the reply that are valid for a
    while.
    """
    stored = replace(letter, body=json.dumps(message.without_reply_context().to_json()))
    deps.dead_letters.save(stored.prepare_for_storage(_UNANSWERED_REASON))
    deps.notification_queue.send(undeliverable_notification(message))
    return DeadLetterOutcome.STORED


def _handle_position(
    letter: DeadLetter, position: StreamPosition, deps: DeadLetterDeps
) -> DeadLetterOutcome:
    """Store the records that Lambda gave up on, each as a letter of its own that names its task.

    If the stream no longer has them, the letter itself is stored. Redriving it repairs the tasks.
    """
    records = deps.stream_reader.read(position)
    for n, record in enumerate(filter(is_journaled, records)):
        task_id = record["dynamodb"]["Keys"].get("id", {}).get("S")
        unjournaled = UnjournaledRecords([record], task_id, "RecordAgeExceeded")
        body = json.dumps(unjournaled_to_json(unjournaled))
        one = replace(letter, id=f"{letter.id}-{n:05d}", body=body)
        deps.dead_letters.save(one.prepare_for_storage(_TOO_OLD_REASON, task_id=task_id))
    if not records:
        deps.dead_letters.save(letter.prepare_for_storage(_LOST_REASON))
    return DeadLetterOutcome.STORED


def _handle_dispatch(
    letter: DeadLetter, dispatch: Dispatch, deps: FailureDeps
) -> DeadLetterOutcome:
    """Record an expired lease as a failure; requeue a task that no worker claimed."""
    task = deps.store.get(dispatch.task_id)
    now = truncate_to_millisecond(deps.clock.now())
    if lease_expired(task, at=now):
        report = lease_expired_report(task)
        if letter.cause is not Cause.UNKNOWN:
            report = replace(report, failure=_to_failure(letter))
        return (
            DeadLetterOutcome.RECORDED if record_failure(report, deps) else DeadLetterOutcome.STALE
        )
    if not task.is_waiting or task.due_at != dispatch.due_at:
        return DeadLetterOutcome.STALE
    return _requeue(task, letter, deps, now=now)


def _requeue(
    task: Task, letter: DeadLetter, deps: FailureDeps, *, now: datetime
) -> DeadLetterOutcome:
    """Requeue a task that was never claimed. It counts as no attempt and keeps its due time."""
    failure = _to_failure(letter)
    diagnosis = diagnose(failure, policy_of(task, deps.policies))
    after = requeue(task, failure.summary, diagnosis.category, kind=diagnosis.kind, at=now)
    try:
        deps.store.save(task, after)
    except StaleTaskError:
        return DeadLetterOutcome.STALE  # another process changed it first
    enqueue_if_due_soon(after, queue=deps.queue, now=now)
    return DeadLetterOutcome.REQUEUED


def _to_failure(letter: DeadLetter) -> Failure:
    message, code = _FAILURE_BY_CAUSE[letter.cause]
    return Failure.create(message, type="DeadLetter", code=code)
