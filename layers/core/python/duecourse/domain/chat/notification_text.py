"""Texts of notifications about tasks."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.lifecycle.spec_review import is_review_failed
from duecourse.domain.tasks.advice import suggested_fix
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.failure_kind_text import describe_kind, name_kind
from duecourse.domain.tasks.outcome_marker import reply_text
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.task import Task
from duecourse.domain.text.formatting import (
    format_time,
    quote_description,
    to_one_line,
    truncate,
)
from duecourse.domain.text.quotation import unquote
from duecourse.domain.text.redaction import MAX_REDACTED_LENGTH, redact, truncate_middle

ERROR_LIMIT = 300
REPLY_LIMIT = 1_500


def format_done(task: Task, *, attempt: int = 1) -> str:
    """Return the text for finished work. Pass `attempt` only if earlier attempts failed."""
    word = "Done" if attempt == 1 else f"Done on attempt {attempt}"
    return "\n".join([f"{word}: {quote_description(task.description)}", *_reply_lines(task)])


def format_recovered(task: Task, *, attempt: int, lost_occurrences: int) -> str:
    """Return the text for work that succeeds again after `lost_occurrences` failed for good."""
    text = f"{_task_label(task)} succeeded" + (f" on attempt {attempt}" if attempt > 1 else "")
    if not lost_occurrences:
        return f"{text}."
    noun = "occurrence" if lost_occurrences == 1 else "occurrences"
    return f"{text}, after {lost_occurrences} failed {noun}."


def format_for_operators(task: Task, text: str, *, needs_person: bool = True) -> str:
    """Return the owner's text with the task's owner named, for the operators' chat."""
    need = "needs a person" if needs_person else "no longer needs a person"
    return f"Task {task.short_id} of {task.channel}:{task.sender_id} {need}.\n{text}"


def format_resolved(text: str) -> str:
    """Return how a task ended of which people were asked whether it had happened."""
    return f"No answer is needed any more: the worker reported late.\n{text}"


def format_verification_request(task: Task) -> str:
    return "\n".join(
        [
            f"Please check: {quote_description(task.description)}",
            *_reply_lines(task),
            f"Approve: /approve {task.short_id}",
            f"Reject: /reject {task.short_id} <why>",
        ]
    )


def format_retry_scheduled(task: Task, run: Run, next_retry_at: datetime) -> str:
    is_budget = run.status is RunStatus.PAUSED_BUDGET
    state = "waits for its budget" if is_budget else "failed"
    has_hint = task.recovery_action is Action.RETRY_WITH_GUIDANCE
    retry = "Next retry, with a hint" if has_hint else "Next retry"
    return "\n".join(
        [
            f"{_task_label(task)} {state}: {_name_error(task)}",
            f"{retry}: {format_time(next_retry_at, task.timezone)}",
            f"Cancel: /cancel {task.short_id}",
        ]
    )


def format_final_failure(task: Task) -> str:
    text = f"Gave up on {_task_name(task)}{_format_attempts(task)}: {format_diagnosis(task)}"
    if task.run is not None and task.run.is_unsafe_to_repeat:
        text += "\nIt may or may not have happened. Check before you retry."
    return text


def format_timed_out(task: Task, reason: str) -> str:
    return f"Gave up on {_task_name(task)}: {reason}. Last error: {format_diagnosis(task)}"


def format_lost_occurrence(task: Task, run: Run) -> str:
    """Return the text for an occurrence that was given up. It says whether the series goes on."""
    text = format_indeterminate(task) if run.is_unsafe_to_repeat else format_final_failure(task)
    if task.paused:
        return (
            f"{text}\nThe series is paused after {task.failed_occurrences} failed occurrences in a"
            f" row.\nResume: /resume {task.short_id}"
        )
    return f"{text}\nNext occurrence: {format_time(task.due_at, task.timezone)}"


def format_indeterminate(task: Task) -> str:
    command = f"/resolve {task.short_id}"
    return "\n".join(
        [
            f"{_task_label(task)} may or may not have happened. Check, then answer:",
            f"It happened: {command} applied",
            f"It did not happen, retry: {command} not_applied",
            f"Skip: {command} skip",
        ]
    )


def format_blocked(task: Task) -> str:
    error = format_diagnosis(task, is_category_shown=True)
    return "\n".join(
        [
            f"{_task_label(task)} {_format_block(task)}: {error}",
            *_fix_lines(task),
            *_review_lines(task),
            f"Retry now: /retry {task.short_id}",
            f"Cancel: /cancel {task.short_id}",
        ]
    )


def _format_block(task: Task) -> str:
    match task.recovery_action:
        case Action.AWAIT_FIX:
            return "waits for a fix of its handler and is retried after the next deployment"
        case Action.RETRY_WITH_SPEC_REFRESH:
            return "waits for a review of its specification"
        case Action.ESCALATE_TO_HUMAN:
            return f"failed {_format_count(task, 'time')} and needs your decision"
    return f"is blocked{_format_attempts(task)}"


def _review_lines(task: Task) -> list[str]:
    is_failed = task.recovery_action is Action.ESCALATE_TO_HUMAN and is_review_failed(task)
    return (
        [to_one_line(unquote(task.guidance[-1]), ERROR_LIMIT)]
        if is_failed and task.guidance
        else []
    )


def format_diagnosis(task: Task, *, is_category_shown: bool = False) -> str:
    """Return the last error with its kind and what to do, or its category if the kind is unknown.

    The category is left out unless `is_category_shown`: most readers cannot act on it.
    """
    category = task.last_error_category if is_category_shown else None
    words = _describe_kind(task) or category
    return f"{format_last_error(task)} ({words})" if words else format_last_error(task)


def _name_error(task: Task) -> str:
    """Return the last error with the name of its kind, for a failure that is retried anyway."""
    kind, error = task.last_error_kind, format_last_error(task)
    return f"{error} ({name_kind(kind)})" if kind and kind is not Kind.UNKNOWN else error


def _describe_kind(task: Task) -> str | None:
    kind, diagnosis = task.last_error_kind, task.run.diagnosis if task.run else None
    if diagnosis is not None and diagnosis.likely is not None:
        return f"probably {name_kind(diagnosis.likely.kind)}"
    if kind is None or kind is Kind.UNKNOWN:
        return None
    # While the effect is in doubt, nothing is to be done about the error.
    is_in_doubt = task.run is not None and task.run.is_indeterminate
    return name_kind(kind) if is_in_doubt else describe_kind(kind)


def _fix_lines(task: Task) -> list[str]:
    fix = suggested_fix(task.run)
    return [f"Suggested fix: {to_one_line(fix, ERROR_LIMIT)}"] if fix else []


def _task_label(task: Task) -> str:
    """Return the task's id and description.

    The owner of a reminder that never came needs the description most.
    """
    return f"T{_task_name(task)[1:]}"


def _task_name(task: Task) -> str:
    about = quote_description(task.description)
    return f"task {task.short_id} ({about})" if about else f"task {task.short_id}"


def _format_attempts(task: Task) -> str:
    """Return after how many attempts it ended, or nothing if a wait ended it: runs that only waited
    have an attempt number, too."""
    diagnosis = task.run.diagnosis if task.run else None
    is_expired_wait = diagnosis is not None and diagnosis.is_expired_wait
    return "" if is_expired_wait else f" after {_format_count(task, 'attempt')}"


def _format_count(task: Task, noun: str) -> str:
    count = task.run.attempt if task.run else max(task.retry_count, 1)
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def format_last_error(task: Task) -> str:
    error = task.last_error or ""
    return (
        truncate_middle(to_one_line(error, len(error)), ERROR_LIMIT).rstrip(".") or "unknown error"
    )


def _reply_lines(task: Task) -> list[str]:
    """Return the provider's reply without its outcome marker."""
    text = reply_text(task.run.mutation.result if task.run else None)
    return [truncate(redact(text, MAX_REDACTED_LENGTH), REPLY_LIMIT)] if text else []
