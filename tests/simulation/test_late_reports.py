"""A worker's own report wins over the sweeper's conclusion that its run crashed.

The report comes late because the failure function was down, or because the worker was still running
when its lease expired. All pauses are on the local clock.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from local.runtime.functions import InvocationError
from tests.simulation.handler_scenarios import (
    ACTION,
    ENRICH,
    LAMBDA,
    REMINDER,
    WEBHOOK,
    Harness,
    Progress,
    Scenario,
    outcomes_of,
    running_stack_with_lambda,
    start_scenario,
)
from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient

REFUSAL = "down for maintenance"
NO_ANSWER_NEEDED = "No answer is needed any more: the worker reported late."
PAUSE_SECONDS = 600  # longer than the lease, the grace period and the time to the next sweep
COMMITTED_RUN = ("committed", "applied")
UNTIL_SWEPT = "9m"
asking = pytest.mark.parametrize("scenario", [WEBHOOK, LAMBDA, ACTION], ids=lambda one: one.type)
# A refusal of these says that nothing happened.
refusable = pytest.mark.parametrize("scenario", [WEBHOOK, ACTION], ids=lambda one: one.type)


@pytest.fixture(scope="module")
def shared() -> Iterator[StackClient]:
    with running_stack_with_lambda() as client:
        yield client


def refuse_once(receiver: Receiver) -> None:
    receiver.answer(503, REFUSAL.encode())
    receiver.answer(200)


class HeldReports:
    """Keeps the workers' reports from the failure function until they are delivered.

    The messages count as processed, so the tests choose the moment and the order of delivery.
    """

    def __init__(self, client: StackClient) -> None:
        self._client = client
        self.events: list[dict[str, Any]] = []

    def invoke(self, function: str, event: Any) -> Any:
        is_failure = function.lower().startswith("failure")
        if not is_failure or self._is_crash(event):
            return self._invoke(function, event)
        self.events.append(event)
        return {"batchItemFailures": []}

    def _is_crash(self, event: dict[str, Any]) -> bool:
        origins = [json.loads(record["body"])["origin"] for record in event["Records"]]
        return origins == ["crash"]

    def deliver(self) -> None:
        for event in self.events:
            assert self._client.stack.invoke("failure", event) == {"batchItemFailures": []}

    @contextmanager
    def installed(self) -> Iterator[HeldReports]:
        functions = self._client.stack.functions
        self._invoke = functions.invoke
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(functions, "invoke", self.invoke)
            yield self


@contextmanager
def held_reports(client: StackClient) -> Iterator[HeldReports]:
    """Hold all reports inside this context. They can be delivered after it."""
    with HeldReports(client).installed() as held:
        yield held


def stop_failure_function(client: StackClient, patch: pytest.MonkeyPatch) -> None:
    functions = client.stack.functions
    invoke = functions.invoke

    def is_down(function: str, event: Any) -> Any:
        if function.lower().startswith("failure"):
            raise InvocationError("down")
        return invoke(function, event)

    patch.setattr(functions, "invoke", is_down)


def texts_of(harness: Harness, target: str, part: str) -> list[str]:
    return [sent["text"] for sent in harness.client.outbox(target) if part in sent["text"]]


def assert_consistent(harness: Harness) -> None:
    """The error log and the counters tell of exactly the runs that failed."""
    client = harness.client
    failed = [run for run in harness.runs if run["error"] is not None]
    errors = client.items(f"/tasks/{harness.task_id}/errors")
    assert [error["id"] for error in errors] == [run["id"] for run in failed]
    stats = client.call("GET", "/stats").body
    counted = {row["category"]: row["count"] for row in stats["errors_by_category"]}
    categories = [run["category"] for run in failed]
    assert counted == {category: categories.count(category) for category in categories}
    for category in counted:
        listed = client.items(f"/errors?category={category}")
        expected = {run["id"] for run in failed if run["category"] == category}
        assert {error["id"] for error in listed} == expected
    committed = sum(run["status"] == "committed" for run in harness.runs)
    assert stats["lateness"]["count"] == committed


# The failure function was down


@pytest.mark.parametrize("seconds", [240, 270, 530, 600])
@refusable
def test_a_report_after_an_outage_is_recorded_as_reported(
    shared: StackClient, scenario: Scenario, seconds: int
) -> None:
    """After some outages the sweeper's report comes first, after long ones the dead letter does."""
    with start_scenario(shared, scenario, behaves=refuse_once) as harness:
        with pytest.MonkeyPatch.context() as patch:
            shared.advance("5s")
            stop_failure_function(shared, patch)
            shared.advance(f"{seconds}s")
        shared.advance("15h")

        first = harness.runs[0]
        assert (first["status"], first["mutation"]["status"]) == ("paused:transient", "failed")
        assert "503" in first["error"]
        assert harness.effects == 2, "it was tried again without an answer of a person"
        assert harness.prompt_count == len(texts_of(harness, "ada", NO_ANSWER_NEEDED))


@refusable
def test_a_late_failure_settles_the_task_that_waits_for_an_answer(
    shared: StackClient, scenario: Scenario
) -> None:
    with start_scenario(shared, scenario, behaves=refuse_once) as harness:
        with held_reports(shared) as held:
            shared.advance(UNTIL_SWEPT)
            assert outcomes_of(harness.runs) == [("crashed", "indeterminate")]
            assert (harness.status, harness.prompt_count) == ("blocked", 1)
        held.deliver()
        held.deliver()

        run = harness.runs[0]
        assert (run["status"], run["mutation"]["status"]) == ("paused:transient", "failed")
        assert ("503" in run["error"], harness.task["last_error"]) == (True, run["error"])
        assert harness.task["retry_count"] == 1
        events = ["task:corrected", "task:unblocked", "task:retry_scheduled"]
        assert [one for one in harness.history if one in events] == events
        shared.advance("1s")
        for target in ("ada", "operators"):
            [text] = texts_of(harness, target, NO_ANSWER_NEEDED)
            assert "Next retry" in text
        shared.advance("15h")
        assert (harness.effects, harness.runs[1]["reason"]) == (2, "transient")
        assert_consistent(harness)


def test_a_late_report_of_an_unknown_effect_leaves_the_question(shared: StackClient) -> None:
    with start_scenario(shared, LAMBDA, behaves=refuse_once) as harness:
        with held_reports(shared) as held:
            shared.advance(UNTIL_SWEPT)
        held.deliver()
        shared.advance("1d")

        [run] = harness.runs
        assert (run["status"], run["mutation"]["status"]) == (
            *("paused:reconciliation", "indeterminate"),
        )
        assert ("lease" in run["error"], harness.status) == (False, "blocked")
        assert (harness.prompt_count, texts_of(harness, "ada", NO_ANSWER_NEEDED)) == (1, [])
        assert_consistent(harness)
        harness.resolve("applied")
        assert harness.status == "completed"


def test_a_late_failure_replaces_the_retry_of_a_crash(shared: StackClient) -> None:
    """A task that may be repeated was to be retried anyway; now by the category of its error."""
    with start_scenario(shared, ENRICH, behaves=refuse_once) as harness:
        with held_reports(shared) as held:
            shared.advance(UNTIL_SWEPT)
            assert (harness.status, harness.task["last_error_category"]) == ("pending", "unknown")
        held.deliver()

        task, [run] = harness.task, harness.runs
        assert (task["last_error_category"], task["retry_count"]) == ("network_timeout", 1)
        assert (run["status"], run["category"]) == ("paused:transient", "network_timeout")
        shared.advance("1s")
        assert_consistent(harness)
        subject = shared.call("GET", "/subjects/story-1").body
        assert (subject["failure_count"], subject["last_error_category"]) == (1, "network_timeout")


# A worker that outlived its lease


@contextmanager
def paused_before_commit(harness: Harness) -> Iterator[list[str]]:
    """Pause the worker before its last write. The list has the call once the worker resumes."""
    last = len(harness.scenario.calls)
    recorded: list[str] = []
    resumed: list[str] = []

    def pause(function: str, call: str) -> None:
        if function == "worker":
            recorded.append(call)
            if len(recorded) == last:
                time.sleep(PAUSE_SECONDS)
                resumed.append(call)

    harness.client.stack.calls.before_call = pause
    yield resumed
    harness.client.stack.calls.before_call = None


@asking
def test_a_worker_that_outlived_its_lease_completes_its_task(
    shared: StackClient, scenario: Scenario
) -> None:
    with start_scenario(shared, scenario) as harness, paused_before_commit(harness) as resumed:
        shared.advance(UNTIL_SWEPT)
        assert (resumed, harness.status, harness.prompt_count) == ([], "blocked", 1)
        shared.advance("3m")

        assert (len(resumed), harness.status, harness.effects) == (1, "completed", 1)
        [run] = harness.runs
        assert ((run["status"], run["mutation"]["status"]), run["error"]) == (COMMITTED_RUN, None)
        assert run["mutation"]["result"] is not None
        assert harness.task["last_error"] is None
        assert harness.history[-2:] == ["task:corrected", "task:completed"]
        assert_consistent(harness)
        for target in ("ada", "operators"):
            assert len(texts_of(harness, target, NO_ANSWER_NEEDED)) == 1
        refused = shared.call("POST", f"/tasks/{harness.task_id}/resolve", {"outcome": "skip"})
        assert refused.status == 409
        shared.advance("1d")
        assert (harness.status, harness.effects, len(harness.runs)) == ("completed", 1, 1)


def test_a_late_success_before_the_retry_makes_it_unnecessary(shared: StackClient) -> None:
    with start_scenario(shared, ENRICH) as harness, paused_before_commit(harness) as resumed:
        shared.advance("12m")

        assert (len(resumed), harness.status, harness.effects) == (1, "completed", 1)
        assert outcomes_of(harness.runs) == [COMMITTED_RUN]
        assert_consistent(harness)
        assert shared.call("GET", "/subjects/story-1").body["status"] == "success"


def test_a_retry_that_succeeded_stands(shared: StackClient) -> None:
    """A reminder is repeated after two minutes. The late report only corrects the first run."""
    with start_scenario(shared, REMINDER) as harness, paused_before_commit(harness) as resumed:
        shared.advance(UNTIL_SWEPT)
        assert (resumed, harness.status, harness.effects) == ([], "delivered", 2)
        before = harness.task
        shared.advance("3m")

        first, second = harness.runs
        assert harness.task == before
        assert (first["status"], first["mutation"]["status"]) == ("crashed", "applied")
        assert "the side effect happened" in first["error"]
        assert (second["status"], second["retry_of"]) == ("committed", first["id"])
        assert harness.history.count("task:corrected") == 1
        assert_consistent(harness)


# What happened since stands


def make_unknown(harness: Harness, held: HeldReports) -> None:
    harness.client.advance(UNTIL_SWEPT)
    assert (harness.status, len(held.events)) == ("blocked", 1)


@pytest.mark.parametrize(
    ("outcome", "status", "run_outcome"),
    [
        ("applied", "completed", ("crashed", "applied")),
        ("skip", "cancelled", ("cancelled", "indeterminate")),
    ],
)
def test_an_answer_of_a_person_stands(
    shared: StackClient, outcome: str, status: str, run_outcome: Any
) -> None:
    with start_scenario(shared, WEBHOOK, behaves=refuse_once) as harness:
        with held_reports(shared) as held:
            make_unknown(harness, held)
            harness.resolve(outcome)
        told = len(harness.texts)
        held.deliver()
        held.deliver()
        shared.advance("1d")

        assert (harness.status, harness.effects) == (status, 1)
        assert outcomes_of(harness.runs) == [run_outcome]
        assert "503" in harness.runs[0]["error"]
        assert harness.history.count("task:corrected") == 1
        assert len(harness.texts) == told


def test_a_retry_that_a_person_asked_for_stands(shared: StackClient) -> None:
    with start_scenario(shared, WEBHOOK, behaves=refuse_once) as harness:
        with held_reports(shared) as held:
            make_unknown(harness, held)
        harness.resolve("not_applied")
        shared.advance("1m")
        assert harness.status == "completed"
        held.deliver()
        shared.advance("1s")

        first, second = harness.runs
        assert (first["status"], first["mutation"]["status"]) == ("crashed", "failed")
        assert "503" in first["error"]
        assert (second["status"], harness.effects) == ("committed", 2)
        assert_consistent(harness)


def test_a_newer_run_that_is_active_stands(shared: StackClient) -> None:
    with start_scenario(shared, WEBHOOK, behaves=refuse_once) as harness:
        with held_reports(shared) as held:
            make_unknown(harness, held)
        with paused_before_commit_of_retry(harness):
            harness.resolve("not_applied")
            shared.advance("10s")
            assert harness.status == "in_progress"
            held.deliver()
            assert harness.status == "in_progress"
            shared.advance("1m")

        assert (harness.status, harness.effects) == ("completed", 2)
        assert "503" in harness.runs[0]["error"]
        assert harness.runs[1]["status"] == "committed"


@contextmanager
def paused_before_commit_of_retry(harness: Harness) -> Iterator[None]:
    recorded: list[str] = []

    def pause(function: str, call: str) -> None:
        if function == "worker":
            recorded.append(call)
            if call == "http.post":
                time.sleep(30)

    harness.client.stack.calls.before_call = pause
    yield
    harness.client.stack.calls.before_call = None


def test_a_cancelled_task_stays_cancelled(shared: StackClient) -> None:
    with start_scenario(shared, WEBHOOK, behaves=refuse_once) as harness:
        with held_reports(shared) as held:
            make_unknown(harness, held)
            assert shared.call("POST", f"/tasks/{harness.task_id}/cancel").status == 200
        held.deliver()
        shared.advance("1d")

        [run] = harness.runs
        assert (harness.status, run["status"], run["mutation"]["status"]) == (
            *("cancelled", "crashed", "failed"),
        )
        assert "503" in run["error"]
        assert harness.history.count("task:cancelled") == 1


def test_an_edited_task_is_settled_with_its_edits(shared: StackClient) -> None:
    with start_scenario(shared, ENRICH, behaves=refuse_once) as harness:
        with held_reports(shared) as held:
            shared.advance(UNTIL_SWEPT)
            change = {"description": "another question"}
            assert shared.call("PATCH", f"/tasks/{harness.task_id}", change).status == 200
        held.deliver()

        task = harness.task
        assert (task["description"], task["last_error_category"]) == (
            *("another question", "network_timeout"),
        )


def test_a_time_that_a_person_chose_stands(shared: StackClient) -> None:
    with start_scenario(shared, ENRICH, behaves=refuse_once) as harness:
        with held_reports(shared) as held:
            shared.advance(UNTIL_SWEPT)
            moved = shared.call("PATCH", f"/tasks/{harness.task_id}", {"in": "3h"})
            assert moved.status == 200
        held.deliver()

        assert harness.task["due_at"] == moved.body["due_at"]
        assert "503" in harness.runs[0]["error"]


# Series


def test_a_late_failure_of_a_series_is_retried_before_its_next_occurrence(
    shared: StackClient,
) -> None:
    with start_scenario(shared, WEBHOOK, behaves=refuse_once) as harness:
        fields = {"type": "webhook", "repeat": "daily", **WEBHOOK.fields(harness.receiver)}
        shared.call("POST", f"/tasks/{harness.task_id}/cancel")
        harness.task_id = str(shared.create(**{"in": "10s"}, **fields)["id"])
        with held_reports(shared) as held:
            shared.advance(UNTIL_SWEPT)
            series = harness.task
            assert outcomes_of(harness.runs) == [("crashed", "indeterminate")]
        held.deliver()
        shared.advance("5m")

        assert (harness.effects, harness.task["due_at"]) == (2, series["due_at"])
        first, second = harness.runs
        assert ("503" in first["error"], first["status"]) == (True, "paused:transient")
        assert (second["status"], second["retry_of"]) == ("committed", first["id"])
        assert len(texts_of(harness, "ada", NO_ANSWER_NEEDED)) == 1


# Crashes


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("call", ["dynamodb.GetItem", "dynamodb.PutItem", "sqs.SendMessageBatch"])
def test_a_crash_while_correcting_corrects_once(shared: StackClient, call: str, when: str) -> None:
    with start_scenario(shared, WEBHOOK, behaves=refuse_once) as harness:
        with held_reports(shared) as held:
            make_unknown(harness, held)
        shared.add_fault(function="failure", call=call, when=when)
        for event in held.events * 2:
            try:
                shared.stack.invoke("failure", event)
            except InvocationError:
                continue
        shared.advance("1d")

        assert (harness.status, harness.effects) == ("completed", 2)
        assert harness.history.count("task:corrected") == 1
        assert harness.task["retry_count"] == 1
        assert_consistent(harness)


def test_the_calls_of_every_scenario_end_with_its_commit() -> None:
    for scenario in (REMINDER, WEBHOOK, LAMBDA, ACTION, ENRICH):
        assert Progress.COMMITTED in scenario.steps[-1][1]
