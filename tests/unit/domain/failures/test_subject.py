"""A subject's life: tried, given up, cooled down, reset by a person or by success."""

from __future__ import annotations

from datetime import timedelta

import pytest
from duecourse.domain.failures.subject import MESSAGE_LIMIT, Subject, SubjectStatus

from tests.support.builders.failures import a_subject
from tests.support.builders.moments import DAY, HOUR, MILLISECOND, NOW


def failed_times(subject: Subject, times: int, *, limit: int | None) -> Subject:
    for _ in range(times):
        subject = subject.count_failure(limit=limit).record_attempt(
            "unknown", "boom", at=NOW, cooldown_until=None
        )
    return subject


def given_up() -> Subject:
    return failed_times(a_subject(), 3, limit=3)


def test_a_subject_never_tried_has_no_status() -> None:
    subject = a_subject()
    assert (subject.status, subject.failure_count, subject.version) == (None, 0, 0)


@pytest.mark.parametrize(
    ("failures", "status"),
    [(1, "pending"), (2, "pending"), (3, "permanent_failure"), (4, "permanent_failure")],
)
def test_a_subject_is_given_up_with_its_last_failure(failures: int, status: str) -> None:
    subject = failed_times(a_subject(), failures, limit=3)
    assert (subject.status, subject.failure_count) == (status, failures)


def test_a_limit_of_one_gives_a_subject_up_at_once() -> None:
    assert a_subject().count_failure(limit=1).is_given_up


def test_without_a_limit_a_subject_is_never_given_up() -> None:
    assert not failed_times(a_subject(), 100, limit=None).is_given_up


@pytest.mark.parametrize("limit", [5, None])
def test_a_subject_that_was_given_up_is_not_taken_back_by_a_failure(limit: int | None) -> None:
    assert given_up().count_failure(limit=limit).is_given_up


def test_an_attempt_leaves_its_error_behind() -> None:
    subject = a_subject().record_attempt("json_parse", "no JSON", at=NOW, cooldown_until=NOW + HOUR)
    assert (subject.last_error_category, subject.last_error_message) == ("json_parse", "no JSON")
    assert (subject.last_attempt_at, subject.cooldown_until) == (NOW, NOW + HOUR)


def test_an_attempt_alone_counts_nothing() -> None:
    subject = a_subject(failure_count=2).record_attempt(
        "unknown", "boom", at=NOW, cooldown_until=None
    )
    assert (subject.failure_count, subject.status) == (2, None)


def test_only_the_beginning_and_the_end_of_a_long_error_are_kept() -> None:
    message = "first " + "x " * 5_000 + "last"
    kept = (
        a_subject()
        .record_attempt("unknown", message, at=NOW, cooldown_until=None)
        .last_error_message
    )
    assert kept is not None
    assert (len(kept) <= MESSAGE_LIMIT, kept[:6], kept[-4:]) == (True, "first ", "last")


@pytest.mark.parametrize(
    ("after", "cools_down"),
    [(timedelta(0), True), (HOUR - MILLISECOND, True), (HOUR, False), (DAY, False)],
)
def test_a_subject_cools_down_until_its_time(after: timedelta, cools_down: bool) -> None:
    assert a_subject(cooldown_until=NOW + HOUR).is_cooling_down(NOW + after) is cools_down


def test_a_subject_without_a_time_does_not_cool_down() -> None:
    assert not a_subject().is_cooling_down(NOW)


def test_success_wipes_the_slate() -> None:
    assert given_up().record_success(at=NOW + HOUR) == a_subject(
        status=SubjectStatus.SUCCESS, last_attempt_at=NOW + HOUR, version=4
    )


def test_a_reset_leaves_only_when_it_was_last_tried() -> None:
    assert given_up().reset() == a_subject(last_attempt_at=NOW, version=4)


def test_a_subject_that_was_reset_counts_from_the_beginning() -> None:
    assert failed_times(given_up().reset(), 2, limit=3).status is SubjectStatus.PENDING


def test_every_change_that_is_stored_raises_the_version_by_one() -> None:
    subject = a_subject(version=7)
    changed = [
        subject.count_failure(limit=5).record_attempt(
            "unknown", "boom", at=NOW, cooldown_until=None
        ),
        subject.record_success(at=NOW),
        subject.reset(),
    ]
    assert [one.version for one in changed] == [8, 8, 8]
