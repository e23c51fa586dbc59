"""Which write brings a repeated failure of a task to the statistics."""

from __future__ import annotations

from dataclasses import replace

import pytest
from duecourse.domain.journal.failure_tracker import (
    FailureTracker,
    find_changed_tracker,
    tracker_of_subject,
)
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.recent_errors import NO_ERRORS, RecentErrors

from tests.support.builders.failures import a_subject
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.tasks import ID, a_task


def errors_of(count: int) -> RecentErrors:
    errors = NO_ERRORS
    for n in range(count):
        errors = errors.record("timeout", at=NOW + n * MINUTE)
    return errors


@pytest.mark.parametrize(("count", "is_repeated"), [(3, False), (4, True), (5, True)])
def test_the_fourth_error_and_each_after_it_bring_a_tracker(count: int, is_repeated: bool) -> None:
    old = a_task(recent_errors=errors_of(count - 1), version=7)
    new = replace(old, recent_errors=errors_of(count), version=8)
    expected = FailureTracker(task_id=ID, errors=errors_of(count), version=8)
    assert find_changed_tracker(old, new) == (expected if is_repeated else None)


def test_another_change_brings_no_tracker() -> None:
    old = a_task(recent_errors=errors_of(4))
    assert find_changed_tracker(old, replace(old, description="x", version=9)) is None


def test_an_unknown_earlier_version_brings_the_tracker() -> None:
    assert find_changed_tracker(None, a_task(recent_errors=errors_of(4))) is not None


def test_the_errors_of_a_subject_are_not_those_of_its_task() -> None:
    new = a_task(subject="story-1", recent_errors=errors_of(4))
    assert find_changed_tracker(None, new) is None
    subject = a_subject(recent_errors=errors_of(4))
    assert tracker_of_subject(subject) == FailureTracker(subject="story-1", errors=errors_of(4))


def test_a_tracker_knows_its_last_error() -> None:
    assert FailureTracker(errors=errors_of(5)).last_error_at == NOW + 4 * MINUTE


def test_a_corrected_kind_brings_the_tracker() -> None:
    known = {"recent_errors": errors_of(4), "last_error_category": "timeout"}
    old = a_task(**known, last_error_kind=Kind.TIMEOUT)
    tracker = find_changed_tracker(old, replace(old, last_error_kind=Kind.NETWORK))
    assert tracker is not None
    assert tracker.last_kind is Kind.NETWORK


def test_the_kind_of_something_else_than_the_last_error_is_not_tracked() -> None:
    requeued = a_task(
        recent_errors=errors_of(4), last_error_category="unknown", last_error_kind=Kind.CRASH
    )
    tracker = find_changed_tracker(None, requeued)
    assert tracker is not None
    assert tracker.last_kind is None
