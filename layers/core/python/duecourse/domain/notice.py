"""What a person is told about a task, read off two committed versions of it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from datetime import datetime
from typing import Any

from duecourse.domain.history import ended_run
from duecourse.domain.outcome import NoOutcome, outcome_of
from duecourse.domain.policy import Action
from duecourse.domain.redaction import cut
from duecourse.domain.run import Reason, Run, RunStatus
from duecourse.domain.status import Status
from duecourse.domain.task import ACTION, NOBODY, Task
from duecourse.domain.verification import FOR_ITS_VERIFIER
from duecourse.domain.wallclock import to_wall, zone_named

ERROR_LIMIT = 300
DESCRIPTION_LIMIT = 200
REPLY_LIMIT = 1_500
# No chat could show these, and half a character (a surrogate) cannot even be sent.
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff]")
_GAPS = re.compile(r"[\s\x00-\x1f\x7f-\x9f]+")
# Only these end in a failure. What a person does about one afterwards is no news to anybody.
_AT_WORK = (Status.IN_PROGRESS, Status.PENDING_VERIFICATION)


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """`key` is the same however often this is sent, so that a channel can drop repeats.

    The text is plain: it quotes people and software as they are, and channels escape it.
    """

    channel: str
    target: str
    text: str
    key: str
    task_id: str

    def to_json(self) -> dict[str, str]:
        return asdict(self)

    @classmethod
    def from_json(cls, stored: Any) -> Notice:
        """Raises ValueError for what is no notice."""
        names = [field.name for field in fields(cls)]
        said = stored if isinstance(stored, Mapping) else {}
        texts = {name: said[name] for name in names if isinstance(said.get(name), str)}
        if len(texts) < len(names) or not all(texts.values()):
            raise ValueError(f"not a notice: needs {', '.join(names)}")
        return cls(**texts)


def notice_of(old: Task | None, new: Task) -> Notice | None:
    """At most one for each version of a task; None where nobody needs to hear of it."""
    text = None if old is None or new.channel == NOBODY else _text(old, new)
    if text is None:
        return None
    return Notice(
        channel=new.channel,
        target=new.reply_target,
        text=text,
        key=f"{new.id}:{new.version}",
        task_id=new.id,
    )


def _text(old: Task, new: Task) -> str | None:
    became = None if old.status is new.status else new.status
    if became is Status.BLOCKED:
        return _blocked(new)
    if became is Status.FAILED:
        return f"{_failed_for_good(new)} /retry {new.short_id} tries again."
    if _awaits_check(new) and not _awaits_check(old):
        return _to_be_checked(new)
    if _has_succeeded(old, new):
        return _done(new) if new.type == ACTION else None
    run = _run_that_failed(old, new)
    if run is None:
        return None
    if new.next_retry_at is None:
        return _occurrence_lost(new, run)
    is_told = not new.is_reminder and _is_first(old, run)
    return _to_be_retried(new, run, new.next_retry_at) if is_told else None


# --- what happened ----------------------------------------------------------------------------


def _has_succeeded(old: Task, new: Task) -> bool:
    run = ended_run(old, new)
    return run is not None and run.status is RunStatus.COMMITTED


def _awaits_check(task: Task) -> bool:
    """A person is to look at the work. Where a provider is named for that, it is asked first."""
    return task.status is Status.PENDING_VERIFICATION and task.waits_for != FOR_ITS_VERIFIER


def _run_that_failed(old: Task, new: Task) -> Run | None:
    run = ended_run(old, new)
    has_failed = run is not None and run.error is not None
    return run if has_failed and old.status in _AT_WORK and new.status is Status.PENDING else None


def _is_first(old: Task, run: Run) -> bool:
    """The first failure of an occurrence, or the first since a person wanted it tried again.

    To wait for the budget is no failure: it is told once, and so is the first failure after it.
    """
    has_waited = old.recovery_action == Action.WAIT_FOR_BUDGET
    is_counted = (run.diagnosis or {}).get("counted", True)
    if not is_counted and run.status is not RunStatus.PAUSED_BUDGET:
        return False  # a hiccup of ours, which costs the task nothing
    if run.attempt == 1 or run.reason is Reason.USER_RETRY:
        return True
    if run.status is RunStatus.PAUSED_BUDGET:
        return not has_waited
    return has_waited and old.retry_count == 0


# --- how it is said ---------------------------------------------------------------------------


def _done(task: Task) -> str:
    return "\n".join([f"Done: {_description(task)}", *_reply(task)])


def _to_be_checked(task: Task) -> str:
    answers = f"/approve {task.short_id} or /reject {task.short_id} <why>."
    return "\n".join([f"Please check: {_description(task)}", *_reply(task), answers])


def _to_be_retried(task: Task, run: Run, next_retry_at: datetime) -> str:
    next_try = f"Next try: {_when(next_retry_at, task)}. /cancel {task.short_id} stops it."
    if run.status is RunStatus.PAUSED_BUDGET:
        return f"Task {task.short_id} waits for its budget: {_error(task)}. {next_try}"
    return f"Task {task.short_id} failed: {_error(task)}. {next_try}"


def _failed_for_good(task: Task) -> str:
    count = _times(task, "attempt")
    text = f"Task {task.short_id} failed for good after {count}: {_error(task)}."
    if task.run is not None and task.run.is_in_doubt:
        text += " It may or may not have happened: look first."
    return text


def _occurrence_lost(task: Task, run: Run) -> str:
    """A series goes on without it, unless too many were lost."""
    text = _in_doubt(task) if run.is_in_doubt else _failed_for_good(task)
    if task.paused:
        lost = f"{task.failed_occurrences} occurrences were lost in a row"
        return f"{text} The series is paused, as {lost}. /resume {task.short_id} lets it go on."
    return f"{text} The series goes on: {_when(task.due_at, task)}."


def _in_doubt(task: Task) -> str:
    name = task.short_id
    return (
        f"It may or may not have happened: {_description(task)}. Look, then "
        f"/resolve {name} applied, /resolve {name} not_applied or /resolve {name} skip."
    )


def _blocked(task: Task) -> str:
    name, error = task.short_id, _error(task)
    answers = f"/retry {name} tries again, /cancel {name} stops it."
    if task.recovery_action == Action.ASK_PERSON or (task.run and task.run.is_in_doubt):
        return _in_doubt(task)  # nothing else is accepted before that is known
    match task.recovery_action:
        case Action.AWAIT_FIX:
            return (
                f"Task {name} is blocked: {error}. Its handler has a bug; it is tried again when "
                f"a new version is deployed, or by /retry {name}."
            )
        case Action.RETRY_WITH_SPEC_REFRESH:
            return f"Task {name} waits for a review of its specification: {error}. {answers}"
        case Action.ESCALATE_TO_HUMAN:
            return f"Task {name} failed {_times(task, 'time')} and needs you: {error}. {answers}"
    count = _times(task, "attempt")
    return f"Task {name} is blocked, no retry is left after {count}: {error}. {answers}"


def _times(task: Task, noun: str) -> str:
    count = task.run.attempt if task.run else max(task.retry_count, 1)
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _error(task: Task) -> str:
    said = _GAPS.sub(" ", task.last_error or "").strip()
    return cut(said, ERROR_LIMIT).rstrip(".") or "no reason is known"


def _description(task: Task) -> str:
    return _beginning(_GAPS.sub(" ", task.description).strip(), DESCRIPTION_LIMIT)


def _reply(task: Task) -> list[str]:
    """What the provider said, without the line by which it told the outcome."""
    result = task.run.mutation.result if task.run else None
    said = result.get("reply") if isinstance(result, Mapping) else None
    text = _UNPRINTABLE.sub("", said).strip() if isinstance(said, str) else ""
    if not isinstance(outcome_of(text), NoOutcome):
        text = text.rpartition("\n")[0].rstrip()
    return [_beginning(text, REPLY_LIMIT)] if text else []


def _beginning(text: str, limit: int) -> str:
    return text if len(text) <= limit else f"{text[:limit].rstrip()} …"


def _when(instant: datetime, task: Task) -> str:
    wall = to_wall(instant, zone_named(task.timezone))
    clock = f"{wall:%H:%M:%S}" if wall.second else f"{wall:%H:%M}"
    return f"{wall:%A} {wall.day} {wall:%b %Y}, {clock} ({task.timezone})"
