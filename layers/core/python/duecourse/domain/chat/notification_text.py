"""How people are told what became of their tasks."""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.lifecycle.spec_review import was_reviewed_in_vain
from duecourse.domain.tasks.outcome_marker import answer_in
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.task import Task
from duecourse.domain.text.formatting import beginning, one_line, ordinal, quoted, spoken_time
from duecourse.domain.text.redaction import cut

ERROR_LIMIT = 300
REPLY_LIMIT = 1_500


def done(task: Task, *, attempt: int = 1) -> str:
    """`attempt` is told where there were failures before it."""
    word = "Done" if attempt == 1 else f"Done at the {ordinal(attempt)} attempt"
    return "\n".join([f"{word}: {quoted(task.description)}", *_reply(task)])


def works_again(task: Task, *, attempt: int, lost: int) -> str:
    """`lost` is how many occurrences failed for good just before it."""
    text = f"{_named(task)} worked" + (f" at the {ordinal(attempt)} attempt" if attempt > 1 else "")
    if not lost:
        return f"{text}."
    return f"{text}, after {lost} {'occurrence was' if lost == 1 else 'occurrences were'} lost."


def to_operators(task: Task, said: str) -> str:
    """What its owner is told, and who that is."""
    return f"Task {task.short_id} of {task.channel}:{task.sender_id} needs a person.\n{said}"


def to_be_checked(task: Task) -> str:
    answers = f"/approve {task.short_id} or /reject {task.short_id} <why>."
    return "\n".join([f"Please check: {quoted(task.description)}", *_reply(task), answers])


def to_be_retried(task: Task, run: Run, next_retry_at: datetime) -> str:
    when = spoken_time(next_retry_at, task.timezone)
    next_try = f"Next try: {when}. /cancel {task.short_id} stops it."
    if run.status is RunStatus.PAUSED_BUDGET:
        return f"{_named(task)} waits for its budget: {error_of(task)}. {next_try}"
    return f"{_named(task)} failed: {error_of(task)}. {next_try}"


def failed_for_good(task: Task) -> str:
    count = _times(task, "attempt")
    text = f"{_named(task)} failed for good after {count}: {error_of(task)}."
    if task.run is not None and task.run.is_in_doubt:
        text += " It may or may not have happened: look first."
    return text


def timed_out(task: Task, why: str) -> str:
    return f"{_named(task)} was blocked and has failed now, as {why}: {error_of(task)}."


def occurrence_lost(task: Task, run: Run) -> str:
    """A series goes on without it, unless too many were lost."""
    text = in_doubt(task) if run.is_in_doubt else failed_for_good(task)
    if task.paused:
        lost = f"{task.failed_occurrences} occurrences were lost in a row"
        return f"{text} The series is paused, as {lost}. /resume {task.short_id} lets it go on."
    return f"{text} The series goes on: {spoken_time(task.due_at, task.timezone)}."


def in_doubt(task: Task) -> str:
    name = task.short_id
    return (
        f"It may or may not have happened: {quoted(task.description)}. Look, then "
        f"/resolve {name} applied, /resolve {name} not_applied or /resolve {name} skip."
    )


def blocked(task: Task) -> str:
    name, named, error = task.short_id, _named(task), _diagnosed(task)
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
            failed = f"{named} failed {_times(task, 'time')} and needs you: {error}"
            return f"{failed}{_review(task)} {answers}"
    count = _times(task, "attempt")
    return f"{named} is blocked, no retry is left after {count}: {error} {answers}"


def _review(task: Task) -> str:
    said = task.guidance[-1] if was_reviewed_in_vain(task) and task.guidance else ""
    return f" {one_line(said, ERROR_LIMIT).rstrip('.')}." if said else ""


def _diagnosed(task: Task) -> str:
    """What went wrong, as what it was taken for, and what may help."""
    category = task.last_error_category
    text = f"{error_of(task)} ({category})." if category else f"{error_of(task)}."
    diagnosis = task.run.diagnosis if task.run else None
    fix = diagnosis.fix if diagnosis else ""
    return f"{text} {one_line(fix, ERROR_LIMIT)}" if fix else text


def _named(task: Task) -> str:
    """With what it is about: of a reminder that never came, that is all that matters."""
    about = quoted(task.description)
    return f"Task {task.short_id} ({about})" if about else f"Task {task.short_id}"


def _times(task: Task, noun: str) -> str:
    count = task.run.attempt if task.run else max(task.retry_count, 1)
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def error_of(task: Task) -> str:
    said = task.last_error or ""
    return cut(one_line(said, len(said)), ERROR_LIMIT).rstrip(".") or "no reason is known"


def _reply(task: Task) -> list[str]:
    """What the provider said, without the line by which it told the outcome."""
    text = answer_in(task.run.mutation.result if task.run else None)
    return [beginning(text, REPLY_LIMIT)] if text else []
