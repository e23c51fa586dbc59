"""Whether a notification has become stale by the time it is delivered."""

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

ONE_SHOT = start_run(an_action())
SECOND_ATTEMPT = start_run(an_action(retry_count=1), attempt=2, reason=Reason.TRANSIENT)
SERIES = start_run(an_action(repeat="daily"))
FAILED = fail_run(ONE_SHOT, **RETRY_FIELDS)
ESCALATED = fail_run(ONE_SHOT, status=Status.BLOCKED, recovery_action=Action.ESCALATE_TO_HUMAN)
TO_VERIFY = await_verification(ONE_SHOT, WaitReason.VERIFICATION)
INDETERMINATE = make_indeterminate(ONE_SHOT, status=Status.BLOCKED)
INDETERMINATE_OCCURRENCE = make_indeterminate(SERIES, **FAILED_OCCURRENCE)


def notification_of(old: Task, new: Task) -> Notification:
    [notification] = notifications_for(old, new)
    return notification


def block_for_review(running: Task) -> Task:
    """Fail the running task so that it waits for a spec review."""
    payload = {"provider": "scripted", "spec": "foo is exported by lib/foo.ts"}
    third_run = replace(running, retry_count=2, payload=payload)
    return apply_decision(
        third_run, a_failure_report(third_run), at=NOW, diagnosis=a_diagnosis("code_error")
    )


def claim_again(task: Task) -> Task:
    return claim_task(task, "run-9", at=NOW + HOUR)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (ONE_SHOT, FAILED),
        (ONE_SHOT, wait_for_budget(ONE_SHOT)),
        (SECOND_ATTEMPT, fail_run(SECOND_ATTEMPT, **RETRY_FIELDS)),
        (ONE_SHOT, ESCALATED),
        (ONE_SHOT, TO_VERIFY),
        (ONE_SHOT, INDETERMINATE),
        (SERIES, INDETERMINATE_OCCURRENCE),
    ],
)
def test_a_notification_of_an_unchanged_task_is_not_stale(old: Task, new: Task) -> None:
    assert not is_stale(notification_of(old, new), new)
    updated = replace(new, version=new.version + 1)
    assert not is_stale(notification_of(old, new), updated)


def test_a_failed_retry_is_stale_once_the_task_ran_again() -> None:
    new = fail_run(SECOND_ATTEMPT, **RETRY_FIELDS)
    second_run = claim_again(new)
    for after in (
        second_run,
        fail_run(second_run, **RETRY_FIELDS),
        commit_run(second_run),
        retry(new, at=NOW),
    ):
        assert is_stale(notification_of(SECOND_ATTEMPT, new), after)


def test_a_first_failure_is_stale_once_the_task_ended_or_escalated() -> None:
    second_run = claim_again(FAILED)
    for after in (
        second_run,
        fail_run(second_run, **RETRY_FIELDS),
        retry(FAILED, at=NOW),
        block_for_review(second_run),
    ):
        assert not is_stale(notification_of(ONE_SHOT, FAILED), after)
    for after in (commit_run(second_run), fail_run(second_run, status=Status.FAILED), ESCALATED):
        assert is_stale(notification_of(ONE_SHOT, FAILED), after)


def test_a_failure_is_stale_after_a_cancellation_but_not_after_a_pause() -> None:
    assert is_stale(notification_of(ONE_SHOT, FAILED), cancel(FAILED, at=NOW))
    assert not is_stale(notification_of(ONE_SHOT, FAILED), pause(FAILED))


@pytest.mark.parametrize(
    ("new", "after"),
    [
        (ESCALATED, retry(ESCALATED, at=NOW)),
        (ESCALATED, cancel(ESCALATED, at=NOW)),
        (ESCALATED, replace(ESCALATED, status=Status.FAILED)),
        (TO_VERIFY, commit_run(TO_VERIFY)),
        (TO_VERIFY, fail_run(TO_VERIFY, **RETRY_FIELDS)),
        *[
            (INDETERMINATE, resolve_indeterminate(INDETERMINATE, resolution, at=NOW))
            for resolution in Resolution
        ],
        (
            INDETERMINATE,
            claim_again(resolve_indeterminate(INDETERMINATE, Resolution.NOT_APPLIED, at=NOW)),
        ),
        (INDETERMINATE, cancel(INDETERMINATE, at=NOW)),
    ],
)
def test_a_question_is_stale_once_it_was_answered(new: Task, after: Task) -> None:
    assert is_stale(notification_of(ONE_SHOT, new), after)


def test_an_awaited_review_is_stale_once_it_ended() -> None:
    third_run = claim_task(an_action(retry_count=2), "run-3")
    awaiting_review = block_for_review(third_run)
    notification = notification_of(third_run, awaiting_review)
    assert not is_stale(notification, awaiting_review)
    assert is_stale(notification, apply_review(awaiting_review, None, at=NOW))


@pytest.mark.parametrize("resolution", Resolution)
def test_an_unknown_outcome_of_an_occurrence_is_stale_once_resolved(resolution: Resolution) -> None:
    resolved = resolve_indeterminate(INDETERMINATE_OCCURRENCE, resolution, at=NOW)
    assert is_stale(notification_of(SERIES, INDETERMINATE_OCCURRENCE), resolved)
    if resolution is Resolution.NOT_APPLIED:
        assert is_stale(
            notification_of(SERIES, INDETERMINATE_OCCURRENCE), commit_run(claim_again(resolved))
        )


def test_an_unknown_outcome_is_not_stale_after_the_next_occurrence() -> None:
    assert not is_stale(
        notification_of(SERIES, INDETERMINATE_OCCURRENCE),
        commit_run(claim_again(INDETERMINATE_OCCURRENCE)),
    )


def test_a_notification_of_a_deleted_task_is_stale() -> None:
    for new in (FAILED, ESCALATED, TO_VERIFY, INDETERMINATE):
        assert is_stale(notification_of(ONE_SHOT, new), None)


def test_a_notification_without_a_run_id_is_not_stale() -> None:
    """Earlier versions sent notifications without a run id."""
    old = replace(notification_of(ONE_SHOT, FAILED), run_id=None)
    assert not is_stale(old, commit_run(claim_again(FAILED)))


@pytest.mark.parametrize("kind", NotificationKind)
def test_notifications_of_final_states_never_become_stale(kind: NotificationKind) -> None:
    final_kinds = (
        NotificationKind.FINAL_FAILURE,
        NotificationKind.RECOVERY,
        NotificationKind.DONE,
        NotificationKind.RESOLVED,
        NotificationKind.OTHER,
    )
    assert kind.can_become_stale is (kind not in final_kinds)
