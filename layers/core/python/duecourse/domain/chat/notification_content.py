"""What people are told of a change of a task."""

from __future__ import annotations

from dataclasses import dataclass

from duecourse.domain.chat import notification_text
from duecourse.domain.chat.buttons import failure_buttons, resolution_buttons, verification_buttons
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.notification_kind import NotificationKind
from duecourse.domain.journal.counters import is_recovery
from duecourse.domain.journal.history import ended_run
from duecourse.domain.lifecycle.blocked import (
    blocked_timeout_reason,
    is_awaiting_resolution,
    is_escalation,
)
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import Reason, Run, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import ACTION, Task
from duecourse.domain.tasks.wait import WaitReason

# A run fails only from these statuses. Later changes by a person are not reported.
_ACTIVE_STATUSES = (Status.IN_PROGRESS, Status.PENDING_VERIFICATION)


@dataclass(frozen=True, slots=True)
class NotificationContent:
    kind: NotificationKind
    message: ChatMessage


def change_content(old: Task, new: Task) -> NotificationContent | None:
    """Return what people are told of the change from `old` to `new`, or None."""
    new_status = None if old.status is new.status else new.status
    if new_status is Status.BLOCKED or is_escalation(old, new):
        return blocked_content(new)
    if new_status is Status.FAILED:
        why = blocked_timeout_reason(old, new)
        ended = (
            notification_text.format_timed_out(new, why)
            if why
            else notification_text.format_final_failure(new)
        )
        text = f"{ended}\nRetry now: /retry {new.short_id}"
        return NotificationContent(
            NotificationKind.FINAL_FAILURE, ChatMessage(text, failure_buttons(new))
        )
    if _is_awaiting_check(new) and not _is_awaiting_check(old):
        check = ChatMessage(
            notification_text.format_verification_request(new), verification_buttons(new)
        )
        return NotificationContent(NotificationKind.VERIFICATION, check)
    run = ended_run(old, new)
    if run is not None and run.status is RunStatus.COMMITTED:
        return _success_content(old, new, run)
    failed = _failed_run(old, new)
    return None if failed is None else failure_content(old, new, failed)


def blocked_content(task: Task) -> NotificationContent:
    """Return what people are told of a task that is blocked."""
    # Until the effect is resolved, every other action is refused.
    if is_awaiting_resolution(task):
        return NotificationContent(
            NotificationKind.INDETERMINATE,
            ChatMessage(notification_text.format_indeterminate(task), resolution_buttons(task)),
        )
    # A spec review is an intermediate step and asks nothing of the owner.
    is_reviewed = task.recovery_action is Action.RETRY_WITH_SPEC_REFRESH
    kind = NotificationKind.RETRY if is_reviewed else NotificationKind.ESCALATION
    return NotificationContent(
        kind, ChatMessage(notification_text.format_blocked(task), failure_buttons(task))
    )


def _success_content(old: Task, new: Task, run: Run) -> NotificationContent | None:
    """Return the notification of a success, or None.

    Actions always report success; other work only when it recovers; reminders never.
    """
    recovered = is_recovery(old, new, run) and _is_failure_known_to_owner(old, run)
    if new.type == ACTION:
        text = notification_text.format_done(new, attempt=run.attempt if recovered else 1)
        return NotificationContent(
            NotificationKind.RECOVERY if recovered else NotificationKind.DONE, ChatMessage(text)
        )
    if new.is_reminder or not (recovered or old.failed_occurrences):
        return None
    attempt = run.attempt if recovered else 1
    text = notification_text.format_recovered(
        new, attempt=attempt, lost_occurrences=old.failed_occurrences
    )
    return NotificationContent(NotificationKind.RECOVERY, ChatMessage(text))


def _is_failure_known_to_owner(old: Task, run: Run) -> bool:
    """Return True if the owner was notified of a failure before this success.

    Uncounted failures are not reported. A retry by a person has reset the count, so its reason is
    checked too.
    """
    return (
        old.retry_count > 0 or run.previous_failure is not None or run.reason is Reason.USER_RETRY
    )


def failure_content(old: Task, new: Task, run: Run) -> NotificationContent | None:
    """Return the notification of a failure after which a retry or the next occurrence follows."""
    if new.next_retry_at is None:
        buttons = resolution_buttons(new) if run.is_unsafe_to_repeat else failure_buttons(new)
        lost = ChatMessage(notification_text.format_lost_occurrence(new, run), buttons)
        return NotificationContent(
            NotificationKind.INDETERMINATE
            if run.is_unsafe_to_repeat
            else NotificationKind.FINAL_FAILURE,
            lost,
        )
    is_first = _is_first_failure(old, run)
    if new.is_reminder or not (is_first or is_counted(run)):
        return None
    text = notification_text.format_retry_scheduled(new, run, new.next_retry_at)
    return NotificationContent(
        NotificationKind.FIRST_FAILURE if is_first else NotificationKind.RETRY,
        ChatMessage(text, failure_buttons(new)),
    )


def _is_awaiting_check(task: Task) -> bool:
    """Return True if a person has to check the work. A named verifier is asked first."""
    is_open = task.status is Status.PENDING_VERIFICATION
    return is_open and task.wait_reason is not WaitReason.VERIFIER


def _failed_run(old: Task, new: Task) -> Run | None:
    run = ended_run(old, new)
    has_failed = run is not None and run.error is not None
    return (
        run
        if has_failed and old.status in _ACTIVE_STATUSES and new.status is Status.PENDING
        else None
    )


def _is_first_failure(old: Task, run: Run) -> bool:
    """Return True for the first failure of an occurrence, or the first since a person's retry.

    A wait for the budget is reported once, and so is the first failure after it.
    """
    is_budget = run.status is RunStatus.PAUSED_BUDGET
    if not is_counted(run) and not is_budget:
        return False  # an internal failure that costs the task no retry
    if run.attempt == 1 or run.reason is Reason.USER_RETRY:
        return True
    if is_budget:
        return old.recovery_action is not Action.WAIT_FOR_BUDGET
    return old.retry_count == 0


def is_counted(run: Run) -> bool:
    is_counted = run.diagnosis is None or run.diagnosis.counted
    return is_counted and run.status is not RunStatus.PAUSED_BUDGET
