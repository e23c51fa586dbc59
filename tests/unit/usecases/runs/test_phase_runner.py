"""The phase runner: what it stores in each phase, and where a retry resumes after a failure."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.dispatch.lanes import Lane
from duecourse.domain.errors import IndeterminateError, ResultTooLargeError, StaleTaskError
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.lifecycle.lease import REPORT_GRACE_PERIOD, lease_expired_report
from duecourse.domain.lifecycle.resolve_indeterminate import Resolution, resolve_indeterminate
from duecourse.domain.lifecycle.user_actions import retry
from duecourse.domain.origin import Effect, Origin
from duecourse.domain.tasks.handler import (
    Applied,
    Handler,
    NotApplied,
    ReconcileResult,
    RunContext,
    Unknown,
)
from duecourse.domain.tasks.run import MutationStatus, Phase, Reason, Run, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.handlers.action import ActionHandler
from duecourse.ports.integrations import ProviderReply, ProviderRequest
from duecourse.usecases.runs.approve_reject import ApprovalDeps, approve_task
from duecourse.usecases.runs.execute_task import (
    ExecutionResult,
    RunOutcome,
)
from duecourse.usecases.runs.phase_runner import MAX_RESULT_SIZE

from tests.support.builders.moments import DAY, HOUR, NOW
from tests.support.builders.runs import LEASE, run_of
from tests.support.builders.tasks import ID, a_task
from tests.support.fakes.limits import MemoryBudgets
from tests.support.fakes.tasks import MemoryStore, MemorySubjects
from tests.support.worker_harness import WorkerHarness

PREPARED, RESULT = {"lamp": 7}, {"lit": True}
QUOTES = 2  # a text has them around it as JSON


class ScriptedHandler(Handler):
    """Returns `results` or fails as `faults` say per phase, and records each call's context."""

    def __init__(self, **faults: Any) -> None:
        self.calls: list[str] = []
        self.contexts: list[RunContext] = []
        self.faults = faults
        self.results: dict[str, Any] = {"prepare": PREPARED, "mutate": RESULT}

    def mutate(self, work: RunContext) -> Any:
        return self.call_phase("mutate", work)

    def call_phase(self, phase: str, work: RunContext) -> Any:
        self.calls.append(phase)
        self.contexts.append(replace(work))
        fault = self.faults.get(phase)
        if isinstance(fault, Exception):
            raise fault
        if callable(fault):
            fault()
        return self.results.get(phase)


class PreparingHandler(ScriptedHandler):
    def prepare(self, work: RunContext) -> Any:
        return self.call_phase("prepare", work)


class EmittingHandler(ScriptedHandler):
    def emit(self, work: RunContext) -> None:
        self.call_phase("emit", work)


class FullHandler(PreparingHandler, EmittingHandler):
    pass


class ReconcilingHandler(FullHandler):
    def reconcile(self, work: RunContext) -> ReconcileResult:
        result: ReconcileResult = self.call_phase("reconcile", work)
        return result


class ReleasingHandler(FullHandler):
    def release(self, work: RunContext) -> None:
        self.call_phase("let_go", work)


class ReconcileOnlyHandler(ScriptedHandler):
    """Has neither `prepare` nor `emit`, but has `reconcile`."""

    def reconcile(self, work: RunContext) -> ReconcileResult:
        result: ReconcileResult = self.call_phase("reconcile", work)
        return result


class UncalledProvider:
    """A provider that must not be called."""

    payload_keys = ()

    def call(self, request: ProviderRequest) -> ProviderReply:
        raise AssertionError(request)

    def estimate_max_cost(self, request: ProviderRequest) -> int | None:
        """Return None: the cost is unknown."""

    def check(self, payload: Any) -> None:
        """Accept every payload."""


class RecordingStore(MemoryStore):
    """Records every save; `errors_by_save` maps the number of a save to the error it raises."""

    def __init__(self, *tasks: Task, subjects: MemorySubjects | None = None) -> None:
        super().__init__(*tasks, subjects=subjects)
        self.saved_tasks: list[Task] = []
        self.errors_by_save: dict[int, Exception] = {}
        self.saves = 0

    def save(self, before: Task, after: Task, **also: Any) -> None:
        self.saves += 1
        if self.saves in self.errors_by_save:
            raise self.errors_by_save[self.saves]
        super().save(before, after, **also)
        self.saved_tasks.append(after)

    @property
    def phases(self) -> list[tuple[Phase, MutationStatus | None]]:
        return [(run_of(task).phase, run_of(task).mutation.status) for task in self.saved_tasks]


class PhaseHarness(WorkerHarness):
    """A worker with one scripted handler, and a store that records every save."""

    store: RecordingStore

    def __init__(self, handler: ScriptedHandler, **fields: Any) -> None:
        super().__init__(
            RecordingStore(a_task(**{"type": "lights", **fields})), {"lights": handler}
        )
        self.handler = handler

    @property
    def calls(self) -> list[str]:
        return self.handler.calls

    def run(self, *, due_at: datetime | None = None, lane: Lane | None = None) -> ExecutionResult:
        """Run the task at its due time."""
        self.clock.at = max(self.clock.at, self.task.due_at)
        return super().run(due_at=due_at, lane=lane)

    def fail(self) -> FailureReport:
        """Run the task, expect a failure and record it."""
        assert self.run().outcome is RunOutcome.FAILED
        self.record()
        return self.report

    def crash(self) -> None:
        """Kill the worker during a run, and record the expired lease as the sweeper does."""
        with pytest.raises(_Killed):
            self.run()
        self.clock.at += LEASE + REPORT_GRACE_PERIOD
        self.record(lease_expired_report(self.task))

    def apply_action(self, user_action: Callable[..., Task]) -> None:
        task = self.task
        self.store.save(task, user_action(task, at=self.clock.at))

    def clear_faults(self, **results: Any) -> None:
        """Remove all faults and forget the recorded calls and saves."""
        self.handler.faults.clear()
        self.handler.results |= results
        self.calls.clear()
        self.store.saved_tasks.clear()
        self.store.errors_by_save.clear()


class _Killed(BaseException):
    pass


def kill_worker() -> None:
    raise _Killed


# What is stored in each phase


def test_a_handler_with_only_mutate_is_saved_at_claim_and_commit() -> None:
    harness = PhaseHarness(ScriptedHandler())
    assert harness.run().outcome is RunOutcome.DELIVERED
    assert harness.store.phases == [
        (Phase.MUTATING, MutationStatus.IN_FLIGHT),
        (Phase.COMMITTED, MutationStatus.APPLIED),
    ]


def test_the_prepared_value_is_stored_before_the_mutation() -> None:
    harness = PhaseHarness(PreparingHandler())
    harness.run()
    assert harness.store.phases == [
        (Phase.PREPARING, None),
        (Phase.MUTATING, MutationStatus.IN_FLIGHT),
        (Phase.COMMITTED, MutationStatus.APPLIED),
    ]
    in_flight = run_of(harness.store.saved_tasks[1])
    assert (in_flight.prepare_result, in_flight.mutation.idempotency_key) == (PREPARED, "run-1")


def test_the_mutation_starts_after_it_is_stored_as_in_flight() -> None:
    harness = PhaseHarness(PreparingHandler())
    statuses: list[MutationStatus | None] = []
    harness.handler.faults["mutate"] = lambda: statuses.append(harness.last_run.mutation.status)
    harness.run()
    assert statuses == [MutationStatus.IN_FLIGHT]


def test_the_result_is_stored_before_emit() -> None:
    harness = PhaseHarness(EmittingHandler())
    statuses: list[Run] = []
    harness.handler.faults["emit"] = lambda: statuses.append(harness.last_run)
    harness.run()
    assert harness.store.phases == [
        (Phase.MUTATING, MutationStatus.IN_FLIGHT),
        (Phase.EMITTING, MutationStatus.APPLIED),
        (Phase.COMMITTED, MutationStatus.APPLIED),
    ]
    assert statuses[0].mutation.result == RESULT


def test_a_handler_with_every_phase_is_saved_four_times() -> None:
    harness = PhaseHarness(FullHandler())
    harness.run()
    assert [phase for phase, _ in harness.store.phases] == [
        *(Phase.PREPARING, Phase.MUTATING, Phase.EMITTING, Phase.COMMITTED),
    ]
    assert harness.calls == ["prepare", "mutate", "emit"]


def test_each_phase_receives_the_results_of_the_previous_phases() -> None:
    harness = PhaseHarness(FullHandler())
    harness.run()
    contexts = [(work.prepared, work.result) for work in harness.handler.contexts]
    assert contexts == [(None, None), (PREPARED, None), (PREPARED, RESULT)]


def test_a_handler_receives_its_results_as_decoded_json() -> None:
    harness = PhaseHarness(FullHandler())
    harness.handler.results |= {"prepare": {1: (2, 3)}, "mutate": ("a",)}
    harness.run()
    assert (harness.handler.contexts[-1].prepared, harness.handler.contexts[-1].result) == (
        *({"1": [2, 3]}, ["a"]),
    )


def test_the_deadline_of_a_run_is_the_end_of_its_lease() -> None:
    harness = PhaseHarness(ScriptedHandler())
    harness.run()
    assert harness.handler.contexts[0].deadline == NOW + timedelta(seconds=45) < NOW + LEASE


def test_a_committed_run_keeps_its_prepared_value_and_result() -> None:
    harness = PhaseHarness(FullHandler())
    harness.run()
    run = harness.last_run
    assert (run.status, run.prepare_result, run.mutation.result) == (
        *(RunStatus.COMMITTED, PREPARED, RESULT),
    )
    assert (harness.task.status, run.ended_at) == (Status.COMPLETED, NOW)


# A retry before the effect


@pytest.mark.parametrize(
    ("phase", "expected_phase"), [("prepare", "preparing"), ("mutate", "mutating")]
)
def test_a_failure_before_the_mutation_is_retried_from_prepare(
    phase: str, expected_phase: str
) -> None:
    harness = PhaseHarness(FullHandler(**{phase: ValueError("no bulb")}))
    report = harness.fail()
    assert (report.effect, report.origin, report.failure.phase) == (
        *(Effect.NONE, Origin.WORK, expected_phase),
    )
    harness.clear_faults(prepare={"lamp": 8})
    harness.run()

    assert harness.calls == ["prepare", "mutate", "emit"]
    assert harness.store.phases[0] == (Phase.PREPARING, None)
    assert run_of(harness.store.saved_tasks[0]).prepare_result is None
    assert harness.last_run.prepare_result == {"lamp": 8}


def test_a_failed_mutation_is_stored_as_failed() -> None:
    harness = PhaseHarness(FullHandler(mutate=ValueError("no bulb")))
    harness.fail()
    run = harness.last_run
    assert (run.phase, run.mutation.status) == (Phase.MUTATING, MutationStatus.FAILED)
    assert run.status is RunStatus.PAUSED_TRANSIENT


def test_a_run_that_failed_in_prepare_has_no_mutation_status() -> None:
    harness = PhaseHarness(FullHandler(prepare=ValueError("no bulb")))
    harness.fail()
    assert (harness.last_run.phase, harness.last_run.mutation.status) == (Phase.PREPARING, None)


# A retry after the effect


def test_a_retry_after_the_mutation_runs_only_emit() -> None:
    harness = PhaseHarness(FullHandler(emit=ValueError("nobody listens")))
    report = harness.fail()
    assert (report.effect, report.failure.phase) == (Effect.APPLIED, "emitting")
    harness.clear_faults()
    assert harness.run().outcome is RunOutcome.DELIVERED

    assert harness.calls == ["emit"]
    resumed = run_of(harness.store.saved_tasks[0])
    assert (resumed.phase, resumed.prepare_result) == (Phase.EMITTING, PREPARED)
    assert (resumed.mutation.status, resumed.mutation.result) == (MutationStatus.APPLIED, RESULT)


def test_a_retry_after_the_mutation_receives_its_results() -> None:
    harness = PhaseHarness(FullHandler(emit=ValueError("nobody listens")))
    harness.fail()
    harness.clear_faults()
    harness.run()
    work = harness.handler.contexts[-1]
    assert (work.prepared, work.result, work.idempotency_key, work.attempt, work.run_id) == (
        *(PREPARED, RESULT, "run-1", 2, "run-2"),
    )


def test_a_retry_after_the_mutation_saves_nothing_between_claim_and_commit() -> None:
    harness = PhaseHarness(FullHandler(emit=ValueError("nobody listens")))
    harness.fail()
    harness.clear_faults()
    harness.run()
    assert [phase for phase, _ in harness.store.phases] == [Phase.EMITTING, Phase.COMMITTED]


def test_repeated_emit_failures_never_repeat_the_mutation() -> None:
    harness = PhaseHarness(FullHandler(emit=ValueError("nobody listens")), max_retries=4)
    for _ in range(4):
        harness.fail()
    assert harness.calls == ["prepare", "mutate", *(["emit"] * 4)]
    assert harness.task.status is Status.FAILED
    assert harness.last_run.mutation.result == RESULT


def test_a_user_retry_after_a_failed_emit_does_not_repeat_the_mutation() -> None:
    harness = PhaseHarness(FullHandler(emit=ValueError("nobody listens")), max_retries=1)
    harness.fail()
    harness.clear_faults()
    harness.apply_action(retry)
    harness.run()
    assert (harness.calls, harness.task.status) == (["emit"], Status.COMPLETED)
    assert harness.last_run.reason is Reason.USER_RETRY


def test_the_next_occurrence_does_not_reuse_the_mutation_of_a_failed_one() -> None:
    harness = PhaseHarness(
        FullHandler(emit=ValueError("nobody listens")), max_retries=1, repeat="daily"
    )
    harness.fail()
    harness.clear_faults()
    harness.run()
    assert harness.calls == ["prepare", "mutate", "emit"]
    assert (harness.last_run.retry_of, harness.last_run.mutation.idempotency_key) == (None, "run-2")


# The chain


def test_all_retries_of_an_occurrence_share_one_idempotency_key() -> None:
    harness = PhaseHarness(FullHandler(mutate=ValueError("no bulb")), max_retries=9)
    for _ in range(3):
        harness.fail()
    keys = {work.idempotency_key for work in harness.handler.contexts}
    assert keys == {"run-1"}
    assert [work.attempt for work in harness.handler.contexts] == [1, 1, 2, 2, 3, 3]


def test_the_next_occurrence_has_its_own_idempotency_key() -> None:
    harness = PhaseHarness(ScriptedHandler(), repeat="daily")
    harness.run()
    harness.run()
    assert [work.idempotency_key for work in harness.handler.contexts] == ["run-1", "run-2"]


def test_each_run_links_to_the_previous_run() -> None:
    harness = PhaseHarness(FullHandler(prepare=ValueError("no bulb")), max_retries=9)
    harness.fail()
    harness.fail()
    harness.clear_faults()
    harness.run()
    run = harness.last_run
    assert (run.id, run.retry_of, run.attempt, run.reason) == (
        *("run-3", "run-2", 3, Reason.TRANSIENT),
    )


def test_a_user_retry_after_repeated_crashes_has_the_reason_user_retry() -> None:
    harness = PhaseHarness(FullHandler(prepare=kill_worker), max_retries=2)
    harness.crash()
    harness.crash()
    assert harness.task.status is Status.FAILED
    harness.clear_faults()
    harness.apply_action(retry)
    harness.run()
    assert (harness.last_run.attempt, harness.last_run.reason) == (3, Reason.USER_RETRY)


# Results that cannot be kept


def test_results_up_to_the_size_limit_are_stored() -> None:
    harness = PhaseHarness(FullHandler())
    half = "x" * (MAX_RESULT_SIZE // 2 - QUOTES)
    harness.handler.results = {"prepare": half, "mutate": half}
    assert harness.run().outcome is RunOutcome.DELIVERED
    assert harness.last_run.mutation.result == half


@pytest.mark.parametrize(
    "prepared", ["x" * (MAX_RESULT_SIZE - QUOTES + 1), {1, 2}, float("nan"), b"x", object()]
)
def test_a_prepared_value_that_cannot_be_stored_is_a_logic_error_without_effect(
    prepared: Any,
) -> None:
    harness = PhaseHarness(FullHandler())
    harness.handler.results["prepare"] = prepared
    report = harness.fail()
    assert (report.origin, report.effect, harness.calls) == (Origin.LOGIC, Effect.NONE, ["prepare"])
    assert (harness.task.status, harness.task.recovery_action) == (Status.BLOCKED, "await_fix")
    assert harness.last_run.status is RunStatus.FAILED_LOGIC


@pytest.mark.parametrize(
    ("prepared", "result"),
    [
        (None, "x" * (MAX_RESULT_SIZE + 1)),
        ("x" * (MAX_RESULT_SIZE // 2), "x" * (MAX_RESULT_SIZE // 2)),
        (None, {1, 2}),
        (None, float("inf")),
    ],
)
def test_a_result_that_cannot_be_stored_is_a_logic_error_after_the_effect(
    prepared: Any, result: Any
) -> None:
    harness = PhaseHarness(FullHandler())
    harness.handler.results = {"prepare": prepared, "mutate": result}
    report = harness.fail()
    assert (report.origin, report.effect) == (Origin.LOGIC, Effect.APPLIED)
    assert (harness.calls, harness.task.status) == (["prepare", "mutate"], Status.BLOCKED)
    assert harness.last_run.is_applied


def test_a_circular_result_is_a_logic_error_after_the_effect() -> None:
    endless: list[Any] = []
    endless.append(endless)
    harness = PhaseHarness(ScriptedHandler())
    harness.handler.results["mutate"] = endless
    report = harness.fail()
    assert (report.failure.code, report.effect) == ("result_not_json", Effect.APPLIED)


def test_the_error_for_a_large_result_has_its_size() -> None:
    harness = PhaseHarness(ScriptedHandler())
    harness.handler.results["mutate"] = "x" * MAX_RESULT_SIZE
    report = harness.fail()
    assert report.failure.code == "result_too_large"
    room = f"{MAX_RESULT_SIZE - len('null'):,}"  # nothing was prepared, and that is written too
    assert report.failure.message == (
        f"the result must have at most {room} bytes as JSON, not 307,202"
    )


def test_the_size_of_the_task_reduces_the_room_for_results() -> None:
    """A DynamoDB item has a limit of 400 KB."""
    half = "x" * (MAX_RESULT_SIZE // 2 - QUOTES)
    harness = PhaseHarness(FullHandler(), payload={"text": "x" * 60_000})
    harness.handler.results = {"prepare": half, "mutate": half}
    assert harness.fail().failure.code == "result_too_large"


def test_multibyte_characters_count_as_they_are_stored() -> None:
    harness = PhaseHarness(ScriptedHandler())
    harness.handler.results["mutate"] = "ü" * (MAX_RESULT_SIZE // 2)
    assert harness.fail().failure.code == "result_too_large"


# Errors, and what they leave behind


class OwnTypeError(TypeError):
    """An error of a remote system, in a built-in exception class."""

    type = "RemoteError"


class OwnOriginError(Exception):
    origin = Origin.LOGIC


BUGS = [TypeError, KeyError, IndexError, AttributeError, ZeroDivisionError, AssertionError]
BUGS += [NameError, NotImplementedError, RecursionError, ImportError]


@pytest.mark.parametrize("bug", BUGS)
@pytest.mark.parametrize(
    ("phase", "effect"),
    [("prepare", Effect.NONE), ("mutate", Effect.UNKNOWN), ("emit", Effect.APPLIED)],
)
def test_a_logic_error_reports_the_effect_by_its_phase(
    phase: str, effect: Effect, bug: type[Exception]
) -> None:
    harness = PhaseHarness(FullHandler(**{phase: bug("oops")}))
    report = harness.fail()
    assert (report.origin, report.effect) == (Origin.LOGIC, effect)


def test_a_logic_error_awaits_a_fix_unless_its_effect_is_unknown() -> None:
    statuses = {}
    for phase in ("prepare", "mutate", "emit"):
        harness = PhaseHarness(FullHandler(**{phase: KeyError("oops")}))
        harness.fail()
        statuses[phase] = (
            harness.task.status,
            harness.task.recovery_action,
            harness.last_run.status,
        )
    assert statuses == {
        "prepare": (Status.BLOCKED, "await_fix", RunStatus.FAILED_LOGIC),
        "mutate": (Status.BLOCKED, "ask_person", RunStatus.PAUSED_RECONCILIATION),
        "emit": (Status.BLOCKED, "await_fix", RunStatus.FAILED_LOGIC),
    }


def test_a_logic_error_in_an_idempotent_mutation_awaits_a_fix() -> None:
    harness = PhaseHarness(FullHandler(mutate=KeyError("oops")), payload={"idempotent": True})
    harness.fail()
    assert harness.task.recovery_action == "await_fix"


def test_a_remote_error_is_not_a_logic_error() -> None:
    harness = PhaseHarness(FullHandler(mutate=OwnTypeError("they were typing")))
    report = harness.fail()
    assert (report.origin, report.effect) == (Origin.WORK, Effect.NONE)
    assert report.failure.type == "RemoteError"


def test_the_origin_of_an_error_is_used() -> None:
    report = PhaseHarness(FullHandler(prepare=OwnOriginError("mine"))).fail()
    assert report.origin is Origin.LOGIC


@pytest.mark.parametrize("nonsense", ["logic", 7, None, Effect.APPLIED])
def test_an_invalid_origin_is_ignored(nonsense: Any) -> None:
    error = ValueError("odd")
    error.origin = nonsense  # type: ignore[attr-defined]
    assert PhaseHarness(FullHandler(prepare=error)).fail().origin is Origin.WORK


@pytest.mark.parametrize("nonsense", ["applied", True, None])
def test_an_invalid_effect_is_ignored(nonsense: Any) -> None:
    error = ValueError("odd")
    error.effect = nonsense  # type: ignore[attr-defined]
    assert PhaseHarness(FullHandler(mutate=error)).fail().effect is Effect.NONE


@pytest.mark.parametrize("error", [TimeoutError("no answer"), IndeterminateError("no answer")])
def test_a_timeout_in_the_mutation_leaves_an_unknown_effect(error: Exception) -> None:
    harness = PhaseHarness(FullHandler(mutate=error))
    report = harness.fail()
    assert (report.origin, report.effect) == (Origin.WORK, Effect.UNKNOWN)
    assert (harness.task.status, harness.task.recovery_action) == (Status.BLOCKED, "ask_person")
    assert harness.last_run.is_indeterminate


@pytest.mark.parametrize("error", [TimeoutError("no answer"), IndeterminateError("no answer")])
def test_an_unknown_effect_of_an_idempotent_mutation_is_retried(error: Exception) -> None:
    harness = PhaseHarness(FullHandler(mutate=error), payload={"idempotent": True})
    harness.fail()
    assert harness.last_run.is_indeterminate
    harness.clear_faults()
    harness.run()
    assert (harness.calls, harness.task.status) == (["prepare", "mutate", "emit"], Status.COMPLETED)
    assert harness.store.phases[0] == (Phase.PREPARING, None), "there is nothing to find out"


@pytest.mark.parametrize("phase", ["prepare", "emit"])
def test_a_timeout_outside_the_mutation_leaves_no_unknown_effect(phase: str) -> None:
    harness = PhaseHarness(FullHandler(**{phase: TimeoutError("no answer")}))
    report = harness.fail()
    assert report.effect is (Effect.NONE if phase == "prepare" else Effect.APPLIED)
    assert harness.task.status is Status.PENDING


# A store that fails


def test_the_mutation_does_not_start_if_it_cannot_be_stored_as_in_flight() -> None:
    harness = PhaseHarness(FullHandler())
    harness.store.errors_by_save = {2: OSError("throttled")}
    report = harness.fail()
    assert (report.origin, report.effect, harness.calls) == (
        *(Origin.NOT_ATTEMPTED, Effect.NONE, ["prepare"]),
    )
    assert (harness.task.status, harness.task.retry_count) == (Status.PENDING, 0)
    assert report.failure.message == "the task was not attempted: OSError: throttled"


def test_a_failed_claim_leaves_the_task_unchanged() -> None:
    harness = PhaseHarness(FullHandler())
    harness.store.errors_by_save = {1: OSError("throttled")}
    with pytest.raises(OSError, match="throttled"):
        harness.run()
    assert (harness.calls, harness.failures, harness.task.version) == ([], [], 1)


def test_the_mutation_is_not_repeated_if_saving_its_result_fails() -> None:
    harness = PhaseHarness(FullHandler())
    harness.store.errors_by_save = {3: OSError("throttled")}
    report = harness.fail()
    assert (report.origin, report.effect, harness.calls) == (
        *(Origin.NOT_ATTEMPTED, Effect.APPLIED, ["prepare", "mutate"]),
    )
    harness.clear_faults()
    harness.run()
    assert (harness.calls, harness.task.status) == (["emit"], Status.COMPLETED)


@pytest.mark.parametrize(
    ("handler", "commit"), [(ScriptedHandler, 2), (PreparingHandler, 3), (FullHandler, 4)]
)
def test_after_a_failed_commit_a_retry_only_commits(
    handler: type[ScriptedHandler], commit: int
) -> None:
    harness = PhaseHarness(handler())
    harness.store.errors_by_save = {commit: OSError("throttled")}
    report = harness.fail()
    assert (report.failure.code, report.effect) == ("not_recorded", Effect.APPLIED)
    assert (harness.task.status, harness.task.retry_count) == (Status.PENDING, 0)
    assert harness.last_run.is_applied

    harness.clear_faults()
    assert harness.run().outcome is RunOutcome.DELIVERED
    assert set(harness.calls) <= {"emit"}
    assert (harness.task.status, harness.last_run.reason) == (Status.COMPLETED, Reason.TRANSIENT)


@pytest.mark.parametrize(("save", "calls"), [(1, 0), (2, 1), (3, 2), (4, 3)])
def test_a_worker_that_lost_its_lease_changes_nothing(save: int, calls: int) -> None:
    harness = PhaseHarness(FullHandler())
    claimed_by_other = replace(harness.task, status=Status.IN_PROGRESS, version=99)
    quiet: list[Callable[[], object]] = [lambda: None] * (save - 1)
    harness.store.concurrent_writes = [
        *quiet,
        lambda: harness.store.tasks.update({ID: claimed_by_other}),
    ]
    outcome = harness.run().outcome
    assert outcome is (RunOutcome.DUPLICATE if save == 1 else RunOutcome.REPORTED_LATE)
    assert (len(harness.calls), harness.task) == (calls, claimed_by_other)
    assert [(one.effect, one.is_finished, one.result) for one in harness.failures] == {
        1: [],
        2: [(Effect.NONE, False, None)],
        3: [(Effect.APPLIED, False, RESULT)],
        4: [(Effect.APPLIED, True, RESULT)],
    }[save]


@pytest.mark.parametrize(
    ("late", "calls"), [(LEASE, ["prepare"]), (LEASE - timedelta(milliseconds=1), None)]
)
def test_the_mutation_does_not_start_after_the_lease_expired(
    late: timedelta, calls: list[str] | None
) -> None:
    harness = PhaseHarness(FullHandler())

    def slow() -> None:
        harness.clock.at += late

    harness.handler.faults["prepare"] = slow
    result = harness.run()
    assert harness.calls == (calls or ["prepare", "mutate", "emit"])
    if calls:
        assert (harness.report.failure.code, harness.report.effect) == ("lease_lost", Effect.NONE)
        assert harness.report.origin is Origin.NOT_ATTEMPTED
    else:
        assert result.outcome is RunOutcome.DELIVERED


@pytest.mark.parametrize(
    "faults", [OSError("throttled"), StaleTaskError(ID)], ids=["throttled", "somebody took over"]
)
def test_release_is_called_if_the_mutation_cannot_be_stored_as_in_flight(
    faults: Exception,
) -> None:
    harness = PhaseHarness(ReleasingHandler())
    harness.store.errors_by_save = {2: faults}
    with suppress(StaleTaskError):
        harness.run()
    assert harness.calls == ["prepare", "let_go"]
    assert harness.handler.contexts[-1].prepared == PREPARED


def test_release_is_called_if_the_lease_expired_before_the_mutation() -> None:
    harness = PhaseHarness(ReleasingHandler())

    def slow() -> None:
        harness.clock.at += LEASE

    harness.handler.faults["prepare"] = slow
    assert harness.run().outcome is RunOutcome.FAILED
    assert harness.calls == ["prepare", "let_go"]


@pytest.mark.parametrize(
    "faults", [{}, {"mutate": ValueError("no bulb")}, {"prepare": ValueError("no bulb")}]
)
def test_release_is_not_called_otherwise(faults: dict[str, Any]) -> None:
    harness = PhaseHarness(ReleasingHandler(**faults))
    harness.run()
    assert "let_go" not in harness.calls


def test_the_budget_is_released_if_the_mutation_cannot_be_stored_as_in_flight() -> None:
    budgets = MemoryBudgets()
    harness = PhaseHarness(
        ScriptedHandler(), payload={"provider": "scripted", "budget": "agents", "max_cost": 0.25}
    )
    harness.handlers["lights"] = ActionHandler(
        {"scripted": UncalledProvider()}, budgets, harness.clock
    )
    harness.store.errors_by_save = {2: OSError("throttled")}
    assert harness.fail().origin is Origin.NOT_ATTEMPTED
    budget = budgets.get_today("agents", now=NOW)
    assert (budget.spent, budget.reserved, bool(budgets.days)) == (0, 0, True)


@pytest.mark.parametrize("save", [3, 4])
def test_a_result_that_can_be_neither_stored_nor_reported_raises(save: int) -> None:
    """Nothing is reported: the lease expires, and the run counts as lost."""
    harness = PhaseHarness(FullHandler())
    harness.handler.results["mutate"] = "x" * 150_001
    harness.store.errors_by_save = {save: OSError("throttled")}
    with pytest.raises(ResultTooLargeError):
        harness.run()
    assert (harness.failures, harness.task.status) == ([], Status.IN_PROGRESS)


def test_a_result_that_fits_a_message_is_reported() -> None:
    harness = PhaseHarness(FullHandler())
    harness.handler.results["mutate"] = "x" * (150_000 - QUOTES)
    harness.store.errors_by_save = {3: OSError("throttled")}
    assert harness.fail().result == harness.last_run.mutation.result == "x" * (150_000 - QUOTES)


def test_a_large_stored_result_does_not_prevent_a_report() -> None:
    harness = PhaseHarness(FullHandler(emit=ValueError("nobody listens")))
    harness.handler.results["mutate"] = "x" * 150_001
    assert (harness.fail().result, harness.last_run.mutation.result) == (None, "x" * 150_001)


# A handler that was taken away


def remove_handler(harness: PhaseHarness) -> None:
    harness.handlers.clear()
    harness.calls.clear()


def test_a_task_whose_handler_was_removed_fails() -> None:
    harness = PhaseHarness(FullHandler())
    remove_handler(harness)
    report = harness.fail()
    assert (report.failure.type, report.effect) == ("NotSetUp", Effect.NONE)
    assert harness.last_run.mutation.status is MutationStatus.FAILED


def test_a_task_whose_handler_was_removed_before_emit_fails() -> None:
    harness = PhaseHarness(FullHandler(emit=ValueError("nobody listens")))
    harness.fail()
    remove_handler(harness)
    report = harness.fail()
    assert (report.failure.type, report.effect, harness.calls) == ("NotSetUp", Effect.APPLIED, [])
    assert harness.task.status is not Status.COMPLETED

    harness.clear_faults()
    harness.handlers["lights"] = harness.handler
    harness.run()
    assert (harness.calls, harness.task.status) == (["emit"], Status.COMPLETED)


# A worker that died


@pytest.mark.parametrize(
    ("phase", "mutation", "next_run"),
    [
        ("prepare", None, ["prepare", "mutate", "emit"]),
        ("emit", MutationStatus.APPLIED, ["emit"]),
    ],
)
def test_a_run_that_crashed_outside_the_mutation_resumes_at_its_phase(
    phase: str, mutation: MutationStatus | None, next_run: list[str]
) -> None:
    harness = PhaseHarness(FullHandler(**{phase: kill_worker}))
    harness.crash()
    assert (harness.last_run.status, harness.last_run.mutation.status) == (
        RunStatus.CRASHED,
        mutation,
    )
    harness.clear_faults()
    harness.run()
    assert (harness.calls, harness.last_run.reason) == (next_run, Reason.CRASHED_RECOVERY)
    assert harness.last_run.mutation.result == RESULT


def test_a_run_that_crashed_during_the_mutation_waits_for_a_person() -> None:
    harness = PhaseHarness(FullHandler(mutate=kill_worker))
    harness.crash()
    run = harness.last_run
    assert (run.status, run.phase) == (RunStatus.CRASHED, Phase.MUTATING)
    assert (run.is_indeterminate, run.prepare_result) == (True, PREPARED)
    assert (harness.task.status, harness.task.next_retry_at) == (Status.BLOCKED, None)


def test_a_mutation_resolved_as_applied_is_not_repeated() -> None:
    harness = PhaseHarness(FullHandler(mutate=kill_worker))
    harness.crash()
    harness.clear_faults()
    harness.apply_action(lambda task, at: resolve_indeterminate(task, Resolution.APPLIED, at=at))
    harness.run()
    assert (harness.calls, harness.task.status) == (["emit"], Status.COMPLETED)


def test_a_mutation_resolved_as_not_applied_runs_again_with_the_same_key() -> None:
    harness = PhaseHarness(FullHandler(mutate=kill_worker))
    harness.crash()
    harness.clear_faults()
    harness.apply_action(
        lambda task, at: resolve_indeterminate(task, Resolution.NOT_APPLIED, at=at)
    )
    harness.run()
    assert harness.calls == ["prepare", "mutate", "emit"]
    assert (harness.last_run.retry_of, harness.last_run.mutation.idempotency_key) == (
        "run-1",
        "run-1",
    )


# Finding out


def reconcile_after_crash(
    finding: ReconcileResult | Exception,
    handler: type[ScriptedHandler] = ReconcilingHandler,
    **fields: Any,
) -> PhaseHarness:
    """Kill a run during its mutation, then run again with this reconcile result."""
    harness = PhaseHarness(handler(mutate=kill_worker), **fields)
    harness.crash()
    harness.clear_faults(reconcile=finding)
    if isinstance(finding, Exception):
        harness.handler.faults["reconcile"] = finding
    harness.run()
    return harness


def test_a_reconciled_mutation_is_stored_with_its_result() -> None:
    harness = reconcile_after_crash(Applied({"lit": "before"}))
    assert (harness.calls, harness.task.status) == (["reconcile", "emit"], Status.COMPLETED)
    assert harness.last_run.mutation.result == {"lit": "before"}
    assert harness.handler.contexts[-1].result == {"lit": "before"}
    assert harness.last_run.prepare_result == PREPARED


def test_reconcile_receives_the_prepared_value_and_the_idempotency_key() -> None:
    harness = reconcile_after_crash(Applied())
    work = next(work for work in harness.handler.contexts if work.attempt == 2)
    assert (work.prepared, work.idempotency_key, work.run_id) == (PREPARED, "run-1", "run-2")


def test_a_run_has_an_unknown_effect_until_it_is_reconciled() -> None:
    harness = reconcile_after_crash(Applied())
    assert harness.store.phases[0] == (Phase.MUTATING, MutationStatus.INDETERMINATE)


def test_a_mutation_reconciled_as_not_applied_runs_again() -> None:
    harness = reconcile_after_crash(NotApplied())
    assert harness.calls == ["reconcile", "prepare", "mutate", "emit"]
    assert harness.store.phases[1] == (Phase.MUTATING, MutationStatus.IN_FLIGHT)
    assert (harness.last_run.mutation.idempotency_key, harness.task.status) == (
        "run-1",
        Status.COMPLETED,
    )


def test_a_mutation_reconciled_as_not_applied_is_stored_as_in_flight_first() -> None:
    """Also without a prepare phase, where the claim could not record it."""
    harness = reconcile_after_crash(NotApplied(), ReconcileOnlyHandler)
    assert harness.calls == ["reconcile", "mutate"]
    assert harness.store.phases[:2] == [
        (Phase.MUTATING, MutationStatus.INDETERMINATE),
        (Phase.MUTATING, MutationStatus.IN_FLIGHT),
    ]


def test_an_unknown_reconcile_result_asks_a_person() -> None:
    harness = reconcile_after_crash(Unknown())
    report = harness.report
    assert (report.origin, report.effect) == (Origin.INDETERMINATE, Effect.UNKNOWN)
    harness.record()
    assert (harness.calls, harness.task.recovery_action) == (["reconcile"], "ask_person")
    assert (harness.task.status, harness.last_run.is_indeterminate) == (Status.BLOCKED, True)


def test_an_unknown_reconcile_result_repeats_an_idempotent_mutation() -> None:
    harness = reconcile_after_crash(Unknown(), payload={"idempotent": True})
    assert harness.calls == ["reconcile", "prepare", "mutate", "emit"]
    assert harness.task.status is Status.COMPLETED


def test_a_failed_reconcile_is_retried_without_a_mutation() -> None:
    harness = reconcile_after_crash(ValueError("the bridge is down"))
    assert (harness.report.origin, harness.report.effect) == (Origin.WORK, Effect.UNKNOWN)
    harness.record()
    assert (harness.task.status, harness.last_run.is_indeterminate) == (Status.PENDING, True)
    harness.clear_faults(reconcile=Applied())
    harness.run()
    assert (harness.calls, harness.task.status) == (["reconcile", "emit"], Status.COMPLETED)


def test_a_logic_error_in_reconcile_awaits_a_fix_and_the_effect_stays_unknown() -> None:
    harness = reconcile_after_crash(KeyError("oops"))
    harness.record()
    assert (harness.task.status, harness.task.recovery_action) == (Status.BLOCKED, "await_fix")
    assert harness.last_run.is_indeterminate


def test_a_reconciled_result_that_cannot_be_stored_is_a_logic_error_after_the_effect() -> None:
    harness = reconcile_after_crash(Applied({1, 2}))
    assert (harness.report.origin, harness.report.effect) == (Origin.LOGIC, Effect.APPLIED)


def test_a_failure_after_not_applied_leaves_no_unknown_effect() -> None:
    harness = PhaseHarness(ReconcilingHandler(mutate=kill_worker))
    harness.crash()
    harness.clear_faults(reconcile=NotApplied())
    harness.handler.faults["prepare"] = ValueError("no bulb")
    report = harness.fail()
    assert (report.effect, harness.last_run.is_indeterminate) == (Effect.NONE, False)


def test_an_unknown_effect_is_reconciled_before_the_mutation_is_repeated() -> None:
    harness = PhaseHarness(ReconcilingHandler(mutate=IndeterminateError("no answer")))
    harness.fail()
    assert (harness.task.status, harness.last_run.is_indeterminate) == (Status.PENDING, True)
    harness.clear_faults(reconcile=Applied(RESULT))
    harness.run()
    assert (harness.calls, harness.task.status) == (["reconcile", "emit"], Status.COMPLETED)


# Work that is verified


def approve(harness: PhaseHarness) -> None:
    deps = ApprovalDeps(harness.store, harness.store.subjects, harness.queue)
    approve_task(harness.task, deps, at=harness.clock.at)


def test_a_run_that_needs_verification_does_not_emit_yet() -> None:
    harness = PhaseHarness(FullHandler(), verify=True)
    assert harness.run().outcome is RunOutcome.AWAITING_VERIFICATION
    assert (harness.calls, harness.task.status) == (
        ["prepare", "mutate"],
        Status.PENDING_VERIFICATION,
    )
    assert (harness.last_run.mutation.result, harness.task.due_at) == (RESULT, NOW + DAY)


def test_an_approved_run_continues_with_emit() -> None:
    harness = PhaseHarness(FullHandler(), verify=True)
    harness.run()
    harness.clock.at = NOW + HOUR
    approve(harness)
    harness.clear_faults()
    assert harness.run().outcome is RunOutcome.DELIVERED
    assert (harness.calls, harness.task.status) == (["emit"], Status.COMPLETED)
    work = harness.handler.contexts[-1]
    assert (work.prepared, work.result, work.idempotency_key) == (PREPARED, RESULT, "run-1")


def test_an_approved_run_is_not_verified_again() -> None:
    harness = PhaseHarness(FullHandler(emit=ValueError("nobody listens")), verify=True)
    harness.run()
    approve(harness)
    harness.fail()
    harness.clear_faults()
    assert harness.run().outcome is RunOutcome.DELIVERED
    assert (harness.calls, harness.last_run.is_verified) == (["emit"], True)


def test_emit_receives_the_approved_occurrence_of_a_series() -> None:
    harness = PhaseHarness(FullHandler(), verify=True, repeat="daily")
    harness.run()
    approve(harness)
    harness.clear_faults()
    harness.run()
    assert (harness.calls, harness.last_run.nominal_at) == (["emit"], NOW)
    assert (harness.task.status, harness.task.due_at) == (Status.PENDING, NOW + DAY)


def test_the_mutation_is_not_repeated_if_saving_the_pending_verification_fails() -> None:
    harness = PhaseHarness(FullHandler(), verify=True)
    harness.store.errors_by_save = {3: OSError("throttled")}
    assert harness.fail().effect is Effect.APPLIED
    harness.clear_faults()
    assert harness.run().outcome is RunOutcome.AWAITING_VERIFICATION
    assert harness.calls == []
