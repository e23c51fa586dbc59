"""Storing a run's diagnosis, and loading the forms that earlier versions stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.origin import Origin
from duecourse.domain.requests.stored_run import run_from_stored, run_to_stored
from duecourse.domain.tasks.adapted_delay import AdaptedDelay, RetryOutcomes
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run_diagnosis import NOT_DIAGNOSED, Location, Reading, RunDiagnosis

from tests.support.builders.moments import MINUTE
from tests.support.builders.runs import a_run

# The first version stored no fingerprint, no origin and no Retry-After.
FIRST_FORM = {
    "confidence": 0.9,
    "pattern": "http-504",
    "fix": "wait",
    "location": {"file": "app.py", "line": None},
    "type": "TimeoutError",
    "code": "ETIMEDOUT",
    "status": 504,
    "phase": "mutating",
    "action": "retry",
    "counted": True,
    "retry_count": 1,
    "delay_seconds": 300.0,
}
# Stored when an earlier correction decided the category and the delay was adapted.
LEARNED_FORM = {
    "confidence": 0.95,
    "pattern": "learned",
    "fingerprint": "0123456789abcdef",
    "learned": True,
    "read_as": {"category": "unknown", "pattern": "unknown", "confidence": 0.3},
    "fix": "",
    "retry_after": 600.0,
    "origin": "answer",
    "blames_subject": False,
    "action": "retry_with_guidance",
    "counted": True,
    "retry_count": 2,
    "delay_seconds": 900.0,
    "adapted": {
        "policy_delay_seconds": 300,
        "delay_seconds": 900,
        "tried": 20,
        "worked": 19,
        "because": "After 5 minutes 1 of 20 retries worked, after 15 minutes 19 of 20.",
    },
}
# Stored when a user reclassified a crash and the task waits for a review.
CORRECTED_FORM = {
    "confidence": 1.0,
    "pattern": "person",
    "fix": "Mend it.",
    "location": {"file": "file.ts", "line": 45},
    "origin": "crash",
    "action": "retry_with_spec_refresh",
    "counted": False,
    "retry_count": 0,
    "read_as": {
        "category": None,
        "pattern": None,
        "confidence": None,
        "location": {"file": "file.ts", "line": 45},
    },
    "by": "ada",
    "review": "5f0c1a2b",
}


def test_the_first_form_loads() -> None:
    assert RunDiagnosis.from_stored(FIRST_FORM) == RunDiagnosis(
        confidence=0.9,
        pattern="http-504",
        fix="wait",
        location=Location("app.py", None),
        type="TimeoutError",
        code="ETIMEDOUT",
        status=504,
        phase="mutating",
        action=Action.RETRY,
        counted=True,
        retry_count=1,
        delay=5 * MINUTE,
        origin=Origin.WORK,
        blames_subject=True,
    )


def test_a_learned_diagnosis_with_an_adapted_delay_loads() -> None:
    diagnosis = RunDiagnosis.from_stored(LEARNED_FORM)
    assert diagnosis.learned
    assert not diagnosis.blames_subject
    assert (diagnosis.origin, diagnosis.retry_after) == (Origin.ANSWER, 10 * MINUTE)
    assert diagnosis.read_as == Reading(category="unknown", pattern="unknown", confidence=0.3)
    assert diagnosis.adapted == AdaptedDelay(
        policy_delay=5 * MINUTE,
        delay=15 * MINUTE,
        outcomes=RetryOutcomes(20, 19),
        reason="After 5 minutes 1 of 20 retries worked, after 15 minutes 19 of 20.",
    )


def test_a_corrected_diagnosis_loads() -> None:
    diagnosis = RunDiagnosis.from_stored(CORRECTED_FORM)
    assert (diagnosis.by, diagnosis.review, diagnosis.counted) == ("ada", "5f0c1a2b", False)
    assert (diagnosis.learned, diagnosis.delay) == (False, None)
    assert diagnosis.read_as == Reading(location=Location("file.ts", 45))


@pytest.mark.parametrize("stored", [FIRST_FORM, LEARNED_FORM, CORRECTED_FORM])
def test_each_earlier_form_round_trips(stored: dict[str, Any]) -> None:
    assert RunDiagnosis.from_stored(stored).to_stored() == stored


def test_empty_fields_are_not_stored() -> None:
    assert NOT_DIAGNOSED.to_stored() == {"fix": "", "counted": True}


def test_a_delay_of_zero_is_stored() -> None:
    assert RunDiagnosis(delay=timedelta(0)).to_stored()["delay_seconds"] == 0


def test_unknown_fields_are_ignored() -> None:
    assert RunDiagnosis.from_stored({"colour": [1], "fix": None}) == NOT_DIAGNOSED


def test_an_integer_field_accepts_a_whole_float() -> None:
    assert RunDiagnosis.from_stored({"status": 504.0, "confidence": 1}) == replace(
        NOT_DIAGNOSED, status=504, confidence=1.0
    )


@pytest.mark.parametrize(
    ("stored", "field"),
    [
        ([], "JSON object"),
        ("retry", "JSON object"),
        ({"confidence": "0.9"}, "confidence"),
        ({"confidence": float("nan")}, "confidence"),
        ({"confidence": True}, "confidence"),
        ({"pattern": 7}, "pattern"),
        ({"learned": 1}, "learned"),
        ({"read_as": "unknown"}, "read_as"),
        ({"read_as": {"category": 3}}, "read_as.category"),
        ({"read_as": {"location": {"line": 3}}}, "read_as.location.file"),
        ({"fix": {}}, "fix"),
        ({"location": {"file": "a.py", "line": "3"}}, "location.line"),
        ({"status": 504.5}, "status"),
        ({"retry_after": -1}, "retry_after"),
        ({"retry_after": "60"}, "retry_after"),
        ({"origin": "elsewhere"}, "origin"),
        ({"action": "pray"}, "action"),
        ({"action": ["retry"]}, "action"),
        ({"counted": "yes"}, "counted"),
        ({"delay_seconds": 1e300}, "delay_seconds"),
        ({"delay_seconds": 10**400}, "delay_seconds"),
        ({"adapted": {"delay_seconds": 900, "because": "x"}}, "adapted.policy_delay_seconds"),
    ],
)
def test_a_field_of_the_wrong_type_is_rejected_by_name(stored: Any, field: str) -> None:
    with pytest.raises(ValueError, match=field):
        RunDiagnosis.from_stored(stored)


def test_a_run_with_an_invalid_diagnosis_is_rejected() -> None:
    stored = run_to_stored(a_run()) | {"diagnosis": {"action": "pray"}}
    with pytest.raises(ValueError, match="no Action has the value 'pray'"):
        run_from_stored(stored)
