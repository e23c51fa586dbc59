"""The error log entries of failed runs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from duecourse.domain.journal.error_log import error_from_json, error_to_json, provider_name
from duecourse.domain.journal.run_record import to_logged_error
from duecourse.domain.tasks.adapted_delay import AdaptedDelay, RetryOutcomes
from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.run_diagnosis import Reading, RunDiagnosis

from tests.support.builders.failures import a_run_record
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.runs import DIAGNOSIS, a_committed_run, a_failed_run, a_run
from tests.support.builders.tasks import ID, a_task

FAILURE_STATUSES = [
    "paused:transient",
    "paused:budget",
    "paused:approval",
    "paused:reconciliation",
    "failed:logic",
    "failed:permanent",
    "crashed",
]


@pytest.mark.parametrize("status", RunStatus)
def test_a_run_failed_if_it_was_paused_failed_or_crashed(status: RunStatus) -> None:
    assert a_failed_run(status=status).is_failure is (status in FAILURE_STATUSES)


def test_a_run_that_waits_for_approval_without_an_error_did_not_fail() -> None:
    assert not a_run(status=RunStatus.PAUSED_APPROVAL, ended_at=NOW).is_failure


def test_a_crash_without_an_error_is_a_failure() -> None:
    assert a_run(status=RunStatus.CRASHED, ended_at=NOW).is_failure


def test_an_entry_contains_every_field() -> None:
    task = {"subject": "story-1", "policy": "agent", "type": "action"}
    record = a_run_record(
        task={**task, "payload": {"provider": "openai"}}, next_retry_at=NOW + MINUTE
    )
    assert error_to_json(to_logged_error(record)) == {
        "id": "run-1",
        "task_id": ID,
        "subject": "story-1",
        "at": "2026-02-17T12:00:00.000Z",
        "category": "timeout",
        "kind": "timeout",
        "clears_by": "waiting",
        "likely": None,
        "message": "timed out",
        "confidence": 0.9,
        "pattern": "http-504",
        "location": {"file": "app.py", "line": 3},
        "suggested_fix": "wait",
        "type": "TimeoutError",
        "code": "ETIMEDOUT",
        "status": 504,
        "phase": "mutating",
        "attempt": 1,
        "retry_count": 1,
        "counted": True,
        "action": "retry",
        "next_retry_at": "2026-02-17T12:01:00.000Z",
        "policy": "agent",
        "provider": "openai",
        "fingerprint": None,
        "learned": None,
        "read_as": None,
        "adapted": None,
    }


def test_a_failure_without_a_diagnosis_has_an_entry() -> None:
    crash: dict[str, Any] = {
        "status": RunStatus.CRASHED,
        "error": None,
        "category": None,
        "diagnosis": None,
    }
    error = to_logged_error(a_run_record(**crash))
    assert (error.category, error.message, error.retry_count) == ("unknown", "", 0)
    assert (error.pattern, error.location, error.counted) == (None, None, True)
    assert error.phase == "preparing"


def test_an_entry_of_an_advanced_series_keeps_the_retry_count_of_the_run() -> None:
    diagnosis = replace(DIAGNOSIS, retry_count=3)
    record = a_run_record(task={"repeat": "daily", "retry_count": 0}, diagnosis=diagnosis)
    assert to_logged_error(record).retry_count == 3


@pytest.mark.parametrize(
    "diagnosis", [None, DIAGNOSIS, RunDiagnosis(counted=False)], ids=["none", "all", "some"]
)
def test_an_entry_round_trips_with_and_without_nulls(
    diagnosis: RunDiagnosis | None,
) -> None:
    error = to_logged_error(a_run_record(diagnosis=diagnosis, next_retry_at=NOW))
    data = error_to_json(error)
    assert error_from_json(data) == error
    assert error_from_json({k: v for k, v in data.items() if v is not None}) == error


@pytest.mark.parametrize(
    ("value", "provider"),
    [
        ("openai", "openai"),
        (" openai ", "openai"),
        ("x" * 100, "x" * 64),
        ("half \ud800", "half ?"),
        ("", None),
        ("  ", None),
        (None, None),
        (7, None),
        ({"name": "openai"}, None),
        (["openai"], None),
    ],
)
def test_a_provider_name_is_a_short_text_or_none(value: Any, provider: str | None) -> None:
    assert provider_name(a_task(type="action", payload={"provider": value})) == provider


def test_a_reminder_has_no_provider() -> None:
    assert provider_name(a_task(payload={"provider": "openai"})) is None


def test_a_committed_run_is_not_a_failure() -> None:
    assert not a_committed_run().is_failure


def test_an_entry_contains_the_learned_and_adapted_fields() -> None:
    adapted = AdaptedDelay(
        policy_delay=5 * MINUTE,
        delay=15 * MINUTE,
        outcomes=RetryOutcomes(20, 19),
        reason="it works",
    )
    diagnosis = replace(DIAGNOSIS, fingerprint="0a", learned=True, adapted=adapted)
    diagnosis = replace(diagnosis, read_as=Reading(category="unknown"))
    error = to_logged_error(a_run_record(diagnosis=diagnosis))
    data = error_to_json(error)
    assert (data["fingerprint"], data["learned"], data["read_as"]) == ("0a", True, "unknown")
    assert data["adapted"] == {
        "policy_delay_seconds": 300,
        "delay_seconds": 900,
        "tried": 20,
        "worked": 19,
        "because": "it works",
    }
    assert error_from_json(data) == error


def test_an_entry_ignores_unknown_fields() -> None:
    error = to_logged_error(a_run_record())
    assert error_from_json(error_to_json(error) | {"colour": "red"}) == error


@pytest.mark.parametrize(
    ("name", "value"),
    [("at", None), ("at", "noon"), ("attempt", "1"), ("action", "pray"), ("location", "app.py")],
)
def test_an_invalid_field_of_an_entry_is_rejected_by_name(name: str, value: Any) -> None:
    stored = error_to_json(to_logged_error(a_run_record()))
    with pytest.raises(ValueError, match=name):
        error_from_json(stored | {name: value})
