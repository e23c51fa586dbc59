"""What kind of news there is, who wants which, and what the operators hear as well."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from duecourse.domain.chat.chat_address import ChatAddress
from duecourse.domain.chat.notification_kind import NotificationKind, NotifyLevel
from duecourse.domain.chat.notifications_for import notifications_for
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import PreviousFailure, Reason, RunStatus
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import WaitReason

from tests.support.builders.chat import a_message
from tests.support.builders.moments import HOUR, NOW
from tests.support.builders.runs import a_run, run_of
from tests.support.builders.tasks import ID, a_task, an_action
from tests.support.notification_cases import (
    FAILED_OCCURRENCE,
    NEXT_OCCURRENCE,
    RETRY_FIELDS,
    await_verification,
    commit_run,
    fail_run,
    make_indeterminate,
    notification_text,
    start_run,
    wait_for_budget,
)

SHORT = ID[:8]
NAMED = f"Task {SHORT} (stretch)"
ONE = start_run(an_action())
SERIES = start_run(an_action(repeat="daily"))
AGAIN = start_run(an_action(retry_count=1), attempt=2, reason=Reason.TRANSIENT)
HOOK = start_run(a_task(type="webhook", retry_count=2), attempt=3, reason=Reason.TRANSIENT)
OPERATOR_CHATS = [ChatAddress("slack", "C0OPS")]
THEIRS = start_run(an_action(channel="slack", sender_id="U1", reply_target="C0OPS"))


def kinds(old: Task, new: Task) -> list[NotificationKind]:
    return [notice.kind for notice in notifications_for(old, new)]


def blocked(old: Task, action: Action) -> Task:
    return fail_run(old, status=Status.BLOCKED, recovery_action=action)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (ONE, fail_run(ONE, **RETRY_FIELDS), NotificationKind.FIRST_FAILURE),
        (ONE, wait_for_budget(ONE), NotificationKind.FIRST_FAILURE),
        (AGAIN, fail_run(AGAIN, **RETRY_FIELDS), NotificationKind.RETRY),
        (ONE, blocked(ONE, Action.RETRY_WITH_SPEC_REFRESH), NotificationKind.RETRY),
        (ONE, blocked(ONE, Action.ESCALATE_TO_HUMAN), NotificationKind.ESCALATION),
        (ONE, blocked(ONE, Action.MARK_AS_BLOCKED), NotificationKind.ESCALATION),
        (ONE, blocked(ONE, Action.AWAIT_FIX), NotificationKind.ESCALATION),
        (ONE, make_indeterminate(ONE, status=Status.BLOCKED), NotificationKind.INDETERMINATE),
        (SERIES, make_indeterminate(SERIES, **FAILED_OCCURRENCE), NotificationKind.INDETERMINATE),
        (ONE, fail_run(ONE, status=Status.FAILED), NotificationKind.FINAL_FAILURE),
        (SERIES, fail_run(SERIES, **FAILED_OCCURRENCE), NotificationKind.FINAL_FAILURE),
        (ONE, await_verification(ONE, WaitReason.VERIFICATION), NotificationKind.VERIFICATION),
        (ONE, commit_run(ONE), NotificationKind.DONE),
        (AGAIN, commit_run(AGAIN), NotificationKind.RECOVERY),
        (HOOK, commit_run(HOOK), NotificationKind.RECOVERY),
    ],
)
def test_every_notice_has_a_kind(old: Task, new: Task, kind: NotificationKind) -> None:
    assert kinds(old, new) == [kind]


@pytest.mark.parametrize(
    ("level", "unwanted"),
    [
        (NotifyLevel.ALL, set()),
        (NotifyLevel.IMPORTANT, {NotificationKind.RETRY}),
        (
            NotifyLevel.NONE,
            {
                NotificationKind.FIRST_FAILURE,
                NotificationKind.RETRY,
                NotificationKind.FINAL_FAILURE,
                NotificationKind.RECOVERY,
                NotificationKind.DONE,
            },
        ),
    ],
)
def test_people_choose_what_they_hear(level: NotifyLevel, unwanted: set[NotificationKind]) -> None:
    assert {kind for kind in NotificationKind if not level.wants(kind)} == unwanted


# It works again


def test_an_action_that_worked_after_failures_says_so_in_the_one_message() -> None:
    old = start_run(an_action(retry_count=2), attempt=3, reason=Reason.TRANSIENT)
    assert notification_text(old, commit_run(old)) == "Done on attempt 3: stretch\nMended."


def test_other_work_that_worked_after_failures_says_so() -> None:
    assert notification_text(HOOK, commit_run(HOOK)) == f"{NAMED} succeeded on attempt 3."


def test_a_reminder_that_comes_late_says_no_more_than_that_it_comes() -> None:
    old = start_run(a_task(retry_count=2), attempt=3, reason=Reason.TRANSIENT)
    assert notifications_for(old, commit_run(old, status=Status.DELIVERED)) == []


@pytest.mark.parametrize(
    ("lost", "words"), [(1, "1 failed occurrence"), (2, "2 failed occurrences")]
)
def test_a_series_that_works_again_says_so_once(lost: int, words: str) -> None:
    old = start_run(a_task(type="webhook", repeat="daily", failed_occurrences=lost))
    new = commit_run(old, **NEXT_OCCURRENCE, failed_occurrences=0)
    assert notification_text(old, new) == f"{NAMED} succeeded, after {words}."
    tomorrow = start_run(new)
    assert notifications_for(tomorrow, commit_run(tomorrow, **NEXT_OCCURRENCE)) == []


@pytest.mark.parametrize(
    "known",
    [{"reason": Reason.USER_RETRY}, {"previous_failure": PreviousFailure(category="timeout")}],
)
def test_what_a_person_had_tried_again_says_that_it_worked(known: dict[str, Any]) -> None:
    failure = replace(HOOK, retry_count=0, run=replace(run_of(HOOK), **known))
    assert notification_text(failure, commit_run(failure)) == f"{NAMED} succeeded on attempt 3."


def test_of_a_hiccup_that_nobody_heard_of_nobody_hears_that_it_is_over() -> None:
    for asked_at in (None, NOW):  # a program may have named another time
        old = replace(HOOK, retry_count=0, rescheduled_at=asked_at)
        assert notifications_for(old, commit_run(old)) == []
    action = start_run(an_action(), attempt=2, reason=Reason.TRANSIENT)
    assert notification_text(action, commit_run(action)) == "Done: stretch\nMended."


def test_work_that_was_approved_at_once_did_not_recover() -> None:
    run = {"attempt": 2, "reason": Reason.USER_RETRY, "is_verified": True}
    old = start_run(a_task(type="webhook"), **run)
    assert notifications_for(old, commit_run(old)) == []


def test_between_the_first_failure_and_the_end_only_retries_are_told() -> None:
    hiccup = fail_run(AGAIN, **RETRY_FIELDS)
    uncounted = replace(
        hiccup, run=replace(hiccup.run or a_run(), diagnosis=RunDiagnosis(counted=False))
    )
    assert notifications_for(AGAIN, uncounted) == []
    waiting = start_run(wait_for_budget(ONE), id="run-2", attempt=2, reason=Reason.TRANSIENT)
    assert notifications_for(waiting, wait_for_budget(waiting)) == []
    reminder = start_run(a_task(retry_count=1), attempt=2, reason=Reason.TRANSIENT)
    assert notifications_for(reminder, fail_run(reminder, **RETRY_FIELDS)) == []


# Whose it is, and when they asked for it


def test_a_notice_says_whose_task_it_is_about_and_when_they_asked_for_it() -> None:
    old = start_run(an_action(sender_id="ada", reply_target="room-7"))
    [notice] = notifications_for(old, commit_run(old))
    assert (notice.target, notice.sender_id) == ("room-7", "ada")
    assert notice.owner_requested_at == old.created_at


@pytest.mark.parametrize(
    ("fields", "wanted_at"),
    [
        ({"repeat": "daily"}, None),
        ({"created_by": "ci"}, None),
        ({"repeat": "daily", "owner_rescheduled_at": NOW}, NOW),
        ({"owner_rescheduled_at": NOW}, NOW),
        ({"rescheduled_at": NOW, "owner_rescheduled_at": NOW}, NOW),
        ({"rescheduled_at": NOW}, None),
        ({"rescheduled_at": NOW, "owner_rescheduled_at": NOW - HOUR}, None),
        ({"rescheduled_at": NOW, "created_by": "ci"}, None),
        ({}, NOW - HOUR),
    ],
)
def test_nobody_asked_for_what_a_series_or_a_program_brings(
    fields: dict[str, Any], wanted_at: Any
) -> None:
    old = start_run(an_action(**fields))
    after = {**NEXT_OCCURRENCE, "owner_rescheduled_at": None} if "repeat" in fields else {}
    [notice] = notifications_for(old, commit_run(old, **after))
    assert notice.owner_requested_at == wanted_at


# The operators


@pytest.mark.parametrize(
    ("new", "is_told"),
    [
        (blocked(ONE, Action.ESCALATE_TO_HUMAN), True),
        (blocked(ONE, Action.MARK_AS_BLOCKED), True),
        (blocked(ONE, Action.AWAIT_FIX), True),
        (make_indeterminate(ONE, status=Status.BLOCKED), True),
        (blocked(ONE, Action.RETRY_WITH_SPEC_REFRESH), False),
        (fail_run(ONE, status=Status.FAILED), False),
        (fail_run(ONE, **RETRY_FIELDS), False),
        (await_verification(ONE, WaitReason.VERIFICATION), False),
        (commit_run(ONE), False),
    ],
)
def test_the_operators_hear_of_what_needs_a_person(new: Task, is_told: bool) -> None:
    theirs = [one for one in notifications_for(ONE, new, OPERATOR_CHATS) if one.channel == "slack"]
    assert bool(theirs) is is_told


def test_the_operators_are_told_whose_it_is_with_the_same_words_and_buttons() -> None:
    new = blocked(ONE, Action.ESCALATE_TO_HUMAN)
    mine, theirs = notifications_for(ONE, new, OPERATOR_CHATS)
    assert theirs.message.text == (
        f"Task {SHORT} of console:ada needs a person.\n{mine.message.text}"
    )
    assert theirs.message.buttons == mine.message.buttons != ()
    assert (theirs.channel, theirs.target) == ("slack", "C0OPS")
    assert (theirs.sender_id, theirs.owner_requested_at) == (None, None)
    assert (mine.idempotency_key, theirs.idempotency_key) == (f"{ID}:3", f"{ID}:3:slack:C0OPS")


def test_every_chat_of_the_operators_is_told_under_a_key_of_its_own() -> None:
    places = [*OPERATOR_CHATS, ChatAddress("telegram", "-100:7")]
    notices = notifications_for(ONE, blocked(ONE, Action.MARK_AS_BLOCKED), places)
    assert len({notice.idempotency_key for notice in notices}) == 3
    again = notifications_for(ONE, blocked(ONE, Action.MARK_AS_BLOCKED), places)
    assert [notice.idempotency_key for notice in again] == [
        notice.idempotency_key for notice in notices
    ]


def test_what_is_told_in_the_operators_chat_anyway_is_told_once() -> None:
    assert (
        len(notifications_for(THEIRS, blocked(THEIRS, Action.MARK_AS_BLOCKED), OPERATOR_CHATS)) == 1
    )


@pytest.mark.parametrize(
    ("new", "sender_id"),
    [
        (blocked(THEIRS, Action.ESCALATE_TO_HUMAN), None),
        (make_indeterminate(THEIRS, status=Status.BLOCKED), None),
        (commit_run(THEIRS), "U1"),
    ],
)
def test_what_needs_a_person_waits_for_nobody_in_the_operators_chat(
    new: Task, sender_id: str | None
) -> None:
    [notice] = notifications_for(THEIRS, new, OPERATOR_CHATS)
    assert (notice.target, notice.sender_id) == ("C0OPS", sender_id)


def test_the_operators_hear_of_a_task_that_only_programs_ask_about() -> None:
    old = start_run(an_action(channel="api"))
    [notice] = notifications_for(old, blocked(old, Action.MARK_AS_BLOCKED), OPERATOR_CHATS)
    assert notice.channel == "slack"


# A chat by its name


@pytest.mark.parametrize(
    ("fields", "is_there"),
    [
        ({"channel": "slack", "reply_target": "C0OPS"}, True),
        ({"channel": "slack", "reply_target": "C0OPS:1771329600.1"}, True),
        ({"channel": "slack", "reply_target": "U1", "source_chat": "C0OPS"}, True),
        ({"channel": "slack", "reply_target": "U1"}, False),
        ({"channel": "slack", "reply_target": "C0OPS", "source_chat": "C0TEA"}, False),
        ({"channel": "slack", "reply_target": "C0OPS2"}, False),
        ({"channel": "slack", "reply_target": "C0TEA:C0OPS"}, False),
        ({"channel": "discord", "reply_target": "C0OPS"}, False),
    ],
)
@pytest.mark.parametrize("is_private", [True, False])
def test_what_is_said_in_a_chat_is_known_by_where_it_was_said(
    fields: dict[str, Any], is_there: bool, is_private: bool
) -> None:
    message = a_message(**fields, is_private=is_private)
    assert OPERATOR_CHATS[0].contains(message) is is_there


@pytest.mark.parametrize("text", ["", "slack", "slack:", ":C0OPS"])
def test_what_names_no_chat_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no chat"):
        ChatAddress.from_text(text)


def test_a_chat_may_have_a_topic_in_its_name() -> None:
    assert ChatAddress.from_text(" telegram:-100:7 ") == ChatAddress("telegram", "-100:7")


def test_a_run_that_was_cancelled_is_no_news() -> None:
    new = fail_run(ONE, RunStatus.CANCELLED, status=Status.CANCELLED)
    assert notifications_for(ONE, new, OPERATOR_CHATS) == []
