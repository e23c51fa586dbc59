"""What every store of subjects promises: one winner, alone and together with a task."""

from __future__ import annotations

import pytest
from duecourse.adapters.aws.dynamodb.subjects import DynamoSubjects
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.errors import StaleSubjectError, StaleTaskError
from duecourse.domain.failures.subject import Subject, SubjectStatus
from duecourse.domain.lifecycle import user_actions
from duecourse.ports.tasks import Subjects, TaskStore

from tests.support.builders.failures import a_subject
from tests.support.builders.moments import HOUR, NOW
from tests.support.builders.tasks import ID, a_task
from tests.support.fakes.tasks import MemoryStore

SEEN = a_subject(failure_count=1, version=1)
Both = tuple[TaskStore, Subjects]


@pytest.fixture(params=["dynamodb", "memory"])
def both(request: pytest.FixtureRequest, dynamo: DynamoTaskStore) -> Both:
    memory = MemoryStore()
    return (dynamo, DynamoSubjects()) if request.param == "dynamodb" else (memory, memory.subjects)


@pytest.fixture
def subjects(both: Both) -> Subjects:
    return both[1]


def test_one_never_seen_is_a_fresh_one(subjects: Subjects) -> None:
    assert subjects.get("story-1") == Subject(id="story-1")


@pytest.mark.parametrize(
    "subject",
    [
        SEEN,
        a_subject(version=1, failure_count=2, cooldown_until=NOW + HOUR),
        a_subject(version=1, failure_count=5, status=SubjectStatus.PERMANENT_FAILURE),
    ],
    ids=["failed", "cooling down", "given up"],
)
def test_a_saved_subject_is_got_as_it_was(subjects: Subjects, subject: Subject) -> None:
    subjects.save(subject)
    assert subjects.get(subject.id) == subject
    assert subjects.get("story-2") == Subject(id="story-2")


def test_of_two_saves_of_one_version_one_wins(subjects: Subjects) -> None:
    subjects.save(SEEN)
    with pytest.raises(StaleSubjectError, match="story-1"):
        subjects.save(a_subject(failure_count=7, version=1))
    assert subjects.get("story-1") == SEEN


def test_a_version_that_skips_another_is_stale(subjects: Subjects) -> None:
    with pytest.raises(StaleSubjectError):
        subjects.save(a_subject(version=2))
    assert subjects.get("story-1") == Subject(id="story-1")


def test_a_task_and_its_subject_are_saved_together(both: Both) -> None:
    store, subjects = both
    task = store.create(a_task(subject="story-1"))
    store.save(task, user_actions.pause(task), subject=SEEN)
    assert (store.get(ID).paused, subjects.get("story-1")) == (True, SEEN)


def test_where_the_subject_has_moved_on_the_task_is_stale_too(both: Both) -> None:
    store, subjects = both
    task = store.create(a_task(subject="story-1"))
    subjects.save(SEEN)
    with pytest.raises(StaleTaskError):
        store.save(task, user_actions.pause(task), subject=a_subject(failure_count=7, version=1))
    assert (store.get(ID), subjects.get("story-1")) == (task, SEEN)


def test_where_the_task_has_moved_on_the_subject_is_not_written(both: Both) -> None:
    store, subjects = both
    task = store.create(a_task(subject="story-1"))
    after = user_actions.pause(task)
    store.save(task, after)
    with pytest.raises(StaleTaskError):
        store.save(task, user_actions.cancel(task, at=NOW), subject=SEEN)
    assert (store.get(ID), subjects.get("story-1")) == (after, Subject(id="story-1"))
