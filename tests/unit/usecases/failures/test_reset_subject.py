"""Resetting a subject or its cool-down, also under concurrent writes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from duecourse.domain.errors import StaleSubjectError
from duecourse.domain.failures.subject import Subject, SubjectStatus
from duecourse.usecases.failures.reset_subject import MAX_ATTEMPTS, end_cooldown, reset_subject

from tests.support.builders.failures import a_subject
from tests.support.builders.moments import HOUR, NOW

FAILED = a_subject(
    failure_count=3,
    status=SubjectStatus.PERMANENT_FAILURE,
    last_attempt_at=NOW,
    cooldown_until=NOW + HOUR,
    version=7,
)


class ConflictingSubjects:
    """Raises a write conflict for the first `races` saves."""

    def __init__(self, stored: Subject, conflicts: int = 0) -> None:
        self.stored = stored
        self.races = conflicts

    def get(self, subject_id: str) -> Subject:
        assert subject_id == self.stored.id
        return self.stored

    def save(self, subject: Subject) -> None:
        if self.races:
            self.races -= 1
            self.stored = replace(self.stored, version=self.stored.version + 1)
        if subject.version != self.stored.version + 1:
            raise StaleSubjectError(subject.id)
        self.stored = subject


def test_a_reset_keeps_only_the_last_attempt_time() -> None:
    subjects = ConflictingSubjects(FAILED)
    after = reset_subject("story-1", subjects)
    assert after == subjects.stored == a_subject(last_attempt_at=NOW, version=8)


def test_ending_a_cool_down_keeps_the_failure_count() -> None:
    subjects = ConflictingSubjects(FAILED)
    after = end_cooldown("story-1", subjects)
    assert after == subjects.stored == replace(FAILED, cooldown_until=None, version=8)


@pytest.mark.parametrize("subject", [a_subject(), a_subject(failure_count=1, version=3)])
def test_without_a_cool_down_nothing_is_written(subject: Subject) -> None:
    subjects = ConflictingSubjects(subject)
    assert end_cooldown("story-1", subjects) is subject
    assert subjects.stored is subject


def test_a_reset_does_not_create_an_unknown_subject() -> None:
    subjects = ConflictingSubjects(a_subject())
    assert reset_subject("story-1", subjects).version == subjects.stored.version == 0


def test_a_change_is_repeated_after_a_write_conflict() -> None:
    subjects = ConflictingSubjects(FAILED, conflicts=MAX_ATTEMPTS - 1)
    assert reset_subject("story-1", subjects).failure_count == 0


def test_repeated_write_conflicts_raise() -> None:
    with pytest.raises(StaleSubjectError):
        reset_subject("story-1", ConflictingSubjects(FAILED, conflicts=MAX_ATTEMPTS))
