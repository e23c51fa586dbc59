"""The kinds of notifications, the levels that include them, and the operators' copies."""

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
TASK_NAME = f"Task {SHORT} (stretch)"
ONE_SHOT = start_run(an_action())
SERIES = start_run(an_action(repeat="daily"))
SECOND_ATTEMPT = start_run(an_action(retry_count=1), attempt=2, reason=Reason.TRANSIENT)
WEBHOOK = start_run(a_task(type="webhook", retry_count=2), attempt=3, reason=Reason.TRANSIENT)
OPERATOR_CHATS = [ChatAddress("slack", "C0OPS")]
OPERATORS_TASK = start_run(an_action(channel="slack", sender_id="U1", reply_target="C0OPS"))


def notification_kinds(old: Task, new: Task) -> list[NotificationKind]:
    return [notification.kind for notification in notifications_for(old, new)]


def block_task(old: Task, action: Action) -> Task:
    return fail_run(old, status=Status.BLOCKED, recovery_action=action)


@pytest.mark.parametrize(
    ("old", "new", "kind"),
    [
        (ONE_SHOT, fail_run(ONE_SHOT, **RETRY_FIELDS), NotificationKind.FIRST_FAILURE),
        (ONE_SHOT, wait_for_budget(ONE_SHOT), NotificationKind.FIRST_FAILURE),
        (SECOND_ATTEMPT, fail_run(SECOND_ATTEMPT, **RETRY_FIELDS), NotificationKind.RETRY),
        (ONE_SHOT, block_task(ONE_SHOT, Action.RETRY_WITH_SPEC_REFRESH), NotificationKind.RETRY),
        (ONE_SHOT, block_task(ONE_SHOT, Action.ESCALATE_TO_HUMAN), NotificationKind.ESCALATION),
        (ONE_SHOT, block_task(ONE_SHOT, Action.MARK_AS_BLOCKED), NotificationKind.ESCALATION),
        (ONE_SHOT, block_task(ONE_SHOT, Action.AWAIT_FIX), NotificationKind.ESCALATION),
        (
            ONE_SHOT,
            make_indeterminate(ONE_SHOT, status=Status.BLOCKED),
            NotificationKind.INDETERMINATE,
        ),
        (SERIES, make_indeterminate(SERIES, **FAILED_OCCURRENCE), NotificationKind.INDETERMINATE),
        (ONE_SHOT, fail_run(ONE_SHOT, status=Status.FAILED), NotificationKind.FINAL_FAILURE),
        (SERIES, fail_run(SERIES, **FAILED_OCCURRENCE), NotificationKind.FINAL_FAILURE),
        (
            ONE_SHOT,
            await_verification(ONE_SHOT, WaitReason.VERIFICATION),
            NotificationKind.VERIFICATION,
        ),
        (ONE_SHOT, commit_run(ONE_SHOT), NotificationKind.DONE),
        (SECOND_ATTEMPT, commit_run(SECOND_ATTEMPT), NotificationKind.RECOVERY),
        (WEBHOOK, commit_run(WEBHOOK), NotificationKind.RECOVERY),
    ],
)
def test_every_notification_has_a_kind(old: Task, new: Task, kind: NotificationKind) -> None:
    assert notification_kinds(old, new) == [kind]


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
def test_each_notify_level_excludes_kinds(
    level: NotifyLevel, unwanted: set[NotificationKind]
) -> None:
    assert {kind for kind in NotificationKind if not level.wants(kind)} == unwanted


# Recoveries


def test_a_recovered_action_states_its_attempt_in_one_message() -> None:
    old = start_run(an_action(retry_count=2), attempt=3, reason=Reason.TRANSIENT)
    assert notification_text(old, commit_run(old)) == "Done on attempt 3: stretch\nMended."


def test_a_recovered_webhook_states_its_attempt() -> None:
    assert notification_text(WEBHOOK, commit_run(WEBHOOK)) == f"{TASK_NAME} succeeded on attempt 3."


def test_a_recovered_reminder_sends_no_notification() -> None:
    old = start_run(a_task(retry_count=2), attempt=3, reason=Reason.TRANSIENT)
    assert notifications_for(old, commit_run(old, status=Status.DELIVERED)) == []


@pytest.mark.parametrize(
    ("failed_occurrences", "phrase"), [(1, "1 failed occurrence"), (2, "2 failed occurrences")]
)
def test_a_recovered_series_is_notified_once(failed_occurrences: int, phrase: str) -> None:
    old = start_run(a_task(type="webhook", repeat="daily", failed_occurrences=failed_occurrences))
    new = commit_run(old, **NEXT_OCCURRENCE, failed_occurrences=0)
    assert notification_text(old, new) == f"{TASK_NAME} succeeded, after {phrase}."
    tomorrow = start_run(new)
    assert notifications_for(tomorrow, commit_run(tomorrow, **NEXT_OCCURRENCE)) == []


@pytest.mark.parametrize(
    "run_fields",
    [{"reason": Reason.USER_RETRY}, {"previous_failure": PreviousFailure(category="timeout")}],
)
def test_a_successful_user_retry_is_notified_as_a_recovery(run_fields: dict[str, Any]) -> None:
    failed = replace(WEBHOOK, retry_count=0, run=replace(run_of(WEBHOOK), **run_fields))
    assert notification_text(failed, commit_run(failed)) == f"{TASK_NAME} succeeded on attempt 3."


def test_the_recovery_from_an_uncounted_failure_is_not_notified() -> None:
    for rescheduled_at in (None, NOW):  # an API client may have rescheduled the task
        old = replace(WEBHOOK, retry_count=0, rescheduled_at=rescheduled_at)
        assert notifications_for(old, commit_run(old)) == []
    action = start_run(an_action(), attempt=2, reason=Reason.TRANSIENT)
    assert notification_text(action, commit_run(action)) == "Done: stretch\nMended."


def test_verified_work_is_not_notified_as_a_recovery() -> None:
    run = {"attempt": 2, "reason": Reason.USER_RETRY, "is_verified": True}
    old = start_run(a_task(type="webhook"), **run)
    assert notifications_for(old, commit_run(old)) == []


def test_uncounted_failures_and_repeated_waits_are_not_notified() -> None:
    failed_retry = fail_run(SECOND_ATTEMPT, **RETRY_FIELDS)
    uncounted = replace(
        failed_retry,
        run=replace(failed_retry.run or a_run(), diagnosis=RunDiagnosis(counted=False)),
    )
    assert notifications_for(SECOND_ATTEMPT, uncounted) == []
    second_run = start_run(
        wait_for_budget(ONE_SHOT), id="run-2", attempt=2, reason=Reason.TRANSIENT
    )
    assert notifications_for(second_run, wait_for_budget(second_run)) == []
    reminder = start_run(a_task(retry_count=1), attempt=2, reason=Reason.TRANSIENT)
    assert notifications_for(reminder, fail_run(reminder, **RETRY_FIELDS)) == []


# The owner and the time of the request


def test_a_notification_has_the_sender_and_the_time_of_the_request() -> None:
    old = start_run(an_action(sender_id="ada", reply_target="room-7"))
    [notification] = notifications_for(old, commit_run(old))
    assert (notification.target, notification.sender_id) == ("room-7", "ada")
    assert notification.owner_requested_at == old.created_at


@pytest.mark.parametrize(
    ("fields", "requested_at"),
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
def test_only_the_owners_own_request_sets_owner_requested_at(
    fields: dict[str, Any], requested_at: Any
) -> None:
    old = start_run(an_action(**fields))
    after = {**NEXT_OCCURRENCE, "owner_rescheduled_at": None} if "repeat" in fields else {}
    [notification] = notifications_for(old, commit_run(old, **after))
    assert notification.owner_requested_at == requested_at


# Operator chats


@pytest.mark.parametrize(
    ("new", "is_notified"),
    [
        (block_task(ONE_SHOT, Action.ESCALATE_TO_HUMAN), True),
        (block_task(ONE_SHOT, Action.MARK_AS_BLOCKED), True),
        (block_task(ONE_SHOT, Action.AWAIT_FIX), True),
        (make_indeterminate(ONE_SHOT, status=Status.BLOCKED), True),
        (block_task(ONE_SHOT, Action.RETRY_WITH_SPEC_REFRESH), False),
        (fail_run(ONE_SHOT, status=Status.FAILED), False),
        (fail_run(ONE_SHOT, **RETRY_FIELDS), False),
        (await_verification(ONE_SHOT, WaitReason.VERIFICATION), False),
        (commit_run(ONE_SHOT), False),
    ],
)
def test_operators_are_notified_of_tasks_that_need_a_person(new: Task, is_notified: bool) -> None:
    to_operators = [
        notification
        for notification in notifications_for(ONE_SHOT, new, OPERATOR_CHATS)
        if notification.channel == "slack"
    ]
    assert bool(to_operators) is is_notified


def test_the_operators_copy_names_the_owner_and_has_the_same_text_and_buttons() -> None:
    new = block_task(ONE_SHOT, Action.ESCALATE_TO_HUMAN)
    to_owner, to_operators = notifications_for(ONE_SHOT, new, OPERATOR_CHATS)
    assert to_operators.message.text == (
        f"Task {SHORT} of console:ada needs a person.\n{to_owner.message.text}"
    )
    assert to_operators.message.buttons == to_owner.message.buttons != ()
    assert (to_operators.channel, to_operators.target) == ("slack", "C0OPS")
    assert (to_operators.sender_id, to_operators.owner_requested_at) == (None, None)
    assert (to_owner.idempotency_key, to_operators.idempotency_key) == (
        f"{ID}:3",
        f"{ID}:3:slack:C0OPS",
    )


def test_every_operator_chat_has_its_own_idempotency_key() -> None:
    chats = [*OPERATOR_CHATS, ChatAddress("telegram", "-100:7")]
    notifications = notifications_for(ONE_SHOT, block_task(ONE_SHOT, Action.MARK_AS_BLOCKED), chats)
    assert len({notification.idempotency_key for notification in notifications}) == 3
    repeated = notifications_for(ONE_SHOT, block_task(ONE_SHOT, Action.MARK_AS_BLOCKED), chats)
    assert [notification.idempotency_key for notification in repeated] == [
        notification.idempotency_key for notification in notifications
    ]


def test_a_task_from_the_operators_chat_is_notified_once() -> None:
    assert (
        len(
            notifications_for(
                OPERATORS_TASK, block_task(OPERATORS_TASK, Action.MARK_AS_BLOCKED), OPERATOR_CHATS
            )
        )
        == 1
    )


@pytest.mark.parametrize(
    ("new", "sender_id"),
    [
        (block_task(OPERATORS_TASK, Action.ESCALATE_TO_HUMAN), None),
        (make_indeterminate(OPERATORS_TASK, status=Status.BLOCKED), None),
        (commit_run(OPERATORS_TASK), "U1"),
    ],
)
def test_an_escalation_in_the_operators_chat_ignores_the_senders_preferences(
    new: Task, sender_id: str | None
) -> None:
    [notification] = notifications_for(OPERATORS_TASK, new, OPERATOR_CHATS)
    assert (notification.target, notification.sender_id) == ("C0OPS", sender_id)


def test_operators_are_notified_of_tasks_of_the_api_channel() -> None:
    old = start_run(an_action(channel="api"))
    [notification] = notifications_for(old, block_task(old, Action.MARK_AS_BLOCKED), OPERATOR_CHATS)
    assert notification.channel == "slack"


# Chat addresses


@pytest.mark.parametrize(
    ("fields", "is_contained"),
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
def test_an_operator_chat_contains_messages_by_their_source(
    fields: dict[str, Any], is_contained: bool, is_private: bool
) -> None:
    message = a_message(**fields, is_private=is_private)
    assert OPERATOR_CHATS[0].contains(message) is is_contained


@pytest.mark.parametrize("text", ["", "slack", "slack:", ":C0OPS"])
def test_an_invalid_chat_address_is_rejected(text: str) -> None:
    with pytest.raises(ValueError, match="is no chat"):
        ChatAddress.from_text(text)


def test_a_chat_address_can_contain_a_topic() -> None:
    assert ChatAddress.from_text(" telegram:-100:7 ") == ChatAddress("telegram", "-100:7")


def test_a_cancelled_run_is_not_notified() -> None:
    new = fail_run(ONE_SHOT, RunStatus.CANCELLED, status=Status.CANCELLED)
    assert notifications_for(ONE_SHOT, new, OPERATOR_CHATS) == []
