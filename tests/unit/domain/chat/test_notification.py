"""The notifications derived from two versions of a task: their text, buttons and JSON."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from duecourse.domain.chat.chat_message import Button, ChatMessage
from duecourse.domain.chat.commands import Help
from duecourse.domain.chat.notification import Notification
from duecourse.domain.chat.notification_kind import NotificationKind, NotifyLevel
from duecourse.domain.chat.notifications_for import notifications_for
from duecourse.domain.chat.parse_command import parse_command
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import (
    IndeterminatePolicy,
    Mutation,
    MutationStatus,
    Reason,
    Run,
    RunStatus,
)
from duecourse.domain.tasks.run_diagnosis import RunDiagnosis
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason

from tests.support.builders.moments import DAY, MINUTE, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import ID, PROVIDER_DOWN, a_task, an_action
from tests.support.notification_cases import (
    FAILED_OCCURRENCE,
    NEXT_OCCURRENCE,
    RETRY_FIELDS,
    await_verification,
    button_labels,
    commit_run,
    end_run,
    fail_run,
    make_indeterminate,
    notification_for,
    notification_text,
    start_run,
    wait_for_budget,
)

SHORT = ID[:8]
TASK_NAME = f"Task {SHORT} (stretch)"
GAVE_UP = f"Gave up on task {SHORT} (stretch) after"
NEXT_TRY = f"Next retry: Tuesday 17 Feb 2026, 12:02 (UTC)\nCancel: /cancel {SHORT}"
RETRY_OR_CANCEL_HINT = f"Retry now: /retry {SHORT}\nCancel: /cancel {SHORT}"
RESOLVE_HINT = f"""\
Task {SHORT} (pay the rent) may or may not have happened. Check, then answer:
It happened: /resolve {SHORT} applied
It did not happen, retry: /resolve {SHORT} not_applied
Skip: /resolve {SHORT} skip"""


# Success


def test_a_successful_action_is_notified_with_the_providers_reply() -> None:
    old = start_run(an_action(description="fix the build"))
    assert notification_text(old, commit_run(old)) == "Done: fix the build\nMended."


@pytest.mark.parametrize(
    ("reply", "lines"),
    [
        ("ACTION_OUTCOME: success", []),
        ("one\ntwo\n\nACTION_OUTCOME: success\n", ["one", "two"]),
        ("it says ACTION_OUTCOME: success", ["it says ACTION_OUTCOME: success"]),
        ("ACTION_OUTCOME: success\nor so", ["ACTION_OUTCOME: success", "or so"]),
        ("", []),
        (None, []),
        (5, []),
    ],
)
def test_only_the_outcome_marker_is_removed_from_the_reply(reply: Any, lines: list[str]) -> None:
    old = start_run(an_action())
    assert notification_text(old, commit_run(old, reply)) == "\n".join(["Done: stretch", *lines])


def test_control_characters_are_removed_from_the_reply() -> None:
    old = start_run(an_action())
    reply = "a\x00b\x1b[31m\x85c\ud800d\udfff\re\tf\ng 📞\nACTION_OUTCOME: success"
    text = str(notification_text(old, commit_run(old, reply)))
    assert text == "Done: stretch\nab[31mcde\tf\ng 📞"
    assert text.encode()


@pytest.mark.parametrize(("length", "is_truncated"), [(1_500, False), (1_501, True), (9_000, True)])
def test_a_long_reply_is_truncated_with_an_ellipsis(length: int, is_truncated: bool) -> None:
    old = start_run(an_action())
    expected = "x" * 1_500 + " …" if is_truncated else "x" * length
    assert notification_text(old, commit_run(old, "x" * length)) == f"Done: stretch\n{expected}"


def test_a_long_description_is_truncated_to_one_line() -> None:
    old = start_run(an_action(description="a\n\tb " + "c" * 4_000))
    assert notification_text(old, commit_run(old, "")) == f"Done: a b {'c' * 196} …"


@pytest.mark.parametrize("result", [None, "a text", 5, ["reply"], {"reply": {"x": 1}}, {}])
def test_a_result_without_a_reply_adds_no_text(result: Any) -> None:
    old = start_run(an_action())
    mutation = Mutation(idempotency_key="k", status=MutationStatus.APPLIED, result=result)
    completed = {"status": Status.COMPLETED}
    assert notification_text(
        old, end_run(old, RunStatus.COMMITTED, task=completed, mutation=mutation)
    ) == ("Done: stretch")


def test_each_occurrence_of_a_recurring_action_is_notified() -> None:
    old = start_run(an_action(repeat="daily"))
    assert notification_text(old, commit_run(old, **NEXT_OCCURRENCE)) == "Done: stretch\nMended."


def test_approved_work_is_notified() -> None:
    old = replace(start_run(an_action()), status=Status.PENDING_VERIFICATION)
    assert notification_text(old, commit_run(old)) == "Done: stretch\nMended."


def test_approved_work_that_has_yet_to_emit_is_not_notified() -> None:
    old = replace(start_run(an_action()), status=Status.PENDING_VERIFICATION)
    new = end_run(old, RunStatus.PAUSED_APPROVAL, task={"status": Status.PENDING}, is_verified=True)
    assert notification_text(old, new) is None


@pytest.mark.parametrize(
    "task",
    [
        *(a_task(), a_task(repeat="daily"), a_task(type="webhook")),
        a_task(type="webhook", repeat="daily"),
    ],
)
def test_the_success_of_other_task_types_is_not_notified(task: Task) -> None:
    old = start_run(task)
    after = NEXT_OCCURRENCE if task.repeat else {"status": Status.DELIVERED}
    assert notification_text(old, commit_run(old, **after)) is None


# A failure that is retried


def test_the_first_failure_is_notified_with_the_next_attempt() -> None:
    old = start_run(an_action())
    expected = f"{TASK_NAME} failed: boom\n{NEXT_TRY}"
    assert notification_text(old, fail_run(old, **RETRY_FIELDS)) == expected


def test_a_retry_with_guidance_says_that_there_is_a_hint() -> None:
    old = start_run(an_action())
    new = fail_run(old, **{**RETRY_FIELDS, "recovery_action": Action.RETRY_WITH_GUIDANCE})
    assert "\nNext retry, with a hint: Tuesday 17 Feb 2026, 12:02 (UTC)\n" in str(
        notification_text(old, new)
    )


def test_the_next_attempt_is_shown_in_the_zone_of_the_task_with_seconds() -> None:
    old = start_run(an_action(timezone="Asia/Tokyo"))
    new = fail_run(old, **{**RETRY_FIELDS, "next_retry_at": NOW + DAY / 2 + MINUTE / 4})
    assert "Next retry: Wednesday 18 Feb 2026, 09:00:15 (Asia/Tokyo)\n" in str(
        notification_text(old, new)
    )


@pytest.mark.parametrize("status", [RunStatus.CRASHED, RunStatus.PAUSED_TRANSIENT])
@pytest.mark.parametrize(
    ("attempt", "retry_count", "reason", "is_notified"),
    [
        (1, 0, Reason.FIRST, True),
        (1, 0, Reason.RECURRENCE, True),
        (2, 1, Reason.TRANSIENT, False),
        (2, 1, Reason.CRASHED_RECOVERY, False),
        (3, 2, Reason.TRANSIENT, False),
        (3, 0, Reason.TRANSIENT, True),  # "Retry now", which resets the retry count
        (4, 0, Reason.USER_RETRY, True),
    ],
)
def test_later_failures_are_notified_only_after_a_user_retry(
    status: RunStatus, attempt: int, retry_count: int, reason: Reason, is_notified: bool
) -> None:
    old = start_run(an_action(retry_count=retry_count), attempt=attempt, reason=reason)
    assert (
        notification_text(old, fail_run(old, status, **RETRY_FIELDS)) is not None
    ) is is_notified


@pytest.mark.parametrize("reason", [Reason.FIRST, Reason.USER_RETRY])
@pytest.mark.parametrize("counted", [True, False])
def test_an_uncounted_failure_is_not_notified(reason: Reason, counted: bool) -> None:
    old = start_run(an_action(), reason=reason)
    new = fail_run(old, **RETRY_FIELDS)
    diagnosed = replace(
        new, run=replace(new.run or a_run(), diagnosis=RunDiagnosis(counted=counted))
    )
    assert (notification_text(old, diagnosed) is not None) is counted


def test_the_retry_of_a_reminder_is_not_notified() -> None:
    old = start_run(a_task())
    assert notification_text(old, fail_run(old, **RETRY_FIELDS)) is None


def test_rejected_work_is_notified_with_its_next_attempt() -> None:
    old = replace(start_run(an_action()), status=Status.PENDING_VERIFICATION)
    new = fail_run(old, last_error="rejected: too short", **RETRY_FIELDS)
    assert str(notification_text(old, new)).startswith(
        f"{TASK_NAME} failed: rejected: too short\nNext retry:"
    )


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        ("two\nlines\tand \x1b[31m a tab.", "two lines and [31m a tab"),
        ("x" * 300, "x" * 300),
        ("a" * 400 + "z" * 400, "a" * 150 + " […] " + "z" * 145),
        (None, "unknown error"),
        ("...", "unknown error"),
    ],
)
def test_an_error_is_shown_in_one_truncated_line(error: str | None, expected: str) -> None:
    old = start_run(an_action())
    run = replace(old.run or a_run(), status=RunStatus.PAUSED_TRANSIENT, ended_at=NOW, error="x")
    new = replace(old, run=run, last_error=error, **RETRY_FIELDS)
    assert str(notification_text(old, new)).startswith(
        f"{TASK_NAME} failed: {expected}\nNext retry:"
    )


# Waiting for the budget


def test_a_task_that_waits_for_its_budget_is_notified() -> None:
    old = start_run(an_action())
    expected = f"{TASK_NAME} waits for its budget: budget daily is used up\n{NEXT_TRY}"
    assert notification_text(old, wait_for_budget(old)) == expected


def test_a_repeated_budget_wait_is_not_notified() -> None:
    awaiting_budget = wait_for_budget(start_run(an_action()))
    second_run = start_run(awaiting_budget, id="run-2", attempt=2, reason=Reason.TRANSIENT)
    assert notification_text(second_run, wait_for_budget(second_run)) is None


def test_a_budget_wait_after_a_failure_is_notified() -> None:
    retrying = fail_run(start_run(an_action()), recovery_action=Action.RETRY, **RETRY_FIELDS)
    second_run = start_run(retrying, id="run-2", attempt=2, reason=Reason.TRANSIENT)
    assert "waits for its budget" in str(notification_text(second_run, wait_for_budget(second_run)))


@pytest.mark.parametrize(("retry_count", "is_notified"), [(0, True), (1, False)])
def test_the_first_failure_after_a_budget_wait_is_notified(
    retry_count: int, is_notified: bool
) -> None:
    awaiting_budget = replace(wait_for_budget(start_run(an_action())), retry_count=retry_count)
    second_run = start_run(awaiting_budget, id="run-2", attempt=2, reason=Reason.TRANSIENT)
    assert (
        notification_text(second_run, fail_run(second_run, **RETRY_FIELDS)) is not None
    ) is is_notified


# Permanent failures


@pytest.mark.parametrize("task", [a_task(), an_action()])
@pytest.mark.parametrize(("attempt", "attempts"), [(1, "1 attempt"), (3, "3 attempts")])
def test_a_permanent_failure_is_notified_for_reminders_too(
    task: Task, attempt: int, attempts: str
) -> None:
    old = start_run(task, attempt=attempt)
    new = fail_run(old, RunStatus.FAILED_PERMANENT, status=Status.FAILED)
    expected = f"{GAVE_UP} {attempts}: boom\nRetry now: /retry {SHORT}"
    assert notification_text(old, new) == expected


def test_a_blocked_task_that_timed_out_is_notified_as_a_permanent_failure() -> None:
    old = replace(an_action(last_error="boom", run=a_run(attempt=4)), status=Status.BLOCKED)
    new = replace(old, status=Status.FAILED, version=old.version + 1)
    assert str(notification_text(old, new)).startswith(f"{GAVE_UP} 4 attempts: boom\n")


def test_a_permanent_failure_with_an_unknown_outcome_states_it() -> None:
    old = start_run(an_action())
    text = str(
        notification_text(
            old, make_indeterminate(old, IndeterminatePolicy.RECONCILE, status=Status.FAILED)
        )
    )
    assert (
        "boom\nIt may or may not have happened. Check before you retry.\nRetry now: /retry" in text
    )


def test_a_failed_occurrence_states_when_the_series_continues() -> None:
    old = start_run(a_task(repeat="daily"), attempt=3)
    assert notification_text(
        old, fail_run(old, RunStatus.FAILED_PERMANENT, **FAILED_OCCURRENCE)
    ) == (f"{GAVE_UP} 3 attempts: boom\nNext occurrence: Wednesday 18 Feb 2026, 12:00 (UTC)")


def test_a_series_paused_by_failures_states_how_to_resume_it() -> None:
    old = start_run(a_task(repeat="daily"), attempt=3)
    paused_fields = {**FAILED_OCCURRENCE, "failed_occurrences": 3, "paused": True}
    assert notification_text(old, fail_run(old, RunStatus.FAILED_PERMANENT, **paused_fields)) == (
        f"{GAVE_UP} 3 attempts: boom\n"
        f"The series is paused after 3 failed occurrences in a row.\nResume: /resume {SHORT}"
    )


# Waiting for a person


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (
            Action.ESCALATE_TO_HUMAN,
            f"failed 4 times and needs your decision: boom\n{RETRY_OR_CANCEL_HINT}",
        ),
        (Action.MARK_AS_BLOCKED, f"is blocked after 4 attempts: boom\n{RETRY_OR_CANCEL_HINT}"),
        (
            Action.RETRY_WITH_SPEC_REFRESH,
            f"waits for a review of its specification: boom\n{RETRY_OR_CANCEL_HINT}",
        ),
        (
            Action.AWAIT_FIX,
            "waits for a fix of its handler and is retried after the next deployment: boom\n"
            f"{RETRY_OR_CANCEL_HINT}",
        ),
    ],
)
def test_a_blocked_task_states_the_reason_and_the_commands(action: Action, text: str) -> None:
    old = start_run(an_action(), attempt=4)
    new = fail_run(old, status=Status.BLOCKED, recovery_action=action)
    assert [notification.message.text for notification in notifications_for(old, new)] == [
        f"{TASK_NAME} {text}"
    ]


def test_a_blocked_task_states_the_failure_category_and_the_fix() -> None:
    old = start_run(an_action(), attempt=4)
    action = Action.ESCALATE_TO_HUMAN
    new = fail_run(
        old, status=Status.BLOCKED, recovery_action=action, last_error_category="transient"
    )
    run = replace(new.run or a_run(), diagnosis=RunDiagnosis(fix="See whether\nit is up."))
    assert notification_text(old, replace(new, run=run)) == (
        f"{TASK_NAME} failed 4 times and needs your decision: boom (transient)\n"
        f"Suggested fix: See whether it is up.\n{RETRY_OR_CANCEL_HINT}"
    )


def test_a_blocked_reminder_is_notified() -> None:
    old = start_run(a_task(policy="agent"), attempt=4)
    new = fail_run(old, status=Status.BLOCKED, recovery_action=Action.ESCALATE_TO_HUMAN)
    assert "needs you" in str(notification_text(old, new))


@pytest.mark.parametrize("action", [Action.ASK_PERSON, Action.MARK_AS_BLOCKED])
def test_an_unknown_outcome_asks_for_a_resolution(action: Action) -> None:
    old = start_run(an_action(description="pay the rent"))
    new = make_indeterminate(old, status=Status.BLOCKED, recovery_action=action)
    assert notification_text(old, new) == RESOLVE_HINT


def test_an_unknown_outcome_of_an_occurrence_states_that_the_series_continues() -> None:
    old = start_run(an_action(description="pay the rent", repeat="daily"))
    assert notification_text(old, make_indeterminate(old, **FAILED_OCCURRENCE)) == (
        f"{RESOLVE_HINT}\nNext occurrence: Wednesday 18 Feb 2026, 12:00 (UTC)"
    )


def test_an_unknown_outcome_of_a_reminder_is_notified_as_a_failure() -> None:
    old = start_run(a_task(repeat="daily"), attempt=3)
    assert "Gave up on" in str(
        notification_text(
            old, make_indeterminate(old, IndeterminatePolicy.REPEAT, **FAILED_OCCURRENCE)
        )
    )


def test_a_verification_request_contains_the_providers_reply() -> None:
    old = start_run(an_action(verify=True))
    assert notification_text(old, await_verification(old, WaitReason.VERIFICATION)) == (
        f"Please check: stretch\nMended.\nApprove: /approve {SHORT}\nReject: /reject {SHORT} <why>"
    )


def test_a_person_is_notified_once_and_only_after_the_verifier() -> None:
    running = start_run(an_action(verify=True))
    awaiting_verifier = await_verification(running, WaitReason.VERIFIER)
    verifying = replace(
        awaiting_verifier,
        run=replace(awaiting_verifier.run or a_run(), verifier_attempts=1),
        version=4,
    )
    awaiting_person = replace(verifying, wait=Wait(WaitReason.VERIFICATION), version=5)
    rescheduled = replace(awaiting_person, due_at=NOW + DAY, version=6)
    chain = [running, awaiting_verifier, verifying, awaiting_person, rescheduled]
    are_notified = [notification_text(*pair) is not None for pair in pairwise(chain)]
    assert are_notified == [False, False, True, False]


# The commands in the text

PAUSED_SERIES: dict[str, Any] = {**FAILED_OCCURRENCE, "failed_occurrences": 3, "paused": True}


def all_notification_texts() -> list[str]:
    one_shot, series = start_run(an_action()), start_run(an_action(repeat="daily"))
    blocked = [
        fail_run(one_shot, status=Status.BLOCKED, recovery_action=action)
        for action in (None, *Action)
    ]
    new_versions = [
        *blocked,
        fail_run(one_shot, status=Status.FAILED),
        fail_run(one_shot, **RETRY_FIELDS),
        wait_for_budget(one_shot),
        make_indeterminate(one_shot, status=Status.BLOCKED),
        make_indeterminate(one_shot, status=Status.FAILED),
        await_verification(one_shot, WaitReason.VERIFICATION),
    ]
    failed_occurrences = [
        fail_run(series, **PAUSED_SERIES),
        make_indeterminate(series, **FAILED_OCCURRENCE),
        make_indeterminate(series, **PAUSED_SERIES),
    ]
    pairs = [
        *((one_shot, new) for new in new_versions),
        *((series, new) for new in failed_occurrences),
    ]
    return [
        notification.message.text
        for old, new in pairs
        for notification in notifications_for(old, new)
    ]


@pytest.mark.parametrize("text", sorted(set(all_notification_texts())))
def test_every_command_in_a_notification_is_valid(text: str) -> None:
    arguments = "applied|not_applied|skip|<why>"
    commands = re.findall(rf"/[a-z]+ {SHORT}(?: (?:{arguments})\b|(?: <why>))?", text)
    assert len(commands) == len(re.findall(r"(?<!\S)/", text)) > 0
    assert not [command for command in commands if isinstance(parse_command(command), Help)]


# The buttons

ONE_SHOT, SERIES = start_run(an_action()), start_run(an_action(repeat="daily"))
RETRY_OR_CANCEL = ["Retry now", "Cancel"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (ONE_SHOT, fail_run(ONE_SHOT, **RETRY_FIELDS), RETRY_OR_CANCEL),
        (ONE_SHOT, wait_for_budget(ONE_SHOT), RETRY_OR_CANCEL),
        (ONE_SHOT, fail_run(ONE_SHOT, status=Status.BLOCKED), RETRY_OR_CANCEL),
        (ONE_SHOT, fail_run(ONE_SHOT, status=Status.FAILED), ["Retry now"]),
        (SERIES, fail_run(SERIES, **FAILED_OCCURRENCE), ["Cancel"]),
        (
            ONE_SHOT,
            make_indeterminate(ONE_SHOT, status=Status.BLOCKED),
            ["It happened", "It did not happen", "Skip"],
        ),
        (
            SERIES,
            make_indeterminate(SERIES, **FAILED_OCCURRENCE),
            ["It happened", "It did not happen", "Skip"],
        ),
        (SERIES, make_indeterminate(SERIES, **PAUSED_SERIES), ["It happened", "Skip"]),
        (ONE_SHOT, await_verification(ONE_SHOT, WaitReason.VERIFICATION), ["Approve", "Reject"]),
        (ONE_SHOT, commit_run(ONE_SHOT), []),
    ],
    ids=[
        *("retried", "waits for its budget", "blocked", "failed", "occurrence failed"),
        *("indeterminate", "occurrence indeterminate", "paused", "to verify", "done"),
    ],
)
def test_a_notification_has_the_buttons_of_its_kind(
    old: Task, new: Task, expected: list[str]
) -> None:
    assert button_labels(old, new) == expected


FAILURES = {
    "retried": (ONE_SHOT, fail_run(ONE_SHOT, **RETRY_FIELDS)),
    "waits for its budget": (ONE_SHOT, wait_for_budget(ONE_SHOT)),
    "blocked": (ONE_SHOT, fail_run(ONE_SHOT, status=Status.BLOCKED)),
    "failed": (ONE_SHOT, fail_run(ONE_SHOT, status=Status.FAILED)),
    "occurrence failed": (SERIES, fail_run(SERIES, **FAILED_OCCURRENCE)),
}


@pytest.mark.parametrize(("old", "new"), FAILURES.values(), ids=FAILURES)
def test_the_description_is_shown_in_one_truncated_line(old: Task, new: Task) -> None:
    description = "water\nthe plants " + "x" * 300
    text = str(
        notification_text(
            replace(old, description=description), replace(new, description=description)
        )
    )
    assert f"ask {SHORT} (water the plants {'x' * 183} …) " in text.splitlines()[0]


def test_a_task_without_a_description_is_named_by_its_id() -> None:
    old, new = (
        replace(ONE_SHOT, description=" "),
        fail_run(ONE_SHOT, status=Status.FAILED, description=" "),
    )
    assert str(notification_text(old, new)).startswith(f"Gave up on task {SHORT} after")


# No notification


def an_ended_run(status: RunStatus = RunStatus.PAUSED_TRANSIENT) -> Run:
    return replace(a_run(), status=status, ended_at=NOW, error="boom")


@pytest.mark.parametrize(
    "changes",
    [
        {"status": Status.CANCELLED, "closed_at": NOW},
        {"paused": True},
        {"description": "yawn"},
        {"due_at": NOW + DAY, "next_retry_at": NOW + DAY, "wait": PROVIDER_DOWN},
        {"status": Status.IN_PROGRESS, "run": a_run(id="run-2", attempt=2)},
        {"run": replace(an_ended_run(), category="transient")},
        {"run": an_ended_run(RunStatus.CANCELLED)},
    ],
    ids=["cancelled", "paused", "edited", "deferred", "claimed", "reclassified", "skipped"],
)
def test_changes_to_a_pending_task_are_not_notified(changes: dict[str, Any]) -> None:
    old = an_action(run=an_ended_run(), last_error="boom", next_retry_at=NOW)
    assert notification_text(old, replace(old, version=old.version + 1, **changes)) is None


@pytest.mark.parametrize("status", [Status.BLOCKED, Status.FAILED])
def test_a_user_retry_is_not_notified(status: Status) -> None:
    old = an_action(run=an_ended_run(), last_error="boom", status=status)
    resolved = replace(an_ended_run(), status=RunStatus.CRASHED)
    for run in (old.run, resolved):
        assert (
            notification_text(old, replace(old, status=Status.PENDING, run=run, version=2)) is None
        )


def test_cancelling_unverified_work_is_not_notified() -> None:
    old = await_verification(start_run(an_action(verify=True)), WaitReason.VERIFICATION)
    assert (
        notification_text(old, end_run(old, RunStatus.CANCELLED, task={"status": Status.CANCELLED}))
        is None
    )


def test_a_new_task_is_not_notified() -> None:
    assert notification_text(None, an_action()) is None


def test_a_task_of_the_api_channel_is_not_notified() -> None:
    old = start_run(an_action(channel="api"))
    assert notification_text(old, commit_run(old)) is None


# The notification itself


def test_a_notification_has_the_reply_target_and_a_key_with_the_version() -> None:
    old = start_run(an_action(channel="slack", sender_id="u1", reply_target="c1"))
    assert notification_for(old, commit_run(old, "")) == Notification(
        channel="slack",
        target="c1",
        message=ChatMessage("Done: stretch"),
        idempotency_key=f"{ID}:3",
        task_id=ID,
        kind=NotificationKind.DONE,
        sender_id="u1",
        owner_requested_at=old.created_at,
        run_id="run-1",
    )


def test_a_repeated_notification_has_the_same_key_and_the_next_version_another() -> None:
    old = start_run(an_action())
    first, second = fail_run(old, **RETRY_FIELDS), replace(fail_run(old, **RETRY_FIELDS), version=9)
    keys = [
        notification.idempotency_key
        for new in (first, first, second)
        if (notification := notification_for(old, new))
    ]
    assert keys == [f"{ID}:3", f"{ID}:3", f"{ID}:9"]


def test_a_notification_round_trips_through_json() -> None:
    notification = Notification(
        channel="console",
        target="ada",
        message=ChatMessage("é\n"),
        idempotency_key="x:1",
        task_id="x",
    )
    assert Notification.from_json({**notification.to_json(), "more": 1}) == notification
    with_buttons = replace(notification, message=ChatMessage("é", (Button("Cancel", "/cancel x"),)))
    assert Notification.from_json(json.loads(json.dumps(with_buttons.to_json()))) == with_buttons
    with_sender = replace(
        notification,
        kind=NotificationKind.VERIFICATION,
        sender_id="ada",
        owner_requested_at=NOW,
        run_id="run-1",
    )
    assert Notification.from_json(json.loads(json.dumps(with_sender.to_json()))) == with_sender


def test_a_stored_notification_without_buttons_loads() -> None:
    fields: dict[str, Any] = {"channel": "console", "target": "ada", "key": "x:1", "task_id": "x"}
    assert Notification.from_json({**fields, "text": "hi"}) == Notification(
        channel="console",
        target="ada",
        idempotency_key="x:1",
        task_id="x",
        message=ChatMessage("hi"),
    )


def test_a_notification_of_an_unknown_kind_is_delivered_at_every_level() -> None:
    fields: dict[str, Any] = {"channel": "console", "target": "ada", "key": "x:1", "task_id": "x"}
    for kind in ({}, {"kind": "gossip"}, {"kind": 5}, {"kind": None}):
        notification = Notification.from_json({**fields, "text": "hi", "sender_id": "ada", **kind})
        assert notification.kind is NotificationKind.OTHER
        assert all(level.wants(notification.kind) for level in NotifyLevel)


@pytest.mark.parametrize("value", [5, "noon", {}])
def test_a_notification_with_an_invalid_time_is_rejected(value: Any) -> None:
    notification = Notification(
        channel="console",
        target="ada",
        message=ChatMessage("hi"),
        idempotency_key="x:1",
        task_id="x",
    )
    with pytest.raises(ValueError, match="wanted_at"):
        Notification.from_json({**notification.to_json(), "wanted_at": value})


def test_a_notification_is_stored_as_a_flat_object() -> None:
    fields: dict[str, Any] = {"channel": "console", "target": "ada", "key": "x:1", "task_id": "x"}
    notification = Notification(
        channel="console",
        target="ada",
        idempotency_key="x:1",
        task_id="x",
        message=ChatMessage("hi", (Button("Done", "/done x"),)),
    )
    assert notification.to_json() == {
        **fields,
        "kind": "other",
        "text": "hi",
        "buttons": [{"label": "Done", "says": "/done x"}],
    }
