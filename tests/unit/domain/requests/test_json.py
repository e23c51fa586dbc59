"""Tasks, runs, subjects and events as API JSON, and runs as stored JSON."""

from __future__ import annotations

import json

import pytest
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.subject import SubjectStatus
from duecourse.domain.lifecycle import run_transitions
from duecourse.domain.requests.json import event_to_json, run_to_json, subject_to_json, task_to_json
from duecourse.domain.requests.stored_run import run_from_stored, run_to_stored
from duecourse.domain.tasks.event import Event, EventType
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.run_diagnosis import Guess, RunDiagnosis
from duecourse.domain.tasks.task import ReviewLink
from duecourse.domain.tasks.wait import Wait, WaitReason

from tests.support.builders.failures import a_subject, crash_task, fail_repeatedly, fail_task
from tests.support.builders.moments import HOUR, NOW
from tests.support.builders.runs import LEASE, a_failed_run, a_run, run_of
from tests.support.builders.tasks import ID, PROVIDER_DOWN, a_task, an_action, claim_task

RUNS = {
    "new": a_run(),
    "in flight": run_of(claim_task(a_task())),
    "committed": run_of(run_transitions.commit(claim_task(a_task()), {"ts": [1, None]}, at=NOW)),
    "with an empty result": run_of(run_transitions.commit(claim_task(a_task()), "", at=NOW)),
    "failed": run_of(fail_task(claim_task(a_task()))),
    "given up": run_of(fail_repeatedly(a_task(), 3)),
    "crashed": run_of(crash_task(claim_task(a_task()), at=NOW + LEASE)),
    "a retry": run_of(claim_task(fail_repeatedly(a_task(), 1), "run-2")),
    "over budget": run_of(
        fail_task(claim_task(a_task()), Failure.create("no money", code="budget_exceeded"))
    ),
    "with guidance": run_of(
        fail_task(claim_task(an_action()), Failure.create("x", type="T", status=500))
    ),
    "escalated": run_of(fail_task(claim_task(an_action(retry_count=3)))),
    "deferred": a_run(waited_for=Wait(WaitReason.BUDGET, NOW, {"budget": "daily"})),
    "prepared": a_run(prepare_result={"draft": "x"}, error="", category=""),
}
TASK_FIELDS = """id short_id type channel sender_id reply_target description due_at nominal_at
timezone repeat status paused created_at created_by delivered_at retry_count max_retries last_error
last_error_category last_error_kind last_error_clears_by next_retry_at recovery_action guidance
policy subject payload snooze_of review_of verify wait wait_until wait_detail wait_text run_id
version"""
RUN_FIELDS = """id task_id attempt retry_of reason phase status prepare_result mutation error
category kind clears_by likely handler_version started_at ended_at"""


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_stored_run_round_trips(run: Run) -> None:
    assert run_from_stored(json.loads(json.dumps(run_to_stored(run)))) == run


def test_null_fields_are_not_stored() -> None:
    assert None not in run_to_stored(a_run()).values()


def test_an_idempotency_key_equal_to_the_run_id_is_not_stored() -> None:
    assert "key" not in run_to_stored(run_of(claim_task(a_task())))


def test_a_task_has_all_fields_of_the_contract() -> None:
    assert list(task_to_json(a_task())) == TASK_FIELDS.split()


def test_a_task_contains_only_the_ids_of_its_links() -> None:
    data = task_to_json(a_task(snooze_of=ID, review=ReviewLink("other", 3, "a page of words")))
    assert (data["snooze_of"], data["review_of"], data["payload"]) == (ID, "other", {})


def test_a_task_contains_the_text_of_its_wait() -> None:
    task = run_transitions.defer(a_task(), until=NOW + HOUR, wait=PROVIDER_DOWN)
    assert task_to_json(task)["wait_text"] == "provider x is down"


def test_a_stored_run_contains_its_diagnosis() -> None:
    run = run_of(fail_task(claim_task(a_task()), Failure.create("x", code="function_timeout")))
    assert run_to_stored(run)["diagnosis"]["pattern"] == "function-timeout"


def test_a_run_without_a_diagnosis_stores_none() -> None:
    assert "diagnosis" not in run_to_stored(a_run())


def test_times_are_in_utc_with_milliseconds() -> None:
    assert task_to_json(a_task(due_at=NOW))["due_at"] == "2026-02-17T12:00:00.000Z"


def test_a_missing_time_is_null() -> None:
    assert task_to_json(a_task())["delivered_at"] is None


def test_a_task_contains_the_id_of_its_latest_run() -> None:
    assert task_to_json(claim_task(a_task(), "run-7"))["run_id"] == "run-7"


def test_a_task_is_plain_json() -> None:
    task = fail_repeatedly(a_task(payload={"a": [1]}, guidance=("look here",)), 1)
    assert json.loads(json.dumps(task_to_json(task))) == task_to_json(task)


@pytest.mark.parametrize("run", RUNS.values(), ids=RUNS)
def test_a_run_has_all_fields_of_the_contract(run: Run) -> None:
    assert set(run_to_json(ID, run)) >= set(RUN_FIELDS.split())


@pytest.mark.parametrize(
    ("name", "mutation"),
    [
        ("new", {"status": None, "result": None, "key": "run-1"}),
        ("committed", {"status": "applied", "result": {"ts": [1, None]}, "key": "run-1"}),
        ("crashed", {"status": "indeterminate", "result": None, "key": "run-1"}),
        ("a retry", {"status": "in_flight", "result": None, "key": "run-1"}),
    ],
)
def test_a_run_contains_its_mutation(name: str, mutation: dict[str, object]) -> None:
    assert run_to_json(ID, RUNS[name])["mutation"] == mutation


def test_a_subject_without_attempts_has_no_status() -> None:
    assert subject_to_json(a_subject()) == {
        "id": "story-1",
        "failure_count": 0,
        "status": None,
        "last_error_category": None,
        "last_error_kind": None,
        "last_error_clears_by": None,
        "last_error_message": None,
        "last_attempt_at": None,
        "cooldown_until": None,
    }


def test_a_failed_subject_contains_every_field() -> None:
    subject = a_subject().count_failure(limit=1)
    subject = subject.record_attempt(
        "rate_limit", "slow down", kind=Kind.RATE_LIMIT, at=NOW, cooldown_until=NOW + HOUR
    )
    assert subject_to_json(subject) == {
        "id": "story-1",
        "failure_count": 1,
        "status": str(SubjectStatus.PERMANENT_FAILURE),
        "last_error_category": "rate_limit",
        "last_error_kind": "rate_limit",
        "last_error_clears_by": "waiting",
        "last_error_message": "slow down",
        "last_attempt_at": "2026-02-17T12:00:00.000Z",
        "cooldown_until": "2026-02-17T13:00:00.000Z",
    }


def test_an_event_contains_every_field() -> None:
    event = Event(EventType.TASK_PAUSED, ID, NOW + HOUR, {"reason": "x"})
    assert event_to_json(event) == {
        "type": "task:paused",
        "task_id": ID,
        "at": "2026-02-17T13:00:00.000Z",
        "detail": {"reason": "x"},
    }


def test_large_results_are_omitted_unless_requested_in_full() -> None:
    run = run_of(run_transitions.commit(claim_task(a_task()), {"text": "x" * 20_000}, at=NOW))
    assert run_to_json(ID, run)["mutation"]["result"] == {"text": "x" * 20_000}
    result = run_to_json(ID, run, in_full=False)["mutation"]["result"]
    assert result == {"left_out": "20,012 bytes"}


def test_a_failed_run_shows_its_kind_what_clears_it_and_the_guess() -> None:
    guess = Guess("test_failure", Kind.ASSERTION)
    run = a_failed_run(diagnosis=RunDiagnosis(kind=Kind.AUTH, likely=guess))
    shown = run_to_json(ID, run)
    assert (shown["kind"], shown["clears_by"]) == ("auth", "person")
    assert shown["likely"] == {"category": "test_failure", "kind": "assertion"}


def test_a_run_without_a_failure_has_no_kind() -> None:
    shown = run_to_json(ID, a_run())
    assert (shown["kind"], shown["clears_by"], shown["likely"]) == (None, None, None)
