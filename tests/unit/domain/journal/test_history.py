"""What happened, read off two versions of a task."""

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

WRITTEN_AT = NOW + DAY  # the stream's own time, which none of the runs below took


def told(old: Task | None, new: Task) -> list[tuple[str, dict[str, Any]]]:
    return [(event.type, event.detail) for event in events_between(old, new, at=WRITTEN_AT)]


def kinds(old: Task | None, new: Task) -> list[str]:
    return [kind for kind, _ in told(old, new)]


def moment(old: Task | None, new: Task) -> datetime:
    [event] = events_between(old, new, at=WRITTEN_AT)
    return event.at


def failing(task: Task, failures: int) -> tuple[Task, Task]:
    """The last failure of so many: the task before it and after."""
    before = fail_repeatedly(task, failures - 1)
    running = claim_task(before, "last", at=before.due_at)
    return running, fail_task(running, at=before.due_at)


# Beginnings


def test_a_new_task_was_created_when_it_says() -> None:
    task = a_task(created_at=NOW - HOUR)
    detail = {"due_at": "2026-02-17T12:00:00.000Z", "type": "reminder"}
    assert events_between(None, task, at=WRITTEN_AT) == [
        Event(EventType.TASK_CREATED, ID, NOW - HOUR, detail)
    ]


def test_a_claim_is_told_by_its_run_and_not_twice() -> None:
    assert told(a_task(), claim_task(a_task())) == []


def test_a_run_tells_that_it_started() -> None:
    events = start_events(ID, run_of(claim_task(a_task(), "run-7", at=NOW)))
    detail = {"run_id": "run-7", "attempt": 1, "reason": "first"}
    assert events == [Event(EventType.TASK_STARTED, ID, NOW, detail)]


def test_a_retry_tells_that_it_was_executed() -> None:
    events = start_events(ID, run_of(claim_task(fail_repeatedly(a_task(), 1), "run-8", at=NOW)))
    detail = {"run_id": "run-8", "attempt": 2, "reason": "transient"}
    kinds = (EventType.TASK_STARTED, EventType.TASK_RETRY_EXECUTED)
    assert events == [Event(kind, ID, NOW, detail) for kind in kinds]


# Ends of runs


@pytest.mark.parametrize(
    ("type_", "kind"), [("reminder", "task:delivered"), ("action", "task:completed")]
)
def test_a_success_is_told_in_the_words_of_its_type(type_: str, kind: str) -> None:
    running = claim_task(a_task(type=type_))
    assert kinds(running, run_transitions.commit(running, None, at=NOW)) == [kind]


def test_a_success_says_how_late_it_was() -> None:
    running = claim_task(a_task())
    [(_, detail)] = told(running, run_transitions.commit(running, None, at=NOW + MINUTE))
    assert detail == {
        "run_id": "run-1",
        "nominal_at": "2026-02-17T12:00:00.000Z",
        "late_ms": 60_000,
    }


def test_nothing_is_later_than_never() -> None:
    running = claim_task(a_task(due_at=NOW + HOUR))
    [(_, detail)] = told(running, run_transitions.commit(running, None, at=NOW))
    assert detail["late_ms"] == 0


def test_the_end_of_a_run_is_told_at_the_moment_it_ended() -> None:
    running = claim_task(a_task())
    assert moment(running, run_transitions.commit(running, None, at=NOW + MINUTE)) == NOW + MINUTE


def test_a_failure_tells_of_the_retry_to_come() -> None:
    assert told(*failing(a_task(), 1)) == [
        (
            "task:retry_scheduled",
            {
                "run_id": "last",
                "nominal_at": "2026-02-17T12:00:00.000Z",
                "error": "boom",
                "category": "unknown",
                "run_status": "paused:transient",
                "next_retry_at": "2026-02-17T12:02:00.000Z",
                "attempt": 2,
            },
        )
    ]


def test_a_crash_tells_of_the_retry_to_come() -> None:
    running = claim_task(a_task())
    [(kind, detail)] = told(running, crash_task(running, at=NOW + LEASE))
    assert (kind, detail["run_status"]) == ("task:retry_scheduled", "crashed")


@pytest.mark.parametrize("repeat", [None, "daily"])
def test_the_last_failure_is_told_as_such(repeat: str | None) -> None:
    assert kinds(*failing(a_task(repeat=repeat), 3)) == ["task:retry_exhausted", "task:failed"]


def test_a_first_attempt_that_is_final_exhausted_no_retries() -> None:
    assert kinds(*failing(a_task(max_retries=1), 1)) == ["task:failed"]


def test_exhausted_retries_are_told_with_the_attempts_made() -> None:
    [(_, detail), (_, failure)] = told(*failing(a_task(), 3))
    assert detail == {**failure, "attempt": 3, "reason": "boom"}


def test_the_last_failure_says_what_went_wrong() -> None:
    [_, (_, detail)] = told(*failing(a_task(), 3))
    assert detail == {
        "run_id": "last",
        "nominal_at": "2026-02-17T12:00:00.000Z",
        "error": "boom",
        "category": "unknown",
        "run_status": "failed:permanent",
    }


def test_a_series_paused_by_its_failures_says_why() -> None:
    events = told(*failing(a_task(repeat="daily"), 9))
    assert [kind for kind, _ in events] == ["task:retry_exhausted", "task:failed", "task:paused"]
    assert events[2][1] == {"reason": "3 occurrences failed in a row"}


# Recovery


def climbed(rung: int, **fields: Any) -> list[tuple[str, dict[str, Any]]]:
    """What is told of an action's failure after so many before it."""
    running = claim_task(an_action(retry_count=rung, **fields), "last")
    return told(running, fail_task(running))


def test_guidance_is_told_with_the_retry() -> None:
    [(retry, _), (recovery, detail)] = climbed(0)
    assert (retry, recovery) == ("task:retry_scheduled", "task:recovery_action")
    assert detail == {
        "run_id": "last",
        "action": "retry_with_guidance",
        "guidance": "Read the whole error message and try another approach.",
    }


@pytest.mark.parametrize(("rung", "kind"), [(3, "task:escalated"), (4, "task:permanently_blocked")])
def test_what_is_blocked_is_told_by_its_rung(rung: int, kind: str) -> None:
    assert [told for told, _ in climbed(rung)] == ["task:recovery_action", kind]


def test_a_blocked_task_says_what_went_wrong() -> None:
    [_, (_, detail)] = climbed(3)
    assert (detail["run_id"], detail["error"], detail["run_status"]) == (
        *("last", "boom", "paused:approval"),
    )


def test_a_request_for_a_better_specification_is_told() -> None:
    running = claim_task(an_action(retry_count=2, payload={"spec": "SPEC.md"}))
    after = apply_decision(
        running, a_failure_report(running), at=NOW, diagnosis=a_diagnosis("code_error")
    )
    assert kinds(running, after) == ["task:recovery_action", "task:spec_refresh_requested"]
    [_, event] = events_between(running, after, at=NOW)
    assert event.detail["review_task_id"] == awaited_task_id(after)
    assert event.detail["reason"] == after.guidance[-1]


def test_a_plain_retry_is_no_recovery() -> None:
    assert kinds(*failing(a_task(), 2)) == ["task:retry_scheduled"]


def test_a_series_that_asks_nobody_is_told_as_failed() -> None:
    assert [kind for kind, _ in climbed(3, repeat="daily")] == ["task:failed"]


# Money


def test_a_run_stopped_by_its_budget_is_told_before_its_retry() -> None:
    running = claim_task(a_task(payload={"budget": "agents"}))
    after = fail_task(running, Failure.create("no money left", code="budget_exceeded"))
    assert kinds(running, after) == ["budget:exceeded", "task:retry_scheduled"]


def test_an_exceeded_budget_is_named_with_the_run_that_it_stopped() -> None:
    running = claim_task(a_task(payload={"budget": "agents"}))
    after = fail_task(running, Failure.create("no money left", code="budget_exceeded"))
    assert told(running, after)[0] == ("budget:exceeded", {"run_id": "run-1", "budget": "agents"})


# Put off


def test_a_parked_task_says_why_and_until_when() -> None:
    after = run_transitions.defer(a_task(), until=NOW + HOUR, wait=PROVIDER_DOWN)
    why = {"wait": "circuit_breaker", "reason": "provider x is down"}
    detail = {**why, "until": "2026-02-17T13:00:00.000Z"}
    assert told(a_task(), after) == [("task:parked", detail)]


def test_each_time_a_task_is_parked_it_is_told() -> None:
    once = run_transitions.defer(a_task(), until=NOW + HOUR, wait=PROVIDER_DOWN)
    assert kinds(once, run_transitions.defer(once, until=NOW + DAY, wait=PROVIDER_DOWN)) == [
        "task:parked"
    ]


@pytest.mark.parametrize("wish", ["run now", "edit"])
def test_what_a_person_does_to_a_parked_task_is_not_told_as_parking(wish: str) -> None:
    waiting = run_transitions.defer(a_task(), until=NOW + DAY, wait=PROVIDER_DOWN)
    after = {
        "run now": user_actions.run_now(waiting, at=NOW + HOUR),
        "edit": user_actions.edit(waiting, a_timing_edit(NOW + HOUR)),
    }[wish]
    assert kinds(waiting, after) == ["task:changed"]


def test_pausing_a_parked_task_is_told_as_such() -> None:
    waiting = run_transitions.defer(a_task(), until=NOW + DAY, wait=PROVIDER_DOWN)
    assert kinds(waiting, user_actions.pause(waiting)) == ["task:paused"]


def test_an_undelivered_task_is_told() -> None:
    after = run_transitions.requeue(a_task(), "nobody took it", "transient", at=NOW + HOUR)
    detail = {"error": "nobody took it", "due_at": "2026-02-17T13:00:00.000Z"}
    assert told(a_task(), after) == [("task:undelivered", detail)]


def test_each_time_a_task_is_undelivered_it_is_told() -> None:
    once = run_transitions.requeue(a_task(), "nobody took it", "transient", at=NOW + HOUR)
    again = run_transitions.requeue(once, "nobody took it", "transient", at=NOW + DAY)
    assert kinds(once, again) == ["task:undelivered"]


def test_an_undelivered_task_that_was_parked_is_told_as_undelivered() -> None:
    waiting = run_transitions.defer(a_task(), until=NOW + HOUR, wait=PROVIDER_DOWN)
    after = run_transitions.requeue(waiting, "nobody took it", "transient", at=NOW + DAY)
    assert kinds(waiting, after) == ["task:undelivered"]


def test_what_an_outage_skipped_is_told_after_the_run_that_made_up_for_it() -> None:
    running = claim_task(a_task(repeat="daily"), at=NOW + 2 * DAY)
    events = told(running, run_transitions.commit(running, None, at=NOW + 2 * DAY))
    assert [kind for kind, _ in events] == ["task:delivered", "task:skipped"]
    assert events[1][1] == {
        "count": 2,
        "skip_reason": "outage",
        "reason": "missed while nothing ran",
        "next_at": "2026-02-20T12:00:00.000Z",
    }


def test_the_event_of_skipped_occurrences_says_what_the_run_waited_for() -> None:
    deferred = run_transitions.defer(
        a_task(repeat="daily"), until=NOW + 2 * DAY, wait=PROVIDER_DOWN
    )
    running = claim_task(deferred, at=NOW + 2 * DAY)
    events = told(running, run_transitions.commit(running, None, at=NOW + 2 * DAY))
    [skipped] = [detail for kind, detail in events if kind == "task:skipped"]
    assert (skipped["skip_reason"], skipped["reason"]) == (
        *("deferred", "missed while it waited: provider x is down"),
    )


# What people do


def test_a_cancelled_task_is_told_at_the_moment_it_was_cancelled() -> None:
    task = a_task()
    after = user_actions.cancel(task, at=NOW)
    assert (kinds(task, after), moment(task, after)) == (["task:cancelled"], NOW)


def test_a_change_is_never_told_as_if_it_came_before_the_task() -> None:
    """The stream rounds the time of a write down."""
    task = a_task(created_at=WRITTEN_AT + MINUTE)
    assert moment(task, user_actions.pause(task)) == WRITTEN_AT + MINUTE


def test_cancelling_after_a_failure_does_not_tell_the_failure_again() -> None:
    task = fail_repeatedly(a_task(), 1)
    assert kinds(task, user_actions.cancel(task, at=NOW)) == ["task:cancelled"]


@pytest.mark.parametrize(("paused", "kind"), [(False, "task:paused"), (True, "task:resumed")])
def test_pause_and_resume_are_told(paused: bool, kind: str) -> None:
    task = a_task(paused=paused)
    assert told(task, replace(task, paused=not paused).move_to(Status.PENDING)) == [(kind, {})]


def test_a_resumed_series_tells_what_it_skipped() -> None:
    task = a_task(paused=True, repeat="daily")
    resumed = user_actions.resume(task, at=NOW + HOUR)
    assert kinds(task, resumed) == ["task:resumed", "task:changed", "task:skipped"]


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
def test_an_edit_names_the_fields_it_changed(field: str, edit: TaskEdit) -> None:
    task = a_task()
    [(kind, detail)] = told(task, user_actions.edit(task, edit))
    assert (kind, detail["fields"]) == ("task:changed", [field])


def test_an_edit_that_changes_nothing_is_not_told() -> None:
    assert told(a_task(), user_actions.edit(a_task(), TaskEdit(description="stretch"))) == []


@pytest.mark.parametrize("status", ["blocked", "failed"])
def test_a_task_that_goes_on_says_from_where(status: str) -> None:
    task = a_task(status=Status(status))
    detail = {"from": status, "due_at": "2026-02-17T13:00:00.000Z"}
    assert told(task, user_actions.retry(task, at=NOW + HOUR)) == [("task:unblocked", detail)]


def test_a_retry_that_a_person_brings_forward_is_a_change() -> None:
    task = fail_repeatedly(a_task(), 1)
    assert kinds(task, user_actions.retry(task, at=NOW)) == ["task:changed"]


# Runs to keep


def test_a_run_in_course_is_not_kept_yet() -> None:
    assert ended_run(a_task(), claim_task(a_task())) is None


def test_a_run_is_kept_by_the_write_that_ended_it() -> None:
    before, after = failing(a_task(), 1)
    assert ended_run(before, after) == after.run


def test_a_run_is_not_kept_again_by_later_writes() -> None:
    task = fail_repeatedly(a_task(), 1)
    read_again = replace(
        user_actions.pause(task), run=replace(run_of(task))
    )  # from the stream's image
    assert ended_run(task, read_again) is None
