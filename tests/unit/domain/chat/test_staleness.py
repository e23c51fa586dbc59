"""Whether what a notice says of a task still holds, by the time that it can be told."""

from __future__ import annotations

from dataclasses import replace

import pytest
from duecourse.domain.chat.notification import Notification
from duecourse.domain.chat.notification_kind import NotificationKind
from duecourse.domain.chat.notifications_for import notifications_for
from duecourse.domain.chat.staleness import is_stale
from duecourse.domain.lifecycle.blocked_outcome import apply_review
from duecourse.domain.lifecycle.resolve_indeterminate import Resolution, resolve_indeterminate
from duecourse.domain.lifecycle.user_actions import cancel, pause, retry
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import Reason
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import WaitReason

from tests.support.builders.failures import a_diagnosis, a_failure_report, apply_decision
from tests.support.builders.moments import HOUR, NOW
from tests.support.builders.tasks import an_action, claim_task
from tests.support.notification_cases import (
    FAILED_OCCURRENCE,
    RETRY_FIELDS,
    await_verification,
    commit_run,
    fail_run,
    make_indeterminate,
    start_run,
    wait_for_budget,
)

ONE = start_run(an_action())
AGAIN = start_run(an_action(retry_count=1), attempt=2, reason=Reason.TRANSIENT)
SERIES = start_run(an_action(repeat="daily"))
FAILED = fail_run(ONE, **RETRY_FIELDS)
ESCALATED = fail_run(ONE, status=Status.BLOCKED, recovery_action=Action.ESCALATE_TO_HUMAN)
TO_CHECK = await_verification(ONE, WaitReason.VERIFICATION)
IN_DOUBT = make_indeterminate(ONE, status=Status.BLOCKED)
LOST = make_indeterminate(SERIES, **FAILED_OCCURRENCE)


def of(old: Task, new: Task) -> Notification:
    [notice] = notifications_for(old, new)
    return notice


def reviewed(running: Task) -> Task:
    """It failed once too often, and its specification is looked at."""
    payload = {"provider": "scripted", "spec": "foo is exported by lib/foo.ts"}
    third = replace(running, retry_count=2, payload=payload)
    return apply_decision(
        third, a_failure_report(third), at=NOW, diagnosis=a_diagnosis("code_error")
    )


def tried_again(task: Task) -> Task:
    return claim_task(task, "run-9", at=NOW + HOUR)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (ONE, FAILED),
        (ONE, wait_for_budget(ONE)),
        (AGAIN, fail_run(AGAIN, **RETRY_FIELDS)),
        (ONE, ESCALATED),
        (ONE, TO_CHECK),
        (ONE, IN_DOUBT),
        (SERIES, LOST),
    ],
)
def test_what_is_as_it_was_is_told(old: Task, new: Task) -> None:
    assert not is_stale(of(old, new), new)
    touched = replace(new, version=new.version + 1)
    assert not is_stale(of(old, new), touched)


def test_a_retry_that_failed_is_not_told_once_it_was_tried_again() -> None:
    new = fail_run(AGAIN, **RETRY_FIELDS)
    again = tried_again(new)
    for after in (again, fail_run(again, **RETRY_FIELDS), commit_run(again), retry(new, at=NOW)):
        assert is_stale(of(AGAIN, new), after)


def test_a_first_failure_is_told_until_something_has_come_of_it() -> None:
    again = tried_again(FAILED)
    for after in (again, fail_run(again, **RETRY_FIELDS), retry(FAILED, at=NOW), reviewed(again)):
        assert not is_stale(of(ONE, FAILED), after)
    for after in (commit_run(again), fail_run(again, status=Status.FAILED), ESCALATED):
        assert is_stale(of(ONE, FAILED), after)


def test_a_failure_is_not_told_once_it_was_called_off_but_while_it_is_paused() -> None:
    assert is_stale(of(ONE, FAILED), cancel(FAILED, at=NOW))
    assert not is_stale(of(ONE, FAILED), pause(FAILED))


@pytest.mark.parametrize(
    ("new", "after"),
    [
        (ESCALATED, retry(ESCALATED, at=NOW)),
        (ESCALATED, cancel(ESCALATED, at=NOW)),
        (ESCALATED, replace(ESCALATED, status=Status.FAILED)),
        (TO_CHECK, commit_run(TO_CHECK)),
        (TO_CHECK, fail_run(TO_CHECK, **RETRY_FIELDS)),
        *[(IN_DOUBT, resolve_indeterminate(IN_DOUBT, answer, at=NOW)) for answer in Resolution],
        (IN_DOUBT, tried_again(resolve_indeterminate(IN_DOUBT, Resolution.NOT_APPLIED, at=NOW))),
        (IN_DOUBT, cancel(IN_DOUBT, at=NOW)),
    ],
)
def test_what_was_answered_is_not_asked_any_more(new: Task, after: Task) -> None:
    assert is_stale(of(ONE, new), after)


def test_a_review_that_is_waited_for_is_told_until_it_ends() -> None:
    third = claim_task(an_action(retry_count=2), "run-3")
    waiting = reviewed(third)
    notice = of(third, waiting)
    assert not is_stale(notice, waiting)
    assert is_stale(notice, apply_review(waiting, None, at=NOW))


@pytest.mark.parametrize("answer", Resolution)
def test_a_doubt_about_an_occurrence_is_told_until_somebody_answers(answer: Resolution) -> None:
    answered = resolve_indeterminate(LOST, answer, at=NOW)
    assert is_stale(of(SERIES, LOST), answered)
    if answer is Resolution.NOT_APPLIED:
        assert is_stale(of(SERIES, LOST), commit_run(tried_again(answered)))


def test_a_doubt_about_an_occurrence_stays_true_when_the_next_one_has_come() -> None:
    assert not is_stale(of(SERIES, LOST), commit_run(tried_again(LOST)))


def test_a_task_that_is_gone_waits_for_nothing() -> None:
    for new in (FAILED, ESCALATED, TO_CHECK, IN_DOUBT):
        assert is_stale(of(ONE, new), None)


def test_what_does_not_say_which_run_it_is_about_is_told() -> None:
    """It was sent before notices said so."""
    old = replace(of(ONE, FAILED), run_id=None)
    assert not is_stale(old, commit_run(tried_again(FAILED)))


@pytest.mark.parametrize("kind", NotificationKind)
def test_how_something_ended_stays_true(kind: NotificationKind) -> None:
    ends = (
        NotificationKind.FINAL_FAILURE,
        NotificationKind.RECOVERY,
        NotificationKind.DONE,
        NotificationKind.OTHER,
    )
    assert kind.can_become_stale is (kind not in ends)
