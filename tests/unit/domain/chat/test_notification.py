"""What a person is told, and of what nobody is: read off two versions of a task."""

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
NAMED = f"Task {SHORT} (stretch)"
GAVE_UP = f"Gave up on task {SHORT} (stretch) after"
RETRY = f"Next retry: Tuesday 17 Feb 2026, 12:02 (UTC)\nCancel: /cancel {SHORT}"
ANSWERS = f"Retry now: /retry {SHORT}\nCancel: /cancel {SHORT}"
RESOLVE = f"""\
Task {SHORT} (pay the rent) may or may not have happened. Check, then answer:
It happened: /resolve {SHORT} applied
It did not happen, retry: /resolve {SHORT} not_applied
Skip: /resolve {SHORT} skip"""


# Success


def test_the_success_of_an_action_is_told_with_what_the_provider_said() -> None:
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
def test_only_the_line_that_tells_the_outcome_is_left_out(reply: Any, lines: list[str]) -> None:
    old = start_run(an_action())
    assert notification_text(old, commit_run(old, reply)) == "\n".join(["Done: stretch", *lines])


def test_what_no_chat_could_show_is_left_out_of_a_reply() -> None:
    old = start_run(an_action())
    reply = "a\x00b\x1b[31m\x85c\ud800d\udfff\re\tf\ng 📞\nACTION_OUTCOME: success"
    text = str(notification_text(old, commit_run(old, reply)))
    assert text == "Done: stretch\nab[31mcde\tf\ng 📞"
    assert text.encode()


@pytest.mark.parametrize(("length", "is_cut"), [(1_500, False), (1_501, True), (9_000, True)])
def test_a_long_reply_is_cut_and_that_shows(length: int, is_cut: bool) -> None:
    old = start_run(an_action())
    expected = "x" * 1_500 + " …" if is_cut else "x" * length
    assert notification_text(old, commit_run(old, "x" * length)) == f"Done: stretch\n{expected}"


def test_a_long_description_of_many_lines_is_told_in_one_that_is_cut() -> None:
    old = start_run(an_action(description="a\n\tb " + "c" * 4_000))
    assert notification_text(old, commit_run(old, "")) == f"Done: a b {'c' * 196} …"


@pytest.mark.parametrize("result", [None, "a text", 5, ["reply"], {"reply": {"x": 1}}, {}])
def test_a_result_of_another_kind_adds_nothing(result: Any) -> None:
    old = start_run(an_action())
    mutation = Mutation(idempotency_key="k", status=MutationStatus.APPLIED, result=result)
    done = {"status": Status.COMPLETED}
    assert notification_text(
        old, end_run(old, RunStatus.COMMITTED, task=done, mutation=mutation)
    ) == ("Done: stretch")


def test_each_occurrence_of_a_repeating_action_is_told() -> None:
    old = start_run(an_action(repeat="daily"))
    assert notification_text(old, commit_run(old, **NEXT_OCCURRENCE)) == "Done: stretch\nMended."


def test_work_that_was_approved_is_told() -> None:
    old = replace(start_run(an_action()), status=Status.PENDING_VERIFICATION)
    assert notification_text(old, commit_run(old)) == "Done: stretch\nMended."


def test_work_that_was_approved_and_has_yet_to_be_passed_on_is_not() -> None:
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
def test_the_success_of_anything_else_speaks_for_itself(task: Task) -> None:
    old = start_run(task)
    after = NEXT_OCCURRENCE if task.repeat else {"status": Status.DELIVERED}
    assert notification_text(old, commit_run(old, **after)) is None


# A failure that is tried again


def test_the_first_failure_is_told_with_the_next_try() -> None:
    old = start_run(an_action())
    expected = f"{NAMED} failed: boom\n{RETRY}"
    assert notification_text(old, fail_run(old, **RETRY_FIELDS)) == expected


def test_a_retry_with_guidance_says_that_there_is_a_hint() -> None:
    old = start_run(an_action())
    new = fail_run(old, **{**RETRY_FIELDS, "recovery_action": Action.RETRY_WITH_GUIDANCE})
    assert "\nNext retry, with a hint: Tuesday 17 Feb 2026, 12:02 (UTC)\n" in str(
        notification_text(old, new)
    )


def test_the_next_try_is_told_in_the_zone_of_the_task_with_its_seconds() -> None:
    old = start_run(an_action(timezone="Asia/Tokyo"))
    new = fail_run(old, **{**RETRY_FIELDS, "next_retry_at": NOW + DAY / 2 + MINUTE / 4})
    assert "Next retry: Wednesday 18 Feb 2026, 09:00:15 (Asia/Tokyo)\n" in str(
        notification_text(old, new)
    )


@pytest.mark.parametrize("status", [RunStatus.CRASHED, RunStatus.PAUSED_TRANSIENT])
@pytest.mark.parametrize(
    ("attempt", "retry_count", "reason", "is_told"),
    [
        (1, 0, Reason.FIRST, True),
        (1, 0, Reason.RECURRENCE, True),
        (2, 1, Reason.TRANSIENT, False),
        (2, 1, Reason.CRASHED_RECOVERY, False),
        (3, 2, Reason.TRANSIENT, False),
        (3, 0, Reason.TRANSIENT, True),  # "Retry now", which begins to count anew
        (4, 0, Reason.USER_RETRY, True),
    ],
)
def test_failures_after_the_first_are_not_told_unless_a_person_asked_for_that_try(
    status: RunStatus, attempt: int, retry_count: int, reason: Reason, is_told: bool
) -> None:
    old = start_run(an_action(retry_count=retry_count), attempt=attempt, reason=reason)
    assert (notification_text(old, fail_run(old, status, **RETRY_FIELDS)) is not None) is is_told


@pytest.mark.parametrize("reason", [Reason.FIRST, Reason.USER_RETRY])
@pytest.mark.parametrize("counted", [True, False])
def test_a_failure_that_costs_the_task_nothing_is_not_told(reason: Reason, counted: bool) -> None:
    old = start_run(an_action(), reason=reason)
    new = fail_run(old, **RETRY_FIELDS)
    noted = replace(new, run=replace(new.run or a_run(), diagnosis=RunDiagnosis(counted=counted)))
    assert (notification_text(old, noted) is not None) is counted


def test_a_reminder_that_is_sent_again_is_not_told() -> None:
    old = start_run(a_task())
    assert notification_text(old, fail_run(old, **RETRY_FIELDS)) is None


def test_work_that_was_rejected_is_told_with_its_next_try() -> None:
    old = replace(start_run(an_action()), status=Status.PENDING_VERIFICATION)
    new = fail_run(old, last_error="rejected: too short", **RETRY_FIELDS)
    assert str(notification_text(old, new)).startswith(
        f"{NAMED} failed: rejected: too short\nNext retry:"
    )


@pytest.mark.parametrize(
    ("error", "shown"),
    [
        ("two\nlines\tand \x1b[31m a tab.", "two lines and [31m a tab"),
        ("x" * 300, "x" * 300),
        ("a" * 400 + "z" * 400, "a" * 150 + " […] " + "z" * 145),
        (None, "unknown error"),
        ("...", "unknown error"),
    ],
)
def test_an_error_is_told_in_one_line_that_is_not_too_long(error: str | None, shown: str) -> None:
    old = start_run(an_action())
    run = replace(old.run or a_run(), status=RunStatus.PAUSED_TRANSIENT, ended_at=NOW, error="x")
    new = replace(old, run=run, last_error=error, **RETRY_FIELDS)
    assert str(notification_text(old, new)).startswith(f"{NAMED} failed: {shown}\nNext retry:")


# Waiting for the budget


def test_a_task_that_waits_for_its_budget_says_so() -> None:
    old = start_run(an_action())
    expected = f"{NAMED} waits for its budget: budget daily is used up\n{RETRY}"
    assert notification_text(old, wait_for_budget(old)) == expected


def test_that_it_still_waits_for_its_budget_is_not_told() -> None:
    waiting = wait_for_budget(start_run(an_action()))
    again = start_run(waiting, id="run-2", attempt=2, reason=Reason.TRANSIENT)
    assert notification_text(again, wait_for_budget(again)) is None


def test_after_a_failure_the_wait_for_the_budget_is_told() -> None:
    tried = fail_run(start_run(an_action()), recovery_action=Action.RETRY, **RETRY_FIELDS)
    again = start_run(tried, id="run-2", attempt=2, reason=Reason.TRANSIENT)
    assert "waits for its budget" in str(notification_text(again, wait_for_budget(again)))


@pytest.mark.parametrize(("retry_count", "is_told"), [(0, True), (1, False)])
def test_the_first_failure_after_the_wait_for_the_budget_is_told(
    retry_count: int, is_told: bool
) -> None:
    waiting = replace(wait_for_budget(start_run(an_action())), retry_count=retry_count)
    again = start_run(waiting, id="run-2", attempt=2, reason=Reason.TRANSIENT)
    assert (notification_text(again, fail_run(again, **RETRY_FIELDS)) is not None) is is_told


# Failed for good


@pytest.mark.parametrize("task", [a_task(), an_action()])
@pytest.mark.parametrize(("attempt", "attempts"), [(1, "1 attempt"), (3, "3 attempts")])
def test_what_failed_for_good_is_told_reminders_too(
    task: Task, attempt: int, attempts: str
) -> None:
    old = start_run(task, attempt=attempt)
    new = fail_run(old, RunStatus.FAILED_PERMANENT, status=Status.FAILED)
    expected = f"{GAVE_UP} {attempts}: boom\nRetry now: /retry {SHORT}"
    assert notification_text(old, new) == expected


def test_what_nobody_unblocked_in_time_has_failed_for_good() -> None:
    old = replace(an_action(last_error="boom", run=a_run(attempt=4)), status=Status.BLOCKED)
    new = replace(old, status=Status.FAILED, version=old.version + 1)
    assert str(notification_text(old, new)).startswith(f"{GAVE_UP} 4 attempts: boom\n")


def test_what_failed_for_good_and_may_have_happened_says_so() -> None:
    old = start_run(an_action())
    text = str(
        notification_text(
            old, make_indeterminate(old, IndeterminatePolicy.RECONCILE, status=Status.FAILED)
        )
    )
    assert (
        "boom\nIt may or may not have happened. Check before you retry.\nRetry now: /retry" in text
    )


def test_a_series_that_lost_an_occurrence_goes_on_and_says_when() -> None:
    old = start_run(a_task(repeat="daily"), attempt=3)
    assert notification_text(
        old, fail_run(old, RunStatus.FAILED_PERMANENT, **FAILED_OCCURRENCE)
    ) == (f"{GAVE_UP} 3 attempts: boom\nNext occurrence: Wednesday 18 Feb 2026, 12:00 (UTC)")


def test_a_series_that_is_paused_says_so_and_how_to_resume_it() -> None:
    old = start_run(a_task(repeat="daily"), attempt=3)
    lost = {**FAILED_OCCURRENCE, "failed_occurrences": 3, "paused": True}
    assert notification_text(old, fail_run(old, RunStatus.FAILED_PERMANENT, **lost)) == (
        f"{GAVE_UP} 3 attempts: boom\n"
        f"The series is paused after 3 failed occurrences in a row.\nResume: /resume {SHORT}"
    )


# Waiting for a person


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Action.ESCALATE_TO_HUMAN, f"failed 4 times and needs your decision: boom\n{ANSWERS}"),
        (Action.MARK_AS_BLOCKED, f"is blocked after 4 attempts: boom\n{ANSWERS}"),
        (
            Action.RETRY_WITH_SPEC_REFRESH,
            f"waits for a review of its specification: boom\n{ANSWERS}",
        ),
        (
            Action.AWAIT_FIX,
            "waits for a fix of its handler and is retried after the next deployment: boom\n"
            f"{ANSWERS}",
        ),
    ],
)
def test_a_task_that_is_blocked_says_why_and_what_may_be_done(action: Action, text: str) -> None:
    old = start_run(an_action(), attempt=4)
    new = fail_run(old, status=Status.BLOCKED, recovery_action=action)
    assert [notice.message.text for notice in notifications_for(old, new)] == [f"{NAMED} {text}"]


def test_a_task_that_is_blocked_says_what_its_failure_was_taken_for_and_what_may_help() -> None:
    old = start_run(an_action(), attempt=4)
    action = Action.ESCALATE_TO_HUMAN
    new = fail_run(
        old, status=Status.BLOCKED, recovery_action=action, last_error_category="transient"
    )
    run = replace(new.run or a_run(), diagnosis=RunDiagnosis(fix="See whether\nit is up."))
    assert notification_text(old, replace(new, run=run)) == (
        f"{NAMED} failed 4 times and needs your decision: boom (transient)\n"
        f"Suggested fix: See whether it is up.\n{ANSWERS}"
    )


def test_a_reminder_that_is_blocked_is_told() -> None:
    old = start_run(a_task(policy="agent"), attempt=4)
    new = fail_run(old, status=Status.BLOCKED, recovery_action=Action.ESCALATE_TO_HUMAN)
    assert "needs you" in str(notification_text(old, new))


@pytest.mark.parametrize("action", [Action.ASK_PERSON, Action.MARK_AS_BLOCKED])
def test_whether_it_happened_is_asked(action: Action) -> None:
    old = start_run(an_action(description="pay the rent"))
    new = make_indeterminate(old, status=Status.BLOCKED, recovery_action=action)
    assert notification_text(old, new) == RESOLVE


def test_whether_an_occurrence_happened_is_asked_while_the_series_goes_on() -> None:
    old = start_run(an_action(description="pay the rent", repeat="daily"))
    assert notification_text(old, make_indeterminate(old, **FAILED_OCCURRENCE)) == (
        f"{RESOLVE}\nNext occurrence: Wednesday 18 Feb 2026, 12:00 (UTC)"
    )


def test_of_a_reminder_nobody_asks_whether_it_came() -> None:
    old = start_run(a_task(repeat="daily"), attempt=3)
    assert "Gave up on" in str(
        notification_text(
            old, make_indeterminate(old, IndeterminatePolicy.REPEAT, **FAILED_OCCURRENCE)
        )
    )


def test_work_that_is_to_be_checked_is_told_with_what_the_provider_said() -> None:
    old = start_run(an_action(verify=True))
    assert notification_text(old, await_verification(old, WaitReason.VERIFICATION)) == (
        f"Please check: stretch\nMended.\nApprove: /approve {SHORT}\nReject: /reject {SHORT} <why>"
    )


def test_a_person_is_asked_once_and_only_after_the_verifier() -> None:
    started = start_run(an_action(verify=True))
    asked = await_verification(started, WaitReason.VERIFIER)
    asking = replace(asked, run=replace(asked.run or a_run(), verifier_attempts=1), version=4)
    left = replace(asking, wait=Wait(WaitReason.VERIFICATION), version=5)
    moved = replace(left, due_at=NOW + DAY, version=6)
    chain = [started, asked, asking, left, moved]
    notices = [notification_text(*pair) is not None for pair in pairwise(chain)]
    assert notices == [False, False, True, False]


# What it says may be done is understood

PAUSED: dict[str, Any] = {**FAILED_OCCURRENCE, "failed_occurrences": 3, "paused": True}


def all_that_is_told() -> list[str]:
    one, series = start_run(an_action()), start_run(an_action(repeat="daily"))
    blocked = [
        fail_run(one, status=Status.BLOCKED, recovery_action=action) for action in (None, *Action)
    ]
    after = [
        *blocked,
        fail_run(one, status=Status.FAILED),
        fail_run(one, **RETRY_FIELDS),
        wait_for_budget(one),
        make_indeterminate(one, status=Status.BLOCKED),
        make_indeterminate(one, status=Status.FAILED),
        await_verification(one, WaitReason.VERIFICATION),
    ]
    lost = [
        fail_run(series, **PAUSED),
        make_indeterminate(series, **FAILED_OCCURRENCE),
        make_indeterminate(series, **PAUSED),
    ]
    pairs = [*((one, new) for new in after), *((series, new) for new in lost)]
    return [notice.message.text for old, new in pairs for notice in notifications_for(old, new)]


@pytest.mark.parametrize("text", sorted(set(all_that_is_told())))
def test_every_command_that_a_notice_names_is_understood(text: str) -> None:
    more = "applied|not_applied|skip|<why>"
    commands = re.findall(rf"/[a-z]+ {SHORT}(?: (?:{more})\b|(?: <why>))?", text)
    assert len(commands) == len(re.findall(r"(?<!\S)/", text)) > 0
    assert not [one for one in commands if isinstance(parse_command(one), Help)]


# The buttons under it

ONE, SERIES = start_run(an_action()), start_run(an_action(repeat="daily"))
RETRY_OR_CANCEL = ["Retry now", "Cancel"]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (ONE, fail_run(ONE, **RETRY_FIELDS), RETRY_OR_CANCEL),
        (ONE, wait_for_budget(ONE), RETRY_OR_CANCEL),
        (ONE, fail_run(ONE, status=Status.BLOCKED), RETRY_OR_CANCEL),
        (ONE, fail_run(ONE, status=Status.FAILED), ["Retry now"]),
        (SERIES, fail_run(SERIES, **FAILED_OCCURRENCE), ["Cancel"]),
        (
            ONE,
            make_indeterminate(ONE, status=Status.BLOCKED),
            ["It happened", "It did not happen", "Skip"],
        ),
        (
            SERIES,
            make_indeterminate(SERIES, **FAILED_OCCURRENCE),
            ["It happened", "It did not happen", "Skip"],
        ),
        (SERIES, make_indeterminate(SERIES, **PAUSED), ["It happened", "Skip"]),
        (ONE, await_verification(ONE, WaitReason.VERIFICATION), ["Approve", "Reject"]),
        (ONE, commit_run(ONE), []),
    ],
    ids=[
        *("tried again", "waits for its budget", "blocked", "failed", "occurrence lost"),
        *("in doubt", "occurrence in doubt", "paused in doubt", "to be checked", "done"),
    ],
)
def test_what_can_be_answered_is_under_it(old: Task, new: Task, expected: list[str]) -> None:
    assert button_labels(old, new) == expected


LOST = {
    "tried again": (ONE, fail_run(ONE, **RETRY_FIELDS)),
    "waits for its budget": (ONE, wait_for_budget(ONE)),
    "blocked": (ONE, fail_run(ONE, status=Status.BLOCKED)),
    "failed for good": (ONE, fail_run(ONE, status=Status.FAILED)),
    "lost": (SERIES, fail_run(SERIES, **FAILED_OCCURRENCE)),
}


@pytest.mark.parametrize(("old", "new"), LOST.values(), ids=LOST)
def test_what_it_is_about_is_told_shortly_and_in_one_line(old: Task, new: Task) -> None:
    words = "water\nthe plants " + "x" * 300
    text = str(notification_text(replace(old, description=words), replace(new, description=words)))
    assert f"ask {SHORT} (water the plants {'x' * 183} …) " in text.splitlines()[0]


def test_what_is_about_nothing_is_told_by_its_id() -> None:
    old, new = replace(ONE, description=" "), fail_run(ONE, status=Status.FAILED, description=" ")
    assert str(notification_text(old, new)).startswith(f"Gave up on task {SHORT} after")


# Nothing to tell


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
    ids=["cancelled", "paused", "edited", "parked", "claimed", "reclassified", "skipped"],
)
def test_what_others_do_to_a_task_that_waits_is_not_told(changes: dict[str, Any]) -> None:
    old = an_action(run=an_ended_run(), last_error="boom", next_retry_at=NOW)
    assert notification_text(old, replace(old, version=old.version + 1, **changes)) is None


@pytest.mark.parametrize("status", [Status.BLOCKED, Status.FAILED])
def test_what_a_person_has_tried_again_is_not_told(status: Status) -> None:
    old = an_action(run=an_ended_run(), last_error="boom", status=status)
    resolved = replace(an_ended_run(), status=RunStatus.CRASHED)
    for run in (old.run, resolved):
        assert (
            notification_text(old, replace(old, status=Status.PENDING, run=run, version=2)) is None
        )


def test_work_that_is_called_off_before_it_is_checked_is_not_told() -> None:
    old = await_verification(start_run(an_action(verify=True)), WaitReason.VERIFICATION)
    assert (
        notification_text(old, end_run(old, RunStatus.CANCELLED, task={"status": Status.CANCELLED}))
        is None
    )


def test_a_new_task_is_not_told() -> None:
    assert notification_text(None, an_action()) is None


def test_nobody_is_told_of_a_task_that_only_programs_ask_about() -> None:
    old = start_run(an_action(channel="api"))
    assert notification_text(old, commit_run(old)) is None


# The notice itself


def test_a_notice_goes_where_the_task_came_from_with_a_key_of_its_version() -> None:
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


def test_what_is_told_again_has_the_same_key_and_the_next_version_another() -> None:
    old = start_run(an_action())
    first, second = fail_run(old, **RETRY_FIELDS), replace(fail_run(old, **RETRY_FIELDS), version=9)
    keys = [
        notice.idempotency_key
        for new in (first, first, second)
        if (notice := notification_for(old, new))
    ]
    assert keys == [f"{ID}:3", f"{ID}:3", f"{ID}:9"]


def test_a_notice_is_read_as_it_was_written() -> None:
    notice = Notification(
        channel="console",
        target="ada",
        message=ChatMessage("é\n"),
        idempotency_key="x:1",
        task_id="x",
    )
    assert Notification.from_json({**notice.to_json(), "more": 1}) == notice
    with_buttons = replace(notice, message=ChatMessage("é", (Button("Cancel", "/cancel x"),)))
    assert Notification.from_json(json.loads(json.dumps(with_buttons.to_json()))) == with_buttons
    about_somebody = replace(
        notice,
        kind=NotificationKind.VERIFICATION,
        sender_id="ada",
        owner_requested_at=NOW,
        run_id="run-1",
    )
    assert (
        Notification.from_json(json.loads(json.dumps(about_somebody.to_json()))) == about_somebody
    )


def test_a_notice_from_before_there_were_buttons_is_read_without() -> None:
    rest: dict[str, Any] = {"channel": "console", "target": "ada", "key": "x:1", "task_id": "x"}
    assert Notification.from_json({**rest, "text": "hi"}) == Notification(
        channel="console",
        target="ada",
        idempotency_key="x:1",
        task_id="x",
        message=ChatMessage("hi"),
    )


def test_a_notice_of_a_kind_that_is_not_known_is_told_in_any_case() -> None:
    rest: dict[str, Any] = {"channel": "console", "target": "ada", "key": "x:1", "task_id": "x"}
    for kind in ({}, {"kind": "gossip"}, {"kind": 5}, {"kind": None}):
        notice = Notification.from_json({**rest, "text": "hi", "sender_id": "ada", **kind})
        assert notice.kind is NotificationKind.OTHER
        assert all(level.wants(notice.kind) for level in NotifyLevel)


@pytest.mark.parametrize("wanted_at", [5, "noon", {}])
def test_a_notice_with_an_instant_that_is_none_is_refused(wanted_at: Any) -> None:
    notice = Notification(
        channel="console",
        target="ada",
        message=ChatMessage("hi"),
        idempotency_key="x:1",
        task_id="x",
    )
    with pytest.raises(ValueError, match="wanted_at"):
        Notification.from_json({**notice.to_json(), "wanted_at": wanted_at})


def test_a_notice_is_kept_flat() -> None:
    rest: dict[str, Any] = {"channel": "console", "target": "ada", "key": "x:1", "task_id": "x"}
    notice = Notification(
        channel="console",
        target="ada",
        idempotency_key="x:1",
        task_id="x",
        message=ChatMessage("hi", (Button("Done", "/done x"),)),
    )
    assert notice.to_json() == {
        **rest,
        "kind": "other",
        "text": "hi",
        "buttons": [{"label": "Done", "says": "/done x"}],
    }
