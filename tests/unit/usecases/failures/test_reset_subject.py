"""What a person may do to a subject, also while tasks work on it."""

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


class RacingSubjects:
    """So often somebody else is faster."""

    def __init__(self, stored: Subject, races: int = 0) -> None:
        self.stored = stored
        self.races = races

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


def test_a_reset_leaves_nothing_but_when_it_was_last_tried() -> None:
    subjects = RacingSubjects(FAILED)
    after = reset_subject("story-1", subjects)
    assert after == subjects.stored == a_subject(last_attempt_at=NOW, version=8)


def test_the_end_of_a_cool_down_leaves_the_count() -> None:
    subjects = RacingSubjects(FAILED)
    after = end_cooldown("story-1", subjects)
    assert after == subjects.stored == replace(FAILED, cooldown_until=None, version=8)


@pytest.mark.parametrize("subject", [a_subject(), a_subject(failure_count=1, version=3)])
def test_where_nothing_is_to_end_nothing_is_written(subject: Subject) -> None:
    subjects = RacingSubjects(subject)
    assert end_cooldown("story-1", subjects) is subject
    assert subjects.stored is subject


def test_a_subject_never_tried_is_not_made_by_a_reset() -> None:
    subjects = RacingSubjects(a_subject())
    assert reset_subject("story-1", subjects).version == subjects.stored.version == 0


def test_a_change_that_lost_a_race_is_made_again() -> None:
    subjects = RacingSubjects(FAILED, races=MAX_ATTEMPTS - 1)
    assert reset_subject("story-1", subjects).failure_count == 0


def test_a_change_that_loses_every_race_says_so() -> None:
    with pytest.raises(StaleSubjectError):
        reset_subject("story-1", RacingSubjects(FAILED, races=MAX_ATTEMPTS))
