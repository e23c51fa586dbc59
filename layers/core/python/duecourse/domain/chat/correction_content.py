"""What people are told when a worker reports late about a run that was taken for crashed."""

from __future__ import annotations

from duecourse.domain.chat import notification_text
from duecourse.domain.chat.buttons import failure_buttons
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.notification_content import (
    NotificationContent,
    blocked_content,
    change_content,
    failure_content,
    is_counted,
)
from duecourse.domain.chat.notification_kind import NotificationKind
from duecourse.domain.lifecycle.resolve_indeterminate import can_resolve
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import ACTION, Task


def correction_content(old: Task, new: Task) -> NotificationContent | None:
    """Return how the task ended, if people were told before that it failed or is unknown.

    Those who were asked whether it happened are told at every notify level.
    """
    before, run = old.run, new.run
    if before is None or run is None or before.diagnosis == run.diagnosis:
        return None  # only the text of the error is new
    if not (before.is_unsafe_to_repeat and can_resolve(old)):
        return _content(old, new, run, was_told=is_counted(before))
    if run.is_unsafe_to_repeat:
        return None  # the question is still open
    content = _resolved_content(old, new, run)
    if content is None or content.kind is NotificationKind.ESCALATION:
        return content
    text = notification_text.format_resolved(content.message.text)
    message = ChatMessage(text, content.message.buttons)
    return NotificationContent(NotificationKind.RESOLVED, message)


def _resolved_content(old: Task, new: Task, run: Run) -> NotificationContent | None:
    is_failure = run.status is not RunStatus.COMMITTED
    if is_failure and new.status is Status.BLOCKED:
        return blocked_content(new)  # the question is settled, and the task still needs somebody
    if not is_failure or new.status is not Status.PENDING:
        return _content(old, new, run, was_told=True)
    text = (
        notification_text.format_retry_scheduled(new, run, new.next_retry_at)
        if new.next_retry_at
        else notification_text.format_lost_occurrence(new, run)
    )
    return NotificationContent(NotificationKind.RETRY, ChatMessage(text, failure_buttons(new)))


def _content(old: Task, new: Task, run: Run, *, was_told: bool) -> NotificationContent | None:
    if run.status is RunStatus.COMMITTED:
        return _success_content(new, run, was_told=was_told)
    if new.status is old.status:
        return None  # it waits as before, at most until another time
    is_retried = new.status is Status.PENDING
    return failure_content(old, new, run) if is_retried else change_content(old, new)


def _success_content(new: Task, run: Run, *, was_told: bool) -> NotificationContent | None:
    """Return the notification of a success. Reminders speak for themselves."""
    if new.type == ACTION:
        text = notification_text.format_done(new)
        return NotificationContent(NotificationKind.DONE, ChatMessage(text))
    if new.is_reminder or not was_told:
        return None
    text = notification_text.format_recovered(new, attempt=run.attempt, lost_occurrences=0)
    return NotificationContent(NotificationKind.RECOVERY, ChatMessage(text))
