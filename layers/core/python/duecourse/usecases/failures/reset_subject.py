"""Operations on a subject: reset it, or end its cooldown early."""

from __future__ import annotations

from collections.abc import Callable

from duecourse.domain.errors import StaleSubjectError
from duecourse.domain.failures.subject import Subject
from duecourse.ports.tasks import Subjects

MAX_ATTEMPTS = 5


def reset_subject(subject_id: str, subjects: Subjects) -> Subject:
    return _update_subject(subject_id, Subject.reset, subjects)


def end_cooldown(subject_id: str, subjects: Subjects) -> Subject:
    return _update_subject(subject_id, Subject.end_cooldown, subjects)


def _update_subject(
    subject_id: str, transition: Callable[[Subject], Subject], subjects: Subjects
) -> Subject:
    """Apply `transition` and save, retrying on conflicts. A subject never used is not written."""
    for _ in range(MAX_ATTEMPTS):
        subject = subjects.get(subject_id)
        after = transition(subject)
        if subject.version == 0 or after is subject:
            return subject
        try:
            subjects.save(after)
        except StaleSubjectError:
            continue
        return after
    raise StaleSubjectError(subject_id)
