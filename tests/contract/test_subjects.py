"""Subjects: one of two concurrent writers wins, also when saved together with a task."""

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

FAILED_SUBJECT = a_subject(failure_count=1, version=1)
Stores = tuple[TaskStore, Subjects]


@pytest.fixture(params=["dynamodb", "memory"])
def task_and_subject_stores(request: pytest.FixtureRequest, dynamo: DynamoTaskStore) -> Stores:
    memory = MemoryStore()
    return (dynamo, DynamoSubjects()) if request.param == "dynamodb" else (memory, memory.subjects)


@pytest.fixture
def subjects(task_and_subject_stores: Stores) -> Subjects:
    return task_and_subject_stores[1]


def test_an_unknown_subject_is_new(subjects: Subjects) -> None:
    assert subjects.get("story-1") == Subject(id="story-1")


@pytest.mark.parametrize(
    "subject",
    [
        FAILED_SUBJECT,
        a_subject(version=1, failure_count=2, cooldown_until=NOW + HOUR),
        a_subject(version=1, failure_count=5, status=SubjectStatus.PERMANENT_FAILURE),
    ],
    ids=["failed", "cooling down", "given up"],
)
def test_a_saved_subject_is_read_unchanged(subjects: Subjects, subject: Subject) -> None:
    subjects.save(subject)
    assert subjects.get(subject.id) == subject
    assert subjects.get("story-2") == Subject(id="story-2")


def test_two_saves_from_one_version_have_one_winner(subjects: Subjects) -> None:
    subjects.save(FAILED_SUBJECT)
    with pytest.raises(StaleSubjectError, match="story-1"):
        subjects.save(a_subject(failure_count=7, version=1))
    assert subjects.get("story-1") == FAILED_SUBJECT


def test_a_save_that_skips_a_version_is_stale(subjects: Subjects) -> None:
    with pytest.raises(StaleSubjectError):
        subjects.save(a_subject(version=2))
    assert subjects.get("story-1") == Subject(id="story-1")


def test_a_task_and_its_subject_are_saved_together(task_and_subject_stores: Stores) -> None:
    store, subjects = task_and_subject_stores
    task = store.create(a_task(subject="story-1"))
    store.save(task, user_actions.pause(task), subject=FAILED_SUBJECT)
    assert (store.get(ID).paused, subjects.get("story-1")) == (True, FAILED_SUBJECT)


def test_a_stale_subject_makes_the_task_stale(task_and_subject_stores: Stores) -> None:
    store, subjects = task_and_subject_stores
    task = store.create(a_task(subject="story-1"))
    subjects.save(FAILED_SUBJECT)
    with pytest.raises(StaleTaskError):
        store.save(task, user_actions.pause(task), subject=a_subject(failure_count=7, version=1))
    assert (store.get(ID), subjects.get("story-1")) == (task, FAILED_SUBJECT)


def test_a_stale_task_leaves_the_subject_unwritten(task_and_subject_stores: Stores) -> None:
    store, subjects = task_and_subject_stores
    task = store.create(a_task(subject="story-1"))
    after = user_actions.pause(task)
    store.save(task, after)
    with pytest.raises(StaleTaskError):
        store.save(task, user_actions.cancel(task, at=NOW), subject=FAILED_SUBJECT)
    assert (store.get(ID), subjects.get("story-1")) == (after, Subject(id="story-1"))
