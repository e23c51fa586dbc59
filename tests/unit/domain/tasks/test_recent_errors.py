"""The errors of the last days that a task or subject keeps."""

from __future__ import annotations

import json
from datetime import timedelta, timezone

import pytest
from duecourse.domain.tasks.recent_errors import NO_ERRORS, RecentErrors

from tests.support.builders.moments import DAY, HOUR, MILLISECOND, NOW

TODAY, YESTERDAY = "2026-02-17", "2026-02-16"
BUDGET = "budget_exceeded"


def record_all(*days_ago: float, category: str = "timeout") -> RecentErrors:
    errors = NO_ERRORS
    for days in days_ago:
        errors = errors.record(category, at=NOW - days * DAY)
    return errors


# Counting


def test_errors_are_counted_by_utc_day() -> None:
    late = (NOW - 13 * HOUR).astimezone(timezone(timedelta(hours=9)))
    errors = record_all(0, 0).record("timeout", at=late)
    assert errors.by_day == {TODAY: 2, YESTERDAY: 1}
    assert (errors.count_since(YESTERDAY), errors.count_since(TODAY)) == (3, 2)


def test_an_error_recorded_late_is_counted_on_its_own_day() -> None:
    errors = record_all(0, 1, category="late").record("timeout", at=NOW - 2 * DAY)
    assert errors.by_day == {TODAY: 1, YESTERDAY: 1, "2026-02-15": 1}
    assert (errors.latest[-1], errors.last_category) == (NOW, "late")


def test_the_last_category_is_that_of_the_latest_error() -> None:
    assert record_all(1).record("rate_limit", at=NOW).last_category == "rate_limit"
    assert record_all(0).record("rate_limit", at=NOW).last_category == "rate_limit"


def test_days_outside_every_window_are_dropped() -> None:
    assert record_all(30, 29, 0).by_day.keys() == {"2026-01-19", TODAY}
    assert record_all(0, 30).by_day.keys() == {TODAY}


# Repeated failures


def test_three_errors_are_not_a_repeated_failure() -> None:
    assert record_all(3, 2, 1).repeated_since is None


def test_repeated_since_is_the_time_of_the_fourth_latest_error() -> None:
    assert record_all(9, 3, 2, 1, 0).repeated_since == NOW - 3 * DAY
    assert record_all(0, 1, 2, 3, 9).repeated_since == NOW - 3 * DAY


# Blocked by a budget


def test_the_first_budget_error_of_a_day_is_newly_blocked() -> None:
    errors = NO_ERRORS
    assert errors.is_newly_blocked(BUDGET, at=NOW)
    errors = errors.record(BUDGET, at=NOW)
    assert not errors.is_newly_blocked(BUDGET, at=NOW + HOUR)
    assert errors.is_newly_blocked(BUDGET, at=NOW + DAY)


def test_an_earlier_day_after_a_blocked_one_is_not_newly_blocked() -> None:
    """Only the latest day is stored: an error that comes late counts less rather than twice."""
    errors = record_all(0, category=BUDGET)
    assert not errors.is_newly_blocked(BUDGET, at=NOW - DAY)
    assert errors.record(BUDGET, at=NOW - DAY).budget_blocked_on == TODAY


def test_other_errors_are_not_blocked_and_keep_the_day() -> None:
    assert not NO_ERRORS.is_newly_blocked("timeout", at=NOW)
    errors = record_all(1, category=BUDGET).record("timeout", at=NOW)
    assert errors.budget_blocked_on == YESTERDAY
    assert errors.is_newly_blocked(BUDGET, at=NOW)


# Stored form


def test_no_errors_are_stored_as_nothing() -> None:
    assert NO_ERRORS.to_stored() == []


@pytest.mark.parametrize("category", ["timeout", BUDGET])
def test_stored_errors_are_read_unchanged(category: str) -> None:
    errors = record_all(3, 1, 0.5, category=category).record(category, at=NOW + 7 * MILLISECOND)
    assert RecentErrors.from_stored(json.loads(json.dumps(errors.to_stored()))) == errors


def test_the_stored_form_is_short() -> None:
    """It is stored with every failed task; thirty days of errors fit into half a write unit."""
    errors = record_all(*range(40, -1, -1), category=BUDGET)
    assert len(errors.by_day) == 30
    assert len(json.dumps(errors.to_stored())) < 620


def test_a_forgotten_error_leaves_the_day_of_the_one_before_the_last_three() -> None:
    errors = NO_ERRORS
    for n in range(6):
        errors = errors.record("unknown", at=NOW + n * HOUR)
    left = errors.forget(at=NOW + 5 * HOUR)
    assert left.count_since("2026-02-17") == 5
    assert left.latest == (NOW.replace(hour=0), *(NOW + n * HOUR for n in (2, 3, 4)))


def test_the_only_error_is_forgotten() -> None:
    assert NO_ERRORS.record("unknown", at=NOW).forget(at=NOW).to_stored() == []


def test_a_corrected_error_has_its_new_category() -> None:
    errors = NO_ERRORS.record("transient", at=NOW).correct("budget_exceeded", at=NOW)
    assert (errors.last_category, errors.budget_blocked_on) == ("budget_exceeded", "2026-02-17")
    assert errors.count_since("2026-02-17") == 1
