"""A task that waits without a reason or a time is found."""

from __future__ import annotations

from typing import Any

import pytest

from local.simulate.checks.waits import (
    find_missing_in_blocked,
    find_missing_in_pending,
    find_missing_in_verification,
)
from local.simulate.task_records import TaskRecord

BEFORE = "2026-02-15T12:00:00.000Z"
NOW, LATER = "2026-02-17T12:00:00.000Z", "2026-02-18T12:00:00.000Z"
TASK: dict[str, Any] = {
    "recovery_action": "escalate_to_human",
    "wait": None,
    "wait_detail": {},
    "wait_until": None,
    "wait_text": "waits",
    "blocked_until": LATER,
    "due_at": LATER,
    "paused": False,
}


def record(mutation: str = "failed", **fields: Any) -> TaskRecord:
    return TaskRecord("1", {**TASK, **fields}, [{"mutation": {"status": mutation}}], [], [])


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, ""),
        ({"recovery_action": "await_fix", "blocked_until": None}, ""),
        ({"mutation": "indeterminate", "blocked_until": None}, ""),
        ({"recovery_action": None}, "no reason"),
        ({"wait": "spec_review"}, "waits for spec_review without saying which"),
        ({"wait": "spec_review", "wait_detail": {"task_id": "2"}}, ""),
        ({"blocked_until": None}, "no time-out"),
        ({"blocked_until": NOW}, ""),  # the sweeper has time until its next tick
        ({"blocked_until": BEFORE}, f"not ended at {BEFORE}"),
        ({"recovery_action": "ask_person"}, "a time-out that must not happen"),
    ],
)
def test_a_blocked_task_says_why_and_until_when(fields: dict[str, Any], expected: str) -> None:
    assert find_missing_in_blocked(record(**fields), NOW) == expected


def test_a_verification_has_a_reason_and_a_time() -> None:
    assert find_missing_in_verification(record(wait="verifier", wait_until=LATER), NOW) == ""
    assert find_missing_in_verification(record(wait="verification"), NOW) == "until None"
    assert find_missing_in_verification(record(), NOW) == "the reason is None"


def test_a_deferred_task_has_a_sentence_and_a_time() -> None:
    assert find_missing_in_pending(record(), NOW) is None
    assert find_missing_in_pending(record(wait="budget"), NOW) == ""
    assert find_missing_in_pending(record(wait="budget", wait_text=None), NOW) is not None
    assert find_missing_in_pending(record(wait="budget", due_at=NOW), NOW) == ""
    assert find_missing_in_pending(record(wait="budget", due_at=NOW), LATER) is not None
