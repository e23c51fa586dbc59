"""Learned patterns: what is observed, how a correction applies and how patterns are listed."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from typing import Any

import pytest
from duecourse.domain.failures.policy import Category
from duecourse.domain.journal.learned_patterns import (
    Correction,
    LearnedPattern,
    apply_correction,
    find_correction,
    find_learned_correction,
    observed_failure,
    pattern_to_json,
    recent_months,
    to_percent,
)
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.run import Run, RunStatus
from duecourse.domain.tasks.run_diagnosis import Guess, Location, Reading, RunDiagnosis

from tests.support.builders.failures import a_diagnosis, builtin_policies
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.runs import DIAGNOSIS, a_failed_run
from tests.support.builders.tasks import a_task, an_action

FINGERPRINT = "0123456789abcdef"
FINGERPRINTED = replace(DIAGNOSIS, fingerprint=FINGERPRINT)
READ_AS = Reading(category="unknown")
CORRECTED = replace(FINGERPRINTED, kind=Kind.NETWORK, pattern="person", read_as=READ_AS, by="ada")
AGENT = builtin_policies()["agent"]
LOCATION = Location("app.py", 3)


def a_correction(
    category: str = "transient", *, rule_category: str | None = "unknown"
) -> Correction:
    return Correction(
        category=category,
        kind=Kind.NETWORK,
        corrected_at=NOW,
        corrected_by="ada",
        rule_category=rule_category,
    )


def a_pattern(
    category: str | None = "transient", *, rule_category: str | None = "unknown", **fields: Any
) -> LearnedPattern:
    correction = a_correction(category, rule_category=rule_category) if category else None
    defaults: dict[str, Any] = {
        "policy": "agent",
        "fingerprint": FINGERPRINT,
        "category": "unknown",
    }
    defaults |= {
        "rule_category": "unknown",
        "example": "boom",
        "last_seen_at": NOW,
        "correction": correction,
    }
    return LearnedPattern(**{**defaults, **fields})


def reclassify_run(**changes: Any) -> tuple[Any, Run]:
    before = a_failed_run(diagnosis=FINGERPRINTED)
    return a_task(run=before), replace(before, category="transient", diagnosis=CORRECTED, **changes)


# Observed failures and corrections


def test_an_observed_failure_has_its_category_and_a_truncated_example() -> None:
    observed = observed_failure("agent", a_failed_run(error="x" * 500, diagnosis=FINGERPRINTED))
    assert observed is not None
    assert (observed.policy, observed.fingerprint, observed.observed_at) == (
        "agent",
        FINGERPRINT,
        NOW,
    )
    assert (observed.category, observed.rule_category) == ("timeout", "timeout")
    assert len(observed.example) == 300


def test_an_observed_failure_keeps_the_category_of_the_rules() -> None:
    diagnosis = replace(FINGERPRINTED, read_as=READ_AS)
    observed = observed_failure("agent", a_failed_run(diagnosis=diagnosis))
    assert observed is not None
    assert (observed.category, observed.rule_category) == ("timeout", "unknown")


@pytest.mark.parametrize("fields", [{"diagnosis": DIAGNOSIS}, {"diagnosis": None}])
def test_a_failure_without_a_fingerprint_is_not_observed(fields: dict[str, Any]) -> None:
    assert observed_failure("agent", a_failed_run(**fields)) is None


def test_a_reclassification_yields_a_correction() -> None:
    old, run = reclassify_run()
    assert find_correction(old, run, at=NOW) == a_correction("transient", rule_category="unknown")


def test_a_known_correction_is_not_returned_again() -> None:
    _, run = reclassify_run()
    assert find_correction(a_task(run=run), replace(run, ended_at=NOW + MINUTE), at=NOW) is None
    assert find_correction(None, run, at=NOW) is None


def test_a_failed_run_yields_no_correction() -> None:
    old, run = reclassify_run()
    assert (
        find_correction(old, replace(run, diagnosis=replace(FINGERPRINTED, confidence=1.0)), at=NOW)
        is None
    )
    assert find_correction(old, replace(run, id="another"), at=NOW) is None


@pytest.mark.parametrize(
    "diagnosis",
    [
        replace(FINGERPRINTED, pattern="person"),
        replace(FINGERPRINTED, pattern="learned", learned=True, read_as=READ_AS),
    ],
    ids=["a rule of that name", "an earlier correction"],
)
def test_only_a_reclassification_of_this_run_yields_a_correction(diagnosis: RunDiagnosis) -> None:
    old, run = reclassify_run()
    assert find_correction(old, replace(run, diagnosis=diagnosis), at=NOW) is None


def test_a_reclassification_keeps_the_kind_that_a_person_gave() -> None:
    old, run = reclassify_run()
    assert run.diagnosis is not None
    run = replace(run, diagnosis=replace(run.diagnosis, kind=Kind.RATE_LIMIT))
    correction = find_correction(old, run, at=NOW)
    assert correction is not None
    assert correction.kind is Kind.RATE_LIMIT


@pytest.mark.parametrize(
    ("corrected_to", "applied"), [(Kind.RATE_LIMIT, Kind.RATE_LIMIT), (None, Kind.NETWORK)]
)
def test_a_correction_applies_its_kind_or_that_of_its_category(
    corrected_to: Kind | None, applied: Kind
) -> None:
    correction = replace(a_correction("transient"), kind=corrected_to)
    diagnosis = apply_correction(a_diagnosis("unknown"), correction, AGENT)
    assert (diagnosis.category, diagnosis.kind) == ("transient", applied)


def test_a_correction_may_change_the_kind_alone() -> None:
    correction = replace(a_correction("transient", rule_category="transient"), kind=Kind.CONFLICT)
    diagnosis = apply_correction(a_diagnosis("transient"), correction, AGENT)
    assert (diagnosis.category, diagnosis.kind) == ("transient", Kind.CONFLICT)


def test_a_listed_pattern_has_the_kind_of_the_next_failure() -> None:
    corrected = a_pattern("transient", rule_kind=Kind.AUTH)
    correction = replace(a_correction("transient"), kind=Kind.RATE_LIMIT)
    shown = pattern_to_json(replace(corrected, correction=correction))
    assert (shown["kind"], shown["clears_by"]) == ("rate_limit", "waiting")
    outdated = replace(correction, rule_category="timeout")
    assert pattern_to_json(replace(corrected, correction=outdated))["kind"] == "auth"
    assert pattern_to_json(a_pattern(None, kind=Kind.DISK))["kind"] == "disk"


# What a write teaches


def test_a_reclassification_teaches_its_correction_for_the_failure() -> None:
    old, run = reclassify_run()
    learned = find_learned_correction(old, an_action(run=run), run, at=NOW)
    assert learned is not None
    assert learned.correction == a_correction("transient", rule_category="unknown")
    assert (learned.observed.policy, learned.observed.fingerprint) == ("agent", FINGERPRINT)
    assert learned.observed.rule_category == "unknown"


def test_a_run_that_ends_without_a_correction_teaches_none() -> None:
    run = a_failed_run(diagnosis=FINGERPRINTED)
    running = a_task(run=replace(run, status=RunStatus.ACTIVE, diagnosis=None, ended_at=None))
    assert find_learned_correction(running, a_task(run=run), run, at=NOW) is None
    assert find_learned_correction(None, a_task(run=run), run, at=NOW) is None


def test_a_correction_of_a_failure_without_a_fingerprint_teaches_nothing() -> None:
    old, run = reclassify_run()
    run = replace(run, diagnosis=replace(CORRECTED, fingerprint=None))
    assert find_correction(old, run, at=NOW) is not None
    assert find_learned_correction(old, an_action(run=run), run, at=NOW) is None


# Applying a correction


def test_the_next_failure_is_classified_as_corrected() -> None:
    diagnosis = a_diagnosis("unknown", confidence=0.3, pattern="unknown", fingerprint=FINGERPRINT)
    corrected = apply_correction(diagnosis, replace(a_correction("timeout"), kind=None), AGENT)
    assert (corrected.category, corrected.confidence, corrected.pattern) == (
        "timeout",
        0.95,
        "learned",
    )
    assert corrected.fix == AGENT.categories["timeout"].fix
    assert corrected.kind is Kind.TIMEOUT
    assert corrected.rule_reading == Reading(
        category="unknown", kind=Kind.UNKNOWN, pattern="unknown", confidence=0.3
    )
    assert corrected.fingerprint == FINGERPRINT


def test_a_correction_of_what_is_only_likely_now_still_applies() -> None:
    likely = Guess("transient", Kind.NETWORK)
    diagnosis = a_diagnosis("unknown", likely=likely, fingerprint=FINGERPRINT)
    corrected = apply_correction(
        diagnosis, a_correction("timeout", rule_category="transient"), AGENT
    )
    assert (corrected.category, corrected.likely) == ("timeout", None)


@pytest.mark.parametrize("rule_category", ["code_error", None])
def test_a_correction_of_another_or_unknown_rule_category_is_not_applied(
    rule_category: str | None,
) -> None:
    diagnosis = a_diagnosis("unknown", fingerprint=FINGERPRINT)
    assert (
        apply_correction(diagnosis, a_correction("timeout", rule_category=rule_category), AGENT)
        is diagnosis
    )


def test_a_correction_keeps_blames_subject_of_the_rules() -> None:
    diagnosis = a_diagnosis("unknown", blames_subject=False)
    assert not apply_correction(diagnosis, a_correction(), AGENT).blames_subject


@pytest.mark.parametrize(("category", "location"), [("transient", None), ("code_error", LOCATION)])
def test_only_a_code_category_keeps_the_source_location(
    category: str, location: Location | None
) -> None:
    corrected = apply_correction(
        a_diagnosis("unknown", location=LOCATION), a_correction(category), AGENT
    )
    assert corrected.location == location
    assert corrected.rule_reading is not None
    assert corrected.rule_reading.location == LOCATION


@pytest.mark.parametrize(
    "correction",
    [
        None,
        a_correction("a_category_that_was_taken_away", rule_category="code_error"),
    ],
)
def test_without_a_usable_correction_the_diagnosis_is_that_of_the_rules(
    correction: Correction | None,
) -> None:
    diagnosis = a_diagnosis("code_error")
    assert apply_correction(diagnosis, correction, AGENT) is diagnosis


def test_a_correction_cannot_change_whether_a_failure_is_counted() -> None:
    policy = builtin_policies()["enrichment"]
    over_budget, unknown = a_diagnosis("budget_exceeded"), a_diagnosis("unknown")
    assert (
        apply_correction(
            over_budget, a_correction("unknown", rule_category="budget_exceeded"), policy
        )
        is over_budget
    )
    assert apply_correction(unknown, a_correction("budget_exceeded"), policy) is unknown
    assert apply_correction(unknown, a_correction("rate_limit"), policy).category == "rate_limit"


# JSON


def test_a_listed_pattern_has_the_category_of_the_next_classification() -> None:
    data = pattern_to_json(a_pattern(count=4, retries_attempted=3, retries_succeeded=2))
    assert (data["category"], data["read_as"]) == ("transient", "unknown")
    assert (data["said_by_person"], data["said_by"]) == (True, "ada")
    assert (data["count"], data["success_percent"]) == (4, 66.7)


@pytest.mark.parametrize("rule_category", ["timeout", None])
def test_a_pattern_with_an_outdated_correction_lists_the_rules_category(
    rule_category: str | None,
) -> None:
    data = pattern_to_json(a_pattern(category="transient", rule_category=rule_category))
    assert (data["category"], data["said_by_person"]) == ("unknown", True)


def test_a_pattern_without_a_correction_lists_no_person() -> None:
    data = pattern_to_json(a_pattern(None))
    assert (data["category"], data["success_percent"]) == ("unknown", None)
    assert (data["said_by_person"], data["said_by"], data["said_at"]) == (False, None, None)


def test_a_percentage_of_zero_is_none() -> None:
    assert (to_percent(0, 0), to_percent(0, 3), to_percent(1, 3)) == (None, 0.0, 33.3)


@pytest.mark.parametrize(
    ("day", "months"),
    [
        (date(2026, 2, 17), ("2026-02", "2026-01")),
        (date(2026, 1, 1), ("2026-01", "2025-12")),
        (date(2025, 12, 31), ("2025-12", "2025-11")),
        (date(2026, 3, 31), ("2026-03", "2026-02")),
    ],
)
def test_recent_months_are_this_month_and_the_previous_one(
    day: date, months: tuple[str, str]
) -> None:
    assert recent_months(day) == months


def test_a_category_that_trips_the_breaker_is_external() -> None:
    assert Category(name="x", trips_breaker=True).is_external
    assert not Category(name="x").is_external
