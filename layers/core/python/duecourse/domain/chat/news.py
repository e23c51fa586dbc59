"""What a person is told about a task, read off two committed versions of it."""

from __future__ import annotations

from duecourse.domain.chat import notice_text
from duecourse.domain.chat.buttons import under_doubt, under_failure, under_work_to_check
from duecourse.domain.chat.notice import Notice
from duecourse.domain.chat.saying import Saying
from duecourse.domain.history import ended_run
from duecourse.domain.policy import Action
from duecourse.domain.run import Reason, Run, RunStatus
from duecourse.domain.status import Status
from duecourse.domain.task import ACTION, NOBODY, Task
from duecourse.domain.verification import FOR_ITS_VERIFIER

# Only these end in a failure. What a person does about one afterwards is no news to anybody.
_AT_WORK = (Status.IN_PROGRESS, Status.PENDING_VERIFICATION)


def notice_of(old: Task | None, new: Task) -> Notice | None:
    """At most one for each version of a task; None where nobody needs to hear of it."""
    said = None if old is None or new.channel == NOBODY else _said(old, new)
    if said is None:
        return None
    return Notice(
        channel=new.channel,
        target=new.reply_target,
        saying=said,
        key=f"{new.id}:{new.version}",
        task_id=new.id,
    )


def _said(old: Task, new: Task) -> Saying | None:
    became = None if old.status is new.status else new.status
    if became is Status.BLOCKED:
        return _blocked(new)
    if became is Status.FAILED:
        text = f"{notice_text.failed_for_good(new)} /retry {new.short_id} tries again."
        return Saying(text, under_failure(new))
    if _awaits_check(new) and not _awaits_check(old):
        return Saying(notice_text.to_be_checked(new), under_work_to_check(new))
    if _has_succeeded(old, new):
        return Saying(notice_text.done(new)) if new.type == ACTION else None
    run = _run_that_failed(old, new)
    return None if run is None else _not_done(old, new, run)


def _blocked(task: Task) -> Saying:
    # Nothing else is accepted before it is known whether it happened.
    if task.recovery_action == Action.ASK_PERSON or (task.run and task.run.is_in_doubt):
        return Saying(notice_text.in_doubt(task), under_doubt(task))
    return Saying(notice_text.blocked(task), under_failure(task))


def _not_done(old: Task, new: Task, run: Run) -> Saying | None:
    """The task waits for its next try, or a series for its next occurrence."""
    if new.next_retry_at is None:
        buttons = under_doubt(new) if run.is_in_doubt else under_failure(new)
        return Saying(notice_text.occurrence_lost(new, run), buttons)
    if new.is_reminder or not _is_first(old, run):
        return None
    return Saying(notice_text.to_be_retried(new, run, new.next_retry_at), under_failure(new))


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
    is_counted = (run.diagnosis or {}).get("counted", True)
    if not is_counted and run.status is not RunStatus.PAUSED_BUDGET:
        return False  # a hiccup of ours, which costs the task nothing
    if run.attempt == 1 or run.reason is Reason.USER_RETRY:
        return True
    if run.status is RunStatus.PAUSED_BUDGET:
        return old.recovery_action != Action.WAIT_FOR_BUDGET
    return old.retry_count == 0
