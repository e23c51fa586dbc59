"""Texts of notifications about tasks."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.lifecycle.spec_review import is_review_failed
from duecourse.domain.tasks.outcome_marker import reply_text
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.task import Task
from duecourse.domain.text.formatting import (
    format_time,
    ordinal,
    quote_description,
    to_one_line,
    truncate,
)
from duecourse.domain.text.redaction import truncate_middle

ERROR_LIMIT = 300
REPLY_LIMIT = 1_500


def format_done(task: Task, *, attempt: int = 1) -> str:
    """Return the text for finished work. Pass `attempt` only if earlier attempts failed."""
    word = "Done" if attempt == 1 else f"Done at the {ordinal(attempt)} attempt"
    return "\n".join([f"{word}: {quote_description(task.description)}", *_reply_lines(task)])


def format_recovered(task: Task, *, attempt: int, lost_occurrences: int) -> str:
    """Return the text for work that succeeds again after `lost_occurrences` failed for good."""
    text = f"{_task_label(task)} worked" + (
        f" at the {ordinal(attempt)} attempt" if attempt > 1 else ""
    )
    if not lost_occurrences:
        return f"{text}."
    lost = "occurrence was" if lost_occurrences == 1 else "occurrences were"
    return f"{text}, after {lost_occurrences} {lost} lost."


def format_for_operators(task: Task, text: str) -> str:
    """Return the owner's text with the task's owner named, for the operators' chat."""
    return f"Task {task.short_id} of {task.channel}:{task.sender_id} needs a person.\n{text}"


def format_verification_request(task: Task) -> str:
    answers = f"/approve {task.short_id} or /reject {task.short_id} <why>."
    return "\n".join(
        [f"Please check: {quote_description(task.description)}", *_reply_lines(task), answers]
    )


def format_retry_scheduled(task: Task, run: Run, next_retry_at: datetime) -> str:
    when = format_time(next_retry_at, task.timezone)
    next_try = f"Next try: {when}. /cancel {task.short_id} stops it."
    if run.status is RunStatus.PAUSED_BUDGET:
        return f"{_task_label(task)} waits for its budget: {format_last_error(task)}. {next_try}"
    return f"{_task_label(task)} failed: {format_last_error(task)}. {next_try}"


def format_final_failure(task: Task) -> str:
    count = _format_attempts(task, "attempt")
    text = f"{_task_label(task)} failed for good after {count}: {format_last_error(task)}."
    if task.run is not None and task.run.is_unsafe_to_repeat:
        text += " It may or may not have happened: look first."
    return text


def format_timed_out(task: Task, reason: str) -> str:
    error = format_last_error(task)
    return f"{_task_label(task)} was blocked and has failed now, as {reason}: {error}."


def format_lost_occurrence(task: Task, run: Run) -> str:
    """Return the text for an occurrence that was given up. It says whether the series goes on."""
    text = format_indeterminate(task) if run.is_unsafe_to_repeat else format_final_failure(task)
    if task.paused:
        lost = f"{task.failed_occurrences} occurrences were lost in a row"
        return f"{text} The series is paused, as {lost}. /resume {task.short_id} lets it go on."
    return f"{text} The series goes on: {format_time(task.due_at, task.timezone)}."


def format_indeterminate(task: Task) -> str:
    name = task.short_id
    return (
        f"It may or may not have happened: {quote_description(task.description)}. Look, then "
        f"/resolve {name} applied, /resolve {name} not_applied or /resolve {name} skip."
    )


def format_blocked(task: Task) -> str:
    name, named, error = task.short_id, _task_label(task), _format_diagnosis(task)
    answers = f"/retry {name} tries again, /cancel {name} stops it."
    match task.recovery_action:
        case Action.AWAIT_FIX:
            return (
                f"{named} is blocked: {error} Its handler has a bug; it is tried again when "
                f"a new version is deployed, or by /retry {name}."
            )
        case Action.RETRY_WITH_SPEC_REFRESH:
            return f"{named} waits for a review of its specification: {error} {answers}"
        case Action.ESCALATE_TO_HUMAN:
            failed = f"{named} failed {_format_attempts(task, 'time')} and needs you: {error}"
            return f"{failed}{_format_review_failure(task)} {answers}"
    count = _format_attempts(task, "attempt")
    return f"{named} is blocked, no retry is left after {count}: {error} {answers}"


def _format_review_failure(task: Task) -> str:
    said = task.guidance[-1] if is_review_failed(task) and task.guidance else ""
    return f" {to_one_line(said, ERROR_LIMIT).rstrip('.')}." if said else ""


def _format_diagnosis(task: Task) -> str:
    """Return the last error with its category and the suggested fix."""
    category = task.last_error_category
    text = f"{format_last_error(task)} ({category})." if category else f"{format_last_error(task)}."
    diagnosis = task.run.diagnosis if task.run else None
    fix = diagnosis.fix if diagnosis else ""
    return f"{text} {to_one_line(fix, ERROR_LIMIT)}" if fix else text


def _task_label(task: Task) -> str:
    """Return the task's id and description.

    The owner of a reminder that never came needs the description most.
    """
    about = quote_description(task.description)
    return f"Task {task.short_id} ({about})" if about else f"Task {task.short_id}"


def _format_attempts(task: Task, noun: str) -> str:
    count = task.run.attempt if task.run else max(task.retry_count, 1)
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def format_last_error(task: Task) -> str:
    said = task.last_error or ""
    return (
        truncate_middle(to_one_line(said, len(said)), ERROR_LIMIT).rstrip(".")
        or "no reason is known"
    )


def _reply_lines(task: Task) -> list[str]:
    """Return the provider's reply without its outcome marker."""
    text = reply_text(task.run.mutation.result if task.run else None)
    return [truncate(text, REPLY_LIMIT)] if text else []
