"""Operations on a subject: reset it, end its cooldown early, or erase its last error."""

from __future__ import annotations

from collections.abc import Callable

from duecourse.domain.errors import StaleSubjectError
from duecourse.domain.failures.subject import Subject
from duecourse.ports.tasks import Subjects
from duecourse.usecases.retry_on_conflict import retry_on_conflict

MAX_ATTEMPTS = 5


def reset_subject(subject_id: str, subjects: Subjects) -> Subject:
    return _update_subject(subject_id, Subject.reset, subjects)


def end_cooldown(subject_id: str, subjects: Subjects) -> Subject:
    return _update_subject(subject_id, Subject.end_cooldown, subjects)


def erase_subject_message(subject_id: str, subjects: Subjects) -> Subject:
    return _update_subject(subject_id, Subject.erase_message, subjects)


def _update_subject(
    subject_id: str, transition: Callable[[Subject], Subject], subjects: Subjects
) -> Subject:
    """Apply `transition` and save, retrying on conflicts. A subject never used is not written."""

    def save(_: int) -> Subject:
        subject = subjects.get(subject_id)
        after = transition(subject)
        if subject.version == 0 or after is subject:
            return subject
        subjects.save(after)
        return after

    return retry_on_conflict(save, conflict=StaleSubjectError, max_attempts=MAX_ATTEMPTS)
