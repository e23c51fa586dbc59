"""What people are told about a task, read off two committed versions of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from duecourse.domain.chat import notification_text
from duecourse.domain.chat.buttons import under_doubt, under_failure, under_work_to_check
from duecourse.domain.chat.chat_address import Place
from duecourse.domain.chat.chat_message import Saying
from duecourse.domain.chat.notification import Notice
from duecourse.domain.chat.notification_kind import Kind
from duecourse.domain.journal.counters import recovery_of
from duecourse.domain.journal.history import ended_run
from duecourse.domain.lifecycle.blocked import is_in_doubt, waited_in_vain, was_escalated
from duecourse.domain.lifecycle.spec_review import is_review
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import Reason, Run, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import ACTION, NOBODY, Task
from duecourse.domain.tasks.wait import WaitReason

# Only these end in a failure. What a person does about one afterwards is no news to anybody.
_AT_WORK = (Status.IN_PROGRESS, Status.PENDING_VERIFICATION)
_FOR_OPERATORS = (Kind.ESCALATION, Kind.DOUBT)


@dataclass(frozen=True, slots=True)
class News:
    kind: Kind
    saying: Saying


def notices_of(old: Task | None, new: Task, operators: Sequence[Place] = ()) -> list[Notice]:
    """At most one for its owner for each version of a task; what needs a person is told to the
    operators, too, and only to them where its owner is told in their chat: it waits for nobody.
    Empty where nobody needs to hear of it."""
    news = None if old is None else _news(old, new)
    if old is None or news is None:
        return []
    places = operators if news.kind in _FOR_OPERATORS else ()
    is_told_there = Place(new.channel, new.reply_target) in places
    told = [] if new.channel == NOBODY or is_told_there else [_for_owner(old, new, news)]
    return told + [_for_operators(new, news, place) for place in places]


def _for_owner(old: Task, new: Task, news: News) -> Notice:
    return Notice(
        channel=new.channel,
        target=new.reply_target,
        saying=news.saying,
        key=_key(new),
        task_id=new.id,
        kind=news.kind,
        sender_id=new.sender_id,
        wanted_at=old.wanted_at,
        run_id=_run_id(new),
    )


def _for_operators(task: Task, news: News, place: Place) -> Notice:
    said = Saying(notification_text.to_operators(task, news.saying.text), news.saying.buttons)
    return Notice(
        channel=place.channel,
        target=place.target,
        saying=said,
        key=f"{_key(task)}:{place}",
        task_id=task.id,
        kind=news.kind,
        run_id=_run_id(task),
    )


def _key(task: Task) -> str:
    return f"{task.id}:{task.version}"


def _run_id(task: Task) -> str | None:
    return task.run.id if task.run else None


def _news(old: Task, new: Task) -> News | None:
    if is_review(new):
        return None  # what came of it is told of the task that it was made for
    became = None if old.status is new.status else new.status
    if became is Status.BLOCKED or was_escalated(old, new):
        return _blocked(new)
    if became is Status.FAILED:
        why = waited_in_vain(old, new)
        ended = (
            notification_text.timed_out(new, why) if why else notification_text.failed_for_good(new)
        )
        text = f"{ended} /retry {new.short_id} tries again."
        return News(Kind.END, Saying(text, under_failure(new)))
    if _awaits_check(new) and not _awaits_check(old):
        check = Saying(notification_text.to_be_checked(new), under_work_to_check(new))
        return News(Kind.CHECK, check)
    run = ended_run(old, new)
    if run is not None and run.status is RunStatus.COMMITTED:
        return _succeeded(old, new, run)
    failed = _run_that_failed(old, new)
    return None if failed is None else _not_done(old, new, failed)


def _blocked(task: Task) -> News:
    # Nothing else is accepted before it is known whether it happened.
    if is_in_doubt(task):
        return News(Kind.DOUBT, Saying(notification_text.in_doubt(task), under_doubt(task)))
    # A review of its specification is a step on the way, and asks nothing of its owner.
    is_reviewed = task.recovery_action is Action.RETRY_WITH_SPEC_REFRESH
    kind = Kind.RETRY if is_reviewed else Kind.ESCALATION
    return News(kind, Saying(notification_text.blocked(task), under_failure(task)))


def _succeeded(old: Task, new: Task, run: Run) -> News | None:
    """A reminder speaks for itself, however late it comes; of other work but actions, only that it
    works again is news."""
    recovered = recovery_of(old, new, run) is not None and _was_told(old, run)
    if new.type == ACTION:
        text = notification_text.done(new, attempt=run.attempt if recovered else 1)
        return News(Kind.RECOVERY if recovered else Kind.DONE, Saying(text))
    if new.is_reminder or not (recovered or old.failed_occurrences):
        return None
    attempt = run.attempt if recovered else 1
    text = notification_text.works_again(new, attempt=attempt, lost=old.failed_occurrences)
    return News(Kind.RECOVERY, Saying(text))


def _was_told(old: Task, run: Run) -> bool:
    """Its owner heard of a failure: a hiccup that costs the task nothing is told to nobody. Whoever
    had it tried again began a new count."""
    return old.retry_count > 0 or run.follows is not None or run.reason is Reason.USER_RETRY


def _not_done(old: Task, new: Task, run: Run) -> News | None:
    """The task waits for its next try, or a series for its next occurrence."""
    if new.next_retry_at is None:
        buttons = under_doubt(new) if run.is_in_doubt else under_failure(new)
        lost = Saying(notification_text.occurrence_lost(new, run), buttons)
        return News(Kind.DOUBT if run.is_in_doubt else Kind.END, lost)
    is_first = _is_first(old, run)
    if new.is_reminder or not (is_first or _is_counted(run)):
        return None
    text = notification_text.to_be_retried(new, run, new.next_retry_at)
    return News(Kind.FIRST_FAILURE if is_first else Kind.RETRY, Saying(text, under_failure(new)))


def _awaits_check(task: Task) -> bool:
    """A person is to look at the work. Where a provider is named for that, it is asked first."""
    is_open = task.status is Status.PENDING_VERIFICATION
    return is_open and task.wait_reason is not WaitReason.VERIFIER


def _run_that_failed(old: Task, new: Task) -> Run | None:
    run = ended_run(old, new)
    has_failed = run is not None and run.error is not None
    return run if has_failed and old.status in _AT_WORK and new.status is Status.PENDING else None


def _is_first(old: Task, run: Run) -> bool:
    """The first failure of an occurrence, or the first since a person wanted it tried again.

    To wait for the budget is no failure: it is told once, and so is the first failure after it.
    """
    is_budget = run.status is RunStatus.PAUSED_BUDGET
    if not _is_counted(run) and not is_budget:
        return False  # a hiccup of ours, which costs the task nothing
    if run.attempt == 1 or run.reason is Reason.USER_RETRY:
        return True
    if is_budget:
        return old.recovery_action is not Action.WAIT_FOR_BUDGET
    return old.retry_count == 0


def _is_counted(run: Run) -> bool:
    is_counted = run.diagnosis is None or run.diagnosis.counted
    return is_counted and run.status is not RunStatus.PAUSED_BUDGET
