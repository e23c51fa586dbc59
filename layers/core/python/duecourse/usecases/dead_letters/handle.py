"""A message nobody could process becomes a failure of its task, never a silence."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import datetime
from enum import StrEnum

from duecourse.domain.chat.message import Message
from duecourse.domain.chat.notification import Notice
from duecourse.domain.chat.undeliverable import unanswered
from duecourse.domain.dispatch.dead_letter import Cause, DeadLetter
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.errors import StaleTaskError, UnknownTaskError, UnreadableItemError
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.lifecycle.apply_failure import vanished
from duecourse.domain.lifecycle.run_transitions import has_vanished, undelivered
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_millisecond
from duecourse.ports.queues import DeadLetters, Notices
from duecourse.usecases.failures.record_failure import Recorder, policy_of, record_failure
from duecourse.usecases.tasks.enqueue_if_due_soon import send_if_soon

_SAID = {
    Cause.THROTTLE: ("the worker was throttled until the message died", "function_throttled"),
    Cause.TIMEOUT: ("the worker ran out of time until the message died", "function_timeout"),
    Cause.CRASH: ("the worker crashed until the message died", "worker_vanished"),
    Cause.UNKNOWN: ("no worker took it until the message died", "function_throttled"),
}
_UNANSWERED = "it could not be answered: the log of the chat function says why, under its id"


class Taken(StrEnum):
    RECORDED = "recorded"
    SENT_AGAIN = "sent_again"
    STALE = "stale"
    KEPT = "kept"


@dataclass(frozen=True)
class Undertaker:
    recorder: Recorder
    letters: DeadLetters
    notices: Notices


Content = Dispatch | FailureReport | Notice | Message


def take_dead_letter(letter: DeadLetter, content: Content | None, undertaker: Undertaker) -> Taken:
    """`content` is what the body says, None where nothing could be made of it.

    A task is none the worse for a notice that did not arrive: it is kept, to be sent back.
    """
    if content is None:
        undertaker.letters.keep(letter.kept("it cannot be read"))
        return Taken.KEPT
    if isinstance(content, Notice):
        undertaker.letters.keep(letter.kept(f"the channel {content.channel} did not take it"))
        return Taken.KEPT
    if isinstance(content, Message):
        return _take_message(letter, content, undertaker)
    try:
        if isinstance(content, FailureReport):
            recorded = record_failure(content, undertaker.recorder)
            return Taken.RECORDED if recorded else Taken.STALE
        return _take_dispatch(letter, content, undertaker.recorder)
    except (UnknownTaskError, UnreadableItemError) as error:
        undertaker.letters.keep(letter.kept(str(error), task_id=content.task_id))
        return Taken.KEPT


def _take_message(letter: DeadLetter, message: Message, undertaker: Undertaker) -> Taken:
    """Somebody waits for an answer: they are told that none came, and what they said is kept
    without what its answer would have needed, which opens doors for a while."""
    kept = replace(letter, body=json.dumps(message.without_answer_to().to_json()))
    undertaker.letters.keep(kept.kept(_UNANSWERED))
    undertaker.notices.send(unanswered(message))
    return Taken.KEPT


def _take_dispatch(letter: DeadLetter, dispatch: Dispatch, recorder: Recorder) -> Taken:
    task = recorder.store.get(dispatch.task_id)
    now = to_millisecond(recorder.clock.now())
    if has_vanished(task, at=now):
        report = vanished(task)
        if letter.cause is not Cause.UNKNOWN:
            report = replace(report, failure=_failure(letter))
        return Taken.RECORDED if record_failure(report, recorder) else Taken.STALE
    if not task.is_waiting or task.due_at != dispatch.due_at:
        return Taken.STALE
    return _send_again(task, letter, recorder, now=now)


def _send_again(task: Task, letter: DeadLetter, recorder: Recorder, *, now: datetime) -> Taken:
    """Nobody ever claimed it: nothing was tried, so nothing is counted. Its time still holds."""
    failure = _failure(letter)
    diagnosis = diagnose(failure, policy_of(task, recorder.policies))
    after = undelivered(task, failure.summary, diagnosis.category, at=now)
    try:
        recorder.store.save(task, after)
    except StaleTaskError:
        return Taken.STALE  # somebody took it after all
    send_if_soon(after, queue=recorder.queue, now=now)
    return Taken.SENT_AGAIN


def _failure(letter: DeadLetter) -> Failure:
    message, code = _SAID[letter.cause]
    return Failure.of(message, type="DeadLetter", code=code)
