"""What failures teach: what is kept of them, and how the next one is read."""

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
    observed_failure,
    pattern_to_json,
    recent_months,
    to_percent,
)
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.run_diagnosis import Location, Reading, RunDiagnosis

from tests.support.builders.failures import a_diagnosis, builtin_policies
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.runs import DIAGNOSIS, a_failed_run
from tests.support.builders.tasks import a_task, an_action

PRINT = "0123456789abcdef"
NOTE = replace(DIAGNOSIS, fingerprint=PRINT)
READ_AS = Reading(category="unknown")
SAID = replace(NOTE, pattern="person", read_as=READ_AS, by="ada")
AGENT = builtin_policies()["agent"]
PLACE = Location("app.py", 3)


def a_pattern(
    category: str | None = "transient", *, of: str | None = "unknown", **fields: Any
) -> LearnedPattern:
    said = (
        Correction(category=category, corrected_at=NOW, corrected_by="ada", rule_category=of)
        if category
        else None
    )
    defaults: dict[str, Any] = {"policy": "agent", "fingerprint": PRINT, "category": "unknown"}
    defaults |= {
        "rule_category": "unknown",
        "example": "boom",
        "last_seen_at": NOW,
        "correction": said,
    }
    return LearnedPattern(**{**defaults, **fields})


def reclassified(**changes: Any) -> tuple[Any, Run]:
    before = a_failed_run(diagnosis=NOTE)
    return a_task(run=before), replace(before, category="transient", diagnosis=SAID, **changes)


# What is kept


def test_a_failure_is_kept_with_its_category_and_an_example() -> None:
    found = observed_failure(an_action(), a_failed_run(error="x" * 500, diagnosis=NOTE))
    assert found is not None
    assert (found.policy, found.fingerprint, found.observed_at) == ("agent", PRINT, NOW)
    assert (found.category, found.rule_category) == ("timeout", "timeout")
    assert len(found.example) == 300


def test_what_was_learned_is_kept_with_what_the_rules_made_of_it() -> None:
    note = replace(NOTE, read_as=READ_AS)
    found = observed_failure(an_action(), a_failed_run(diagnosis=note))
    assert found is not None
    assert (found.category, found.rule_category) == ("timeout", "unknown")


@pytest.mark.parametrize("fields", [{"diagnosis": DIAGNOSIS}, {"diagnosis": None}])
def test_what_has_no_fingerprint_teaches_nothing(fields: dict[str, Any]) -> None:
    assert observed_failure(an_action(), a_failed_run(**fields)) is None


def test_what_a_person_says_is_heard() -> None:
    old, run = reclassified()
    heard = Correction(
        category="transient", corrected_at=NOW, corrected_by="ada", rule_category="unknown"
    )
    assert find_correction(old, run, at=NOW) == heard


def test_what_was_heard_before_is_no_news() -> None:
    _, run = reclassified()
    assert find_correction(a_task(run=run), replace(run, ended_at=NOW + MINUTE), at=NOW) is None
    assert find_correction(None, run, at=NOW) is None


def test_a_run_that_fails_is_no_persons_word() -> None:
    old, run = reclassified()
    assert (
        find_correction(old, replace(run, diagnosis=replace(NOTE, confidence=1.0)), at=NOW) is None
    )
    assert find_correction(old, replace(run, id="another"), at=NOW) is None


@pytest.mark.parametrize(
    "diagnosis",
    [
        replace(NOTE, pattern="person"),
        replace(NOTE, pattern="learned", learned=True, read_as=READ_AS),
    ],
    ids=["a rule of that name", "an earlier correction"],
)
def test_only_a_correction_of_this_run_is_a_persons_word(diagnosis: RunDiagnosis) -> None:
    old, run = reclassified()
    assert find_correction(old, replace(run, diagnosis=diagnosis), at=NOW) is None


# How the next one is read


def test_the_next_one_is_read_as_a_person_said() -> None:
    read = a_diagnosis("unknown", confidence=0.3, pattern="unknown", fingerprint=PRINT)
    found = apply_correction(read, a_pattern("timeout"), AGENT)
    assert (found.category, found.confidence, found.pattern) == ("timeout", 0.95, "learned")
    assert found.fix == AGENT.categories["timeout"].fix
    assert found.rule_reading == Reading(category="unknown", pattern="unknown", confidence=0.3)
    assert found.fingerprint == PRINT


@pytest.mark.parametrize("of", ["code_error", None])
def test_what_was_said_of_something_else_or_nobody_knows_of_what_is_not_used(
    of: str | None,
) -> None:
    read = a_diagnosis("unknown", fingerprint=PRINT)
    assert apply_correction(read, a_pattern("timeout", of=of), AGENT) is read


def test_whom_the_rules_blame_is_blamed() -> None:
    read = a_diagnosis("unknown", blames_subject=False)
    assert not apply_correction(read, a_pattern(), AGENT).blames_subject


@pytest.mark.parametrize(("category", "place"), [("transient", None), ("code_error", PLACE)])
def test_only_what_is_in_the_code_has_a_place_there(category: str, place: Location | None) -> None:
    found = apply_correction(a_diagnosis("unknown", location=PLACE), a_pattern(category), AGENT)
    assert found.location == place
    assert found.rule_reading is not None
    assert found.rule_reading.location == PLACE


@pytest.mark.parametrize(
    "pattern",
    [None, a_pattern(None), a_pattern("a_category_that_was_taken_away", of="code_error")],
)
def test_where_nobody_said_anything_of_use_the_rules_have_spoken(
    pattern: LearnedPattern | None,
) -> None:
    read = a_diagnosis("code_error")
    assert apply_correction(read, pattern, AGENT) is read


def test_a_wait_that_costs_no_retry_is_neither_taken_away_nor_given() -> None:
    policy = builtin_policies()["enrichment"]
    over, unknown = a_diagnosis("budget_exceeded"), a_diagnosis("unknown")
    assert apply_correction(over, a_pattern("unknown", of="budget_exceeded"), policy) is over
    assert apply_correction(unknown, a_pattern("budget_exceeded"), policy) is unknown
    assert apply_correction(unknown, a_pattern("rate_limit"), policy).category == "rate_limit"


# How it is shown


def test_a_pattern_is_shown_as_the_next_one_will_be_read() -> None:
    shown = pattern_to_json(a_pattern(count=4, retries_attempted=3, retries_succeeded=2))
    assert (shown["category"], shown["read_as"]) == ("transient", "unknown")
    assert (shown["said_by_person"], shown["said_by"]) == (True, "ada")
    assert (shown["count"], shown["success_percent"]) == (4, 66.7)


@pytest.mark.parametrize("of", ["timeout", None])
def test_a_pattern_whose_latest_was_read_otherwise_is_shown_as_the_rules_read_it(
    of: str | None,
) -> None:
    shown = pattern_to_json(a_pattern(category="transient", of=of))
    assert (shown["category"], shown["said_by_person"]) == ("unknown", True)


def test_of_a_pattern_that_nobody_spoke_of_nobody_did() -> None:
    shown = pattern_to_json(a_pattern(None))
    assert (shown["category"], shown["success_percent"]) == ("unknown", None)
    assert (shown["said_by_person"], shown["said_by"], shown["said_at"]) == (False, None, None)


def test_a_share_of_nothing_is_none() -> None:
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
def test_evidence_is_of_this_month_and_the_one_before(day: date, months: tuple[str, str]) -> None:
    assert recent_months(day) == months


def test_what_is_outside_has_no_place_in_the_code() -> None:
    assert Category(name="x", trips_breaker=True).is_external
    assert not Category(name="x").is_external
