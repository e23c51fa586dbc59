"""The transitions of a subject: failure, giving up, cooldown, success and reset."""

from __future__ import annotations

from datetime import timedelta

import pytest
from duecourse.domain.failures.subject import MESSAGE_LIMIT, Subject, SubjectStatus

from tests.support.builders.failures import a_subject
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, NOW


def fail_subject(subject: Subject, times: int, *, limit: int | None) -> Subject:
    for _ in range(times):
        subject = subject.count_failure(limit=limit).record_attempt(
            "unknown", "boom", at=NOW, cooldown_until=None
        )
    return subject


def a_given_up_subject() -> Subject:
    return fail_subject(a_subject(), 3, limit=3)


def test_a_subject_without_attempts_has_no_status() -> None:
    subject = a_subject()
    assert (subject.status, subject.failure_count, subject.version) == (None, 0, 0)


@pytest.mark.parametrize(
    ("failures", "status"),
    [(1, "pending"), (2, "pending"), (3, "permanent_failure"), (4, "permanent_failure")],
)
def test_a_subject_is_given_up_with_its_last_failure(failures: int, status: str) -> None:
    subject = fail_subject(a_subject(), failures, limit=3)
    assert (subject.status, subject.failure_count) == (status, failures)


def test_a_limit_of_one_gives_up_a_subject_at_its_first_failure() -> None:
    assert a_subject().count_failure(limit=1).is_given_up


def test_a_subject_without_a_limit_is_never_given_up() -> None:
    assert not fail_subject(a_subject(), 100, limit=None).is_given_up


@pytest.mark.parametrize("limit", [5, None])
def test_a_failure_keeps_a_given_up_subject_given_up(limit: int | None) -> None:
    assert a_given_up_subject().count_failure(limit=limit).is_given_up


def test_an_attempt_sets_the_last_error_and_the_cooldown() -> None:
    subject = a_subject().record_attempt("json_parse", "no JSON", at=NOW, cooldown_until=NOW + HOUR)
    assert (subject.last_error_category, subject.last_error_message) == ("json_parse", "no JSON")
    assert (subject.last_attempt_at, subject.cooldown_until) == (NOW, NOW + HOUR)


def test_an_attempt_alone_does_not_change_the_failure_count() -> None:
    subject = a_subject(failure_count=2).record_attempt(
        "unknown", "boom", at=NOW, cooldown_until=None
    )
    assert (subject.failure_count, subject.status) == (2, None)


def test_a_long_error_is_truncated_in_the_middle() -> None:
    message = "first " + "x " * 5_000 + "last"
    stored = (
        a_subject()
        .record_attempt("unknown", message, at=NOW, cooldown_until=None)
        .last_error_message
    )
    assert stored is not None
    assert (len(stored) <= MESSAGE_LIMIT, stored[:6], stored[-4:]) == (True, "first ", "last")


@pytest.mark.parametrize(
    ("after", "is_cooling_down"),
    [(timedelta(0), True), (HOUR - MILLISECOND, True), (HOUR, False), (DAY, False)],
)
def test_a_subject_cools_down_until_cooldown_until(after: timedelta, is_cooling_down: bool) -> None:
    assert a_subject(cooldown_until=NOW + HOUR).is_cooling_down(NOW + after) is is_cooling_down


def test_a_subject_without_cooldown_until_does_not_cool_down() -> None:
    assert not a_subject().is_cooling_down(NOW)


def test_a_success_clears_failures_and_errors() -> None:
    assert a_given_up_subject().record_success(at=NOW + HOUR) == a_subject(
        status=SubjectStatus.SUCCESS, last_attempt_at=NOW + HOUR, version=4
    )


def test_a_reset_keeps_only_the_last_attempt_time() -> None:
    assert a_given_up_subject().reset() == a_subject(last_attempt_at=NOW, version=4)


def test_a_reset_subject_counts_from_zero() -> None:
    assert fail_subject(a_given_up_subject().reset(), 2, limit=3).status is SubjectStatus.PENDING


def test_every_stored_change_increments_the_version() -> None:
    subject = a_subject(version=7)
    changed = [
        subject.count_failure(limit=5).record_attempt(
            "unknown", "boom", at=NOW, cooldown_until=None
        ),
        subject.record_success(at=NOW),
        subject.reset(),
    ]
    assert [subject.version for subject in changed] == [8, 8, 8]
