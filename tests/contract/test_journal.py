"""The journal: the events and the run of one task version, stored once and read oldest first."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.journal import DynamoJournal, task_from_image
from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore
from duecourse.domain.failures.failure import Failure
from duecourse.domain.journal.history import ended_run, events_between
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.tasks.task import Task
from duecourse.usecases.journal.read_history import read_history

from tests.support.builders.failures import fail_repeatedly, fail_task
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.builders.runs import a_run, run_of
from tests.support.builders.tasks import ID, a_task, claim_task

ORDER = [(0, "z"), (1, "a"), (2, "m")]  # ids are random: they do not sort by age


def events(*event_types: str, at: datetime = NOW) -> list[Event]:
    return [
        Event(EventType(event_type), ID, at, {"n": n}) for n, event_type in enumerate(event_types)
    ]


def entries() -> list[dict[str, Any]]:
    return list(boto3.client("dynamodb").scan(TableName="JournalTable")["Items"])


def test_events_are_read_as_they_were_written(journal: DynamoJournal) -> None:
    expected = events("task:failed", "task:paused")
    journal.write(a_task(), expected, None)
    assert journal.list_events(ID) == expected


def test_an_event_without_details_has_none(journal: DynamoJournal) -> None:
    journal.write(a_task(), [Event(EventType.TASK_CANCELLED, ID, NOW)], None)
    assert journal.list_events(ID) == [Event(EventType.TASK_CANCELLED, ID, NOW, {})]


def test_history_is_in_the_order_of_versions(journal: DynamoJournal) -> None:
    for version in (10, 2, 1, 100):
        event = Event(EventType.TASK_CHANGED, ID, NOW, {"version": version})
        journal.write(a_task(version=version), [event], None)
    assert [event.detail["version"] for event in journal.list_events(ID)] == [1, 2, 10, 100]


def test_an_event_of_an_unknown_type_is_left_out(journal: DynamoJournal) -> None:
    """Newer code wrote it and was rolled back: the rest of the history is still read."""
    journal.write(a_task(), events("task:created", "task:changed", "task:cancelled"), None)
    key = {"task_id": {"S": ID}, "entry": {"S": "e#0000000001#1"}}
    boto3.client("dynamodb").update_item(
        TableName="JournalTable",
        Key=key,
        UpdateExpression="SET #type = :type",
        ConditionExpression="attribute_exists(#type)",
        ExpressionAttributeNames={"#type": "type"},
        ExpressionAttributeValues={":type": {"S": "task:invented_later"}},
    )
    assert [event.type for event in journal.list_events(ID)] == ["task:created", "task:cancelled"]


def test_writing_a_version_again_changes_nothing(journal: DynamoJournal) -> None:
    task = fail_repeatedly(a_task(), 1)
    for _ in range(2):
        journal.write(task, events("task:retry_scheduled"), task.run)
    assert (journal.list_events(ID), journal.list_runs(ID)) == (
        events("task:retry_scheduled"),
        [task.run],
    )


def test_runs_are_read_as_they_ended_oldest_first(journal: DynamoJournal) -> None:
    runs = [a_run(id=name, started_at=NOW + n * MINUTE, ended_at=NOW + HOUR) for n, name in ORDER]
    for run in reversed(runs):
        journal.write(a_task(), [], run)
    assert journal.list_runs(ID) == runs


def test_an_active_run_is_not_stored(journal: DynamoJournal) -> None:
    journal.write(a_task(), [], a_run())
    assert journal.list_runs(ID) == []


def test_an_unknown_task_has_no_history(journal: DynamoJournal) -> None:
    assert (journal.list_events(ID), journal.list_runs(ID)) == ([], [])


def test_history_excludes_other_tasks(journal: DynamoJournal) -> None:
    journal.write(a_task(id="another"), events("task:created"), None)
    assert journal.list_events(ID) == []


def test_every_entry_expires(journal: DynamoJournal) -> None:
    task = fail_repeatedly(a_task(), 1)
    journal.write(task, events("task:retry_scheduled"), task.run)
    ages = {int(entry["expires_at"]["N"]) for entry in entries()}
    assert ages == {(NOW + 30 * DAY).timestamp()}


def test_the_events_between_two_versions_are_stored(journal: DynamoJournal) -> None:
    running = claim_task(a_task())
    after = fail_task(running)
    expected = events_between(running, after, at=NOW)
    journal.write(after, expected, ended_run(running, after))
    assert (journal.list_events(ID), journal.list_runs(ID)) == (expected, [run_of(after)])


@pytest.mark.parametrize(
    "task",
    [a_task(payload={"a": 1}), fail_repeatedly(a_task(repeat="daily"), 1), claim_task(a_task())],
    ids=["new", "retrying", "running"],
)
def test_a_task_is_read_from_its_image_in_the_stream(dynamo: DynamoTaskStore, task: Task) -> None:
    dynamo.create(task)
    [image] = boto3.client("dynamodb").scan(TableName="TasksTable")["Items"]
    assert task_from_image(image) == task


@pytest.mark.parametrize("image", [None, {}])
def test_a_missing_image_gives_no_task(image: dict[str, Any] | None) -> None:
    assert task_from_image(image) is None


def test_a_run_stopped_by_its_budget_has_ordered_history(
    journal: DynamoJournal,
) -> None:
    running = claim_task(a_task(payload={"budget": "agents"}))
    after = fail_task(running, Failure.create("no money left", code="budget_exceeded"))
    journal.write(after, events_between(running, after, at=NOW), run_of(after))
    assert [event.type for event in read_history(after, journal=journal)] == [
        *("task:started", "budget:exceeded", "task:retry_scheduled"),
    ]
