"""What a person may do to a subject: give it a fresh start, or have it tried before its time."""

from __future__ import annotations

from collections.abc import Callable

from duecourse.domain.errors import StaleSubjectError
from duecourse.domain.failures.subject import Subject
from duecourse.ports.tasks import Subjects

TRIES = 5


def reset_subject(subject_id: str, subjects: Subjects) -> Subject:
    return _changed(subject_id, Subject.reset, subjects)


def end_cooldown(subject_id: str, subjects: Subjects) -> Subject:
    return _changed(subject_id, Subject.cooled_down, subjects)


def _changed(subject_id: str, change: Callable[[Subject], Subject], subjects: Subjects) -> Subject:
    """A change that lost a race is made on what is there now. One never tried stays as it is."""
    for _ in range(TRIES):
        subject = subjects.get(subject_id)
        after = change(subject)
        if subject.version == 0 or after is subject:
            return subject
        try:
            subjects.save(after)
        except StaleSubjectError:
            continue
        return after
    raise StaleSubjectError(subject_id)
