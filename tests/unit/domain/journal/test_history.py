"""The history events derived from two versions of a task."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from duecourse.domain.failures.failure import Failure
from duecourse.domain.journal.history import ended_run, events_between, start_events
from duecourse.domain.lifecycle import run_transitions, user_actions
from duecourse.domain.lifecycle.awaited_task import awaited_task_id
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.task_edit import TaskEdit

from tests.support.builders.failures import (
    a_diagnosis,
    a_failure_report,
    apply_decision,
    crash_task,
    fail_repeatedly,
    fail_task,
)
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.builders.runs import LEASE, run_of
from tests.support.builders.tasks import (
    ID,
    PROVIDER_DOWN,
    a_task,
    a_timing_edit,
    an_action,
    claim_task,
)

WRITTEN_AT = NOW + DAY  # the stream's write time, which no run below has


def event_details(old: Task | None, new: Task) -> list[tuple[str, dict[str, Any]]]:
    return [(event.type, event.detail) for event in events_between(old, new, at=WRITTEN_AT)]


def event_types(old: Task | None, new: Task) -> list[str]:
    return [event_type for event_type, _ in event_details(old, new)]


def event_time(old: Task | None, new: Task) -> datetime:
    [event] = events_between(old, new, at=WRITTEN_AT)
    return event.at


def fail_last(task: Task, failures: int) -> tuple[Task, Task]:
    """Return the task before and after the last of a number of failures."""
    before = fail_repeatedly(task, failures - 1)
    running = claim_task(before, "last", at=before.due_at)
    return running, fail_task(running, at=before.due_at)


# Created and started


def test_a_created_event_has_the_creation_time_of_the_task() -> None:
    task = a_task(created_at=NOW - HOUR)
    detail = {"due_at": "2026-02-17T12:00:00.000Z", "type": "reminder"}
    assert events_between(None, task, at=WRITTEN_AT) == [
        Event(EventType.TASK_CREATED, ID, NOW - HOUR, detail)
    ]


def test_a_claim_adds_no_task_event_besides_the_events_of_its_run() -> None:
    assert event_details(a_task(), claim_task(a_task())) == []


def test_a_run_records_a_started_event() -> None:
    events = start_events(ID, run_of(claim_task(a_task(), "run-7", at=NOW)))
    detail = {"run_id": "run-7", "attempt": 1, "reason": "first"}
    assert events == [Event(EventType.TASK_STARTED, ID, NOW, detail)]


def test_a_retry_also_records_a_retry_executed_event() -> None:
    events = start_events(ID, run_of(claim_task(fail_repeatedly(a_task(), 1), "run-8", at=NOW)))
    detail = {"run_id": "run-8", "attempt": 2, "reason": "transient"}
    expected_types = (EventType.TASK_STARTED, EventType.TASK_RETRY_EXECUTED)
    assert events == [Event(event_type, ID, NOW, detail) for event_type in expected_types]


# Ends of runs


@pytest.mark.parametrize(
    ("type_", "expected_type"), [("reminder", "task:delivered"), ("action", "task:completed")]
)
def test_the_success_event_depends_on_the_task_type(type_: str, expected_type: str) -> None:
    running = claim_task(a_task(type=type_))
    assert event_types(running, run_transitions.commit(running, None, at=NOW)) == [expected_type]


def test_a_success_event_has_the_lateness() -> None:
    running = claim_task(a_task())
    [(_, detail)] = event_details(running, run_transitions.commit(running, None, at=NOW + MINUTE))
    assert detail == {
        "run_id": "run-1",
        "nominal_at": "2026-02-17T12:00:00.000Z",
        "late_ms": 60_000,
    }


def test_an_early_run_has_a_lateness_of_zero() -> None:
    running = claim_task(a_task(due_at=NOW + HOUR))
    [(_, detail)] = event_details(running, run_transitions.commit(running, None, at=NOW))
    assert detail["late_ms"] == 0


def test_an_end_event_has_the_time_at_which_the_run_ended() -> None:
    running = claim_task(a_task())
    assert (
        event_time(running, run_transitions.commit(running, None, at=NOW + MINUTE)) == NOW + MINUTE
    )


def test_a_failure_records_the_scheduled_retry() -> None:
    assert event_details(*fail_last(a_task(), 1)) == [
        (
            "task:retry_scheduled",
            {
                "run_id": "last",
                "nominal_at": "2026-02-17T12:00:00.000Z",
                "error": "boom",
                "category": "unknown",
                "run_status": "paused:transient",
                "kind": "unknown",
                "clears_by": None,
                "next_retry_at": "2026-02-17T12:02:00.000Z",
                "attempt": 2,
            },
        )
    ]


def test_a_crash_records_the_scheduled_retry() -> None:
    running = claim_task(a_task())
    [(event_type, detail)] = event_details(running, crash_task(running, at=NOW + LEASE))
    assert (event_type, detail["run_status"]) == ("task:retry_scheduled", "crashed")


@pytest.mark.parametrize("repeat", [None, "daily"])
def test_the_last_failure_records_retry_exhausted_and_failed(repeat: str | None) -> None:
    assert event_types(*fail_last(a_task(repeat=repeat), 3)) == [
        "task:retry_exhausted",
        "task:failed",
    ]


def test_a_single_attempt_records_no_retry_exhausted_event() -> None:
    assert event_types(*fail_last(a_task(max_retries=1), 1)) == ["task:failed"]


def test_a_retry_exhausted_event_has_the_number_of_attempts() -> None:
    [(_, detail), (_, failure)] = event_details(*fail_last(a_task(), 3))
    assert detail == {**failure, "attempt": 3, "reason": "boom"}


def test_a_failed_event_has_error_category_and_run_status() -> None:
    [_, (_, detail)] = event_details(*fail_last(a_task(), 3))
    assert detail == {
        "run_id": "last",
        "nominal_at": "2026-02-17T12:00:00.000Z",
        "error": "boom",
        "category": "unknown",
        "run_status": "failed:permanent",
        "kind": "unknown",
        "clears_by": None,
    }


def test_a_series_paused_by_its_failures_records_the_reason() -> None:
    events = event_details(*fail_last(a_task(repeat="daily"), 9))
    assert [event_type for event_type, _ in events] == [
        "task:retry_exhausted",
        "task:failed",
        "task:paused",
    ]
    assert events[2][1] == {"reason": "3 occurrences failed in a row"}


# Recovery


def events_at_step(step: int, **fields: Any) -> list[tuple[str, dict[str, Any]]]:
    """Return the events of an action's failure at this step of the recovery ladder."""
    running = claim_task(an_action(retry_count=step, **fields), "last")
    return event_details(running, fail_task(running))


def test_guidance_is_recorded_with_the_retry() -> None:
    [(retry, _), (recovery, detail)] = events_at_step(0)
    assert (retry, recovery) == ("task:retry_scheduled", "task:recovery_action")
    assert detail == {
        "run_id": "last",
        "action": "retry_with_guidance",
        "guidance": "Read the whole error message and try another approach.",
    }


@pytest.mark.parametrize(
    ("step", "expected_type"), [(3, "task:escalated"), (4, "task:permanently_blocked")]
)
def test_a_blocked_task_records_the_event_of_its_step(step: int, expected_type: str) -> None:
    assert [event_type for event_type, _ in events_at_step(step)] == [
        "task:recovery_action",
        expected_type,
    ]


def test_an_escalation_event_has_error_and_run_status() -> None:
    [_, (_, detail)] = events_at_step(3)
    assert (detail["run_id"], detail["error"], detail["run_status"]) == (
        *("last", "boom", "paused:approval"),
    )


def test_a_spec_refresh_request_is_recorded() -> None:
    running = claim_task(an_action(retry_count=2, payload={"spec": "SPEC.md"}))
    after = apply_decision(
        running, a_failure_report(running), at=NOW, diagnosis=a_diagnosis("code_error")
    )
    assert event_types(running, after) == ["task:recovery_action", "task:spec_refresh_requested"]
    [_, event] = events_between(running, after, at=NOW)
    assert event.detail["review_task_id"] == awaited_task_id(after)
    assert event.detail["reason"] == after.guidance[-1]


def test_a_plain_retry_records_no_recovery_action() -> None:
    assert event_types(*fail_last(a_task(), 2)) == ["task:retry_scheduled"]


def test_a_series_that_is_not_escalated_records_a_failure() -> None:
    assert [event_type for event_type, _ in events_at_step(3, repeat="daily")] == ["task:failed"]


# Budgets


def test_budget_exceeded_is_recorded_before_the_retry() -> None:
    running = claim_task(a_task(payload={"budget": "agents"}))
    after = fail_task(running, Failure.create("no money left", code="budget_exceeded"))
    assert event_types(running, after) == ["budget:exceeded", "task:retry_scheduled"]


def test_a_budget_exceeded_event_names_the_budget_and_the_run() -> None:
    running = claim_task(a_task(payload={"budget": "agents"}))
    after = fail_task(running, Failure.create("no money left", code="budget_exceeded"))
    assert event_details(running, after)[0] == (
        "budget:exceeded",
        {"run_id": "run-1", "budget": "agents"},
    )


# Deferred, requeued and skipped


def test_a_deferral_event_has_the_reason_and_the_end() -> None:
    after = run_transitions.defer(a_task(), until=NOW + HOUR, wait=PROVIDER_DOWN)
    wait_fields = {"wait": "circuit_breaker", "reason": "provider x is down"}
    detail = {**wait_fields, "until": "2026-02-17T13:00:00.000Z"}
    assert event_details(a_task(), after) == [("task:parked", detail)]


def test_each_deferral_is_recorded() -> None:
    deferred = run_transitions.defer(a_task(), until=NOW + HOUR, wait=PROVIDER_DOWN)
    assert event_types(
        deferred, run_transitions.defer(deferred, until=NOW + DAY, wait=PROVIDER_DOWN)
    ) == ["task:parked"]


@pytest.mark.parametrize("user_action", ["run now", "edit"])
def test_a_user_action_on_a_deferred_task_is_not_recorded_as_a_deferral(user_action: str) -> None:
    deferred = run_transitions.defer(a_task(), until=NOW + DAY, wait=PROVIDER_DOWN)
    after = {
        "run now": user_actions.run_now(deferred, at=NOW + HOUR),
        "edit": user_actions.edit(deferred, a_timing_edit(NOW + HOUR)),
    }[user_action]
    assert event_types(deferred, after) == ["task:changed"]


def test_pausing_a_deferred_task_records_only_the_pause() -> None:
    deferred = run_transitions.defer(a_task(), until=NOW + DAY, wait=PROVIDER_DOWN)
    assert event_types(deferred, user_actions.pause(deferred)) == ["task:paused"]


def test_a_requeue_is_recorded_as_undelivered() -> None:
    after = run_transitions.requeue(a_task(), "nobody took it", "transient", at=NOW + HOUR)
    detail = {"error": "nobody took it", "due_at": "2026-02-17T13:00:00.000Z"}
    assert event_details(a_task(), after) == [("task:undelivered", detail)]


def test_each_requeue_is_recorded() -> None:
    requeued = run_transitions.requeue(a_task(), "nobody took it", "transient", at=NOW + HOUR)
    requeued_again = run_transitions.requeue(requeued, "nobody took it", "transient", at=NOW + DAY)
    assert event_types(requeued, requeued_again) == ["task:undelivered"]


def test_requeueing_a_deferred_task_is_recorded_as_undelivered() -> None:
    deferred = run_transitions.defer(a_task(), until=NOW + HOUR, wait=PROVIDER_DOWN)
    after = run_transitions.requeue(deferred, "nobody took it", "transient", at=NOW + DAY)
    assert event_types(deferred, after) == ["task:undelivered"]


def test_occurrences_skipped_by_an_outage_are_recorded_after_the_catch_up_run() -> None:
    running = claim_task(a_task(repeat="daily"), at=NOW + 2 * DAY)
    events = event_details(running, run_transitions.commit(running, None, at=NOW + 2 * DAY))
    assert [event_type for event_type, _ in events] == ["task:delivered", "task:skipped"]
    assert events[1][1] == {
        "count": 2,
        "skip_reason": "outage",
        "reason": "missed while nothing ran",
        "next_at": "2026-02-20T12:00:00.000Z",
    }


def test_the_skipped_event_states_what_the_run_waited_for() -> None:
    deferred = run_transitions.defer(
        a_task(repeat="daily"), until=NOW + 2 * DAY, wait=PROVIDER_DOWN
    )
    running = claim_task(deferred, at=NOW + 2 * DAY)
    events = event_details(running, run_transitions.commit(running, None, at=NOW + 2 * DAY))
    [skipped] = [detail for event_type, detail in events if event_type == "task:skipped"]
    assert (skipped["skip_reason"], skipped["reason"]) == (
        *("deferred", "missed while it waited: provider x is down"),
    )


# User actions


def test_a_cancelled_event_has_the_time_of_the_cancellation() -> None:
    task = a_task()
    after = user_actions.cancel(task, at=NOW)
    assert (event_types(task, after), event_time(task, after)) == (["task:cancelled"], NOW)


def test_an_event_is_never_older_than_its_task() -> None:
    """The stream rounds the time of a write down."""
    task = a_task(created_at=WRITTEN_AT + MINUTE)
    assert event_time(task, user_actions.pause(task)) == WRITTEN_AT + MINUTE


def test_cancelling_after_a_failure_does_not_record_the_failure_again() -> None:
    task = fail_repeatedly(a_task(), 1)
    assert event_types(task, user_actions.cancel(task, at=NOW)) == ["task:cancelled"]


@pytest.mark.parametrize(
    ("is_paused", "expected_type"), [(False, "task:paused"), (True, "task:resumed")]
)
def test_pause_and_resume_are_recorded(is_paused: bool, expected_type: str) -> None:
    task = a_task(paused=is_paused)
    assert event_details(task, replace(task, paused=not is_paused).move_to(Status.PENDING)) == [
        (expected_type, {})
    ]


def test_a_resumed_series_records_its_skipped_occurrences() -> None:
    task = a_task(paused=True, repeat="daily")
    resumed = user_actions.resume(task, at=NOW + HOUR)
    assert event_types(task, resumed) == ["task:resumed", "task:changed", "task:skipped"]


@pytest.mark.parametrize(
    ("field", "edit"),
    [
        ("description", TaskEdit(description="walk")),
        ("due_at", a_timing_edit(NOW + HOUR)),
        ("repeat", a_timing_edit(NOW, repeat="daily")),
        ("timezone", a_timing_edit(NOW, timezone="Europe/Berlin")),
        ("payload", TaskEdit(payload={"a": 1})),
        ("policy", TaskEdit(policy="agent")),
        ("max_retries", TaskEdit(max_retries=9)),
    ],
)
def test_a_changed_event_names_the_edited_fields(field: str, edit: TaskEdit) -> None:
    task = a_task()
    [(event_type, detail)] = event_details(task, user_actions.edit(task, edit))
    assert (event_type, detail["fields"]) == ("task:changed", [field])


def test_an_edit_that_changes_nothing_is_not_recorded() -> None:
    assert (
        event_details(a_task(), user_actions.edit(a_task(), TaskEdit(description="stretch"))) == []
    )


@pytest.mark.parametrize("status", ["blocked", "failed"])
def test_an_unblocked_event_has_the_previous_status(status: str) -> None:
    task = a_task(status=Status(status))
    detail = {"from": status, "due_at": "2026-02-17T13:00:00.000Z"}
    assert event_details(task, user_actions.retry(task, at=NOW + HOUR)) == [
        ("task:unblocked", detail)
    ]


def test_a_user_retry_of_a_pending_retry_is_recorded_as_a_change() -> None:
    task = fail_repeatedly(a_task(), 1)
    assert event_types(task, user_actions.retry(task, at=NOW)) == ["task:changed"]


# Ended runs


def test_a_current_run_is_not_an_ended_run() -> None:
    assert ended_run(a_task(), claim_task(a_task())) is None


def test_the_write_that_ends_a_run_returns_it() -> None:
    before, after = fail_last(a_task(), 1)
    assert ended_run(before, after) == after.run


def test_later_writes_do_not_return_an_ended_run_again() -> None:
    task = fail_repeatedly(a_task(), 1)
    reloaded = replace(
        user_actions.pause(task), run=replace(run_of(task))
    )  # from the stream's image
    assert ended_run(task, reloaded) is None
