"""The phase engine: what is written when, and what a retry does after each way of breaking off."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
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


class Lamp(Handler):
    """Does what it is told, and notes each call with the work as it came."""

    def __init__(self, **trouble: Any) -> None:
        self.calls: list[str] = []
        self.works: list[RunContext] = []
        self.trouble = trouble
        self.gives: dict[str, Any] = {"prepare": PREPARED, "mutate": RESULT}

    def mutate(self, work: RunContext) -> Any:
        return self.called("mutate", work)

    def called(self, phase: str, work: RunContext) -> Any:
        self.calls.append(phase)
        self.works.append(replace(work))
        trouble = self.trouble.get(phase)
        if isinstance(trouble, Exception):
            raise trouble
        if callable(trouble):
            trouble()
        return self.gives.get(phase)


class Prepares(Lamp):
    def prepare(self, work: RunContext) -> Any:
        return self.called("prepare", work)


class Tells(Lamp):
    def emit(self, work: RunContext) -> None:
        self.called("emit", work)


class Whole(Prepares, Tells):
    pass


class FindsOut(Whole):
    def reconcile(self, work: RunContext) -> ReconcileResult:
        found: ReconcileResult = self.called("reconcile", work)
        return found


class LetsGo(Whole):
    def release(self, work: RunContext) -> None:
        self.called("let_go", work)


class Careful(Lamp):
    """Nothing to prepare, nobody to tell, but it may find out."""

    def reconcile(self, work: RunContext) -> ReconcileResult:
        found: ReconcileResult = self.called("reconcile", work)
        return found


class Never:
    """A provider that is not asked."""

    payload_keys = ()

    def call(self, request: ProviderRequest) -> ProviderReply:
        raise AssertionError(request)

    def estimate_max_cost(self, request: ProviderRequest) -> int | None:
        """Nobody knows."""

    def check(self, payload: Any) -> None:
        """Takes everything."""


class Books(MemoryStore):
    """Notes all that is written; `refusing` tells by number which saves fail, and how."""

    def __init__(self, *tasks: Task, subjects: MemorySubjects | None = None) -> None:
        super().__init__(*tasks, subjects=subjects)
        self.written: list[Task] = []
        self.refusing: dict[int, Exception] = {}
        self.saves = 0

    def save(self, before: Task, after: Task, **also: Any) -> None:
        self.saves += 1
        if self.saves in self.refusing:
            raise self.refusing[self.saves]
        super().save(before, after, **also)
        self.written.append(after)

    @property
    def phases(self) -> list[tuple[Phase, MutationStatus | None]]:
        return [(run_of(task).phase, run_of(task).mutation.status) for task in self.written]


class Bench(WorkerHarness):
    """One handler, which does what it is told, and a store that notes what is written."""

    store: Books

    def __init__(self, handler: Lamp, **fields: Any) -> None:
        super().__init__(Books(a_task(**{"type": "lights", **fields})), {"lights": handler})
        self.handler = handler

    @property
    def calls(self) -> list[str]:
        return self.handler.calls

    def run(self, *, due_at: datetime | None = None) -> ExecutionResult:
        """At its time, as its message has it."""
        self.clock.at = max(self.clock.at, self.task.due_at)
        return super().run(due_at=due_at)

    def fail(self) -> FailureReport:
        """One run that fails, and its failure recorded."""
        assert self.run().outcome is RunOutcome.FAILED
        self.record()
        return self.report

    def die(self) -> None:
        """The worker is gone: found by the sweeper when its lease is over."""
        with pytest.raises(_Killed):
            self.run()
        self.clock.at += LEASE + REPORT_GRACE_PERIOD
        self.record(lease_expired_report(self.task))

    def person(self, wish: Callable[..., Task]) -> None:
        task = self.task
        self.store.save(task, wish(task, at=self.clock.at))

    def mend(self, **gives: Any) -> None:
        """Nothing goes wrong any more."""
        self.handler.trouble.clear()
        self.handler.gives |= gives
        self.calls.clear()
        self.store.written.clear()
        self.store.refusing.clear()


class _Killed(BaseException):
    pass


def killed() -> None:
    raise _Killed


# What is written when


def test_a_handler_with_nothing_but_its_effect_is_claimed_and_committed() -> None:
    harness = Bench(Lamp())
    assert harness.run().outcome is RunOutcome.DELIVERED
    assert harness.store.phases == [
        (Phase.MUTATING, MutationStatus.IN_FLIGHT),
        (Phase.COMMITTED, MutationStatus.APPLIED),
    ]


def test_what_was_prepared_is_written_before_the_effect() -> None:
    harness = Bench(Prepares())
    harness.run()
    assert harness.store.phases == [
        (Phase.PREPARING, None),
        (Phase.MUTATING, MutationStatus.IN_FLIGHT),
        (Phase.COMMITTED, MutationStatus.APPLIED),
    ]
    in_flight = run_of(harness.store.written[1])
    assert (in_flight.prepare_result, in_flight.mutation.idempotency_key) == (PREPARED, "run-1")


def test_the_effect_begins_after_it_is_recorded_as_in_flight() -> None:
    harness = Bench(Prepares())
    seen: list[MutationStatus | None] = []
    harness.handler.trouble["mutate"] = lambda: seen.append(harness.last_run.mutation.status)
    harness.run()
    assert seen == [MutationStatus.IN_FLIGHT]


def test_the_result_is_written_before_others_are_told() -> None:
    harness = Bench(Tells())
    seen: list[Run] = []
    harness.handler.trouble["emit"] = lambda: seen.append(harness.last_run)
    harness.run()
    assert harness.store.phases == [
        (Phase.MUTATING, MutationStatus.IN_FLIGHT),
        (Phase.EMITTING, MutationStatus.APPLIED),
        (Phase.COMMITTED, MutationStatus.APPLIED),
    ]
    assert seen[0].mutation.result == RESULT


def test_a_handler_with_every_phase_writes_four_times() -> None:
    harness = Bench(Whole())
    harness.run()
    assert [phase for phase, _ in harness.store.phases] == [
        *(Phase.PREPARING, Phase.MUTATING, Phase.EMITTING, Phase.COMMITTED),
    ]
    assert harness.calls == ["prepare", "mutate", "emit"]


def test_each_phase_sees_what_came_before_it() -> None:
    harness = Bench(Whole())
    harness.run()
    seen = [(work.prepared, work.result) for work in harness.handler.works]
    assert seen == [(None, None), (PREPARED, None), (PREPARED, RESULT)]


def test_a_handler_sees_its_results_as_they_will_be_read_again() -> None:
    harness = Bench(Whole())
    harness.handler.gives |= {"prepare": {1: (2, 3)}, "mutate": ("a",)}
    harness.run()
    assert (harness.handler.works[-1].prepared, harness.handler.works[-1].result) == (
        *({"1": [2, 3]}, ["a"]),
    )


def test_an_attempt_has_no_more_time_than_its_lease() -> None:
    harness = Bench(Lamp())
    harness.run()
    assert harness.handler.works[0].deadline == NOW + timedelta(seconds=45) < NOW + LEASE


def test_what_was_committed_keeps_what_was_prepared_and_its_result() -> None:
    harness = Bench(Whole())
    harness.run()
    run = harness.last_run
    assert (run.status, run.prepare_result, run.mutation.result) == (
        *(RunStatus.COMMITTED, PREPARED, RESULT),
    )
    assert (harness.task.status, run.ended_at) == (Status.COMPLETED, NOW)


# A retry before the effect


@pytest.mark.parametrize(("phase", "reached"), [("prepare", "preparing"), ("mutate", "mutating")])
def test_before_the_effect_a_retry_begins_at_preparing(phase: str, reached: str) -> None:
    harness = Bench(Whole(**{phase: ValueError("no bulb")}))
    report = harness.fail()
    assert (report.effect, report.origin, report.failure.phase) == (
        *(Effect.NONE, Origin.WORK, reached),
    )
    harness.mend(prepare={"lamp": 8})
    harness.run()

    assert harness.calls == ["prepare", "mutate", "emit"]
    assert harness.store.phases[0] == (Phase.PREPARING, None)
    assert run_of(harness.store.written[0]).prepare_result is None
    assert harness.last_run.prepare_result == {"lamp": 8}


def test_an_effect_that_failed_is_noted_as_failed() -> None:
    harness = Bench(Whole(mutate=ValueError("no bulb")))
    harness.fail()
    run = harness.last_run
    assert (run.phase, run.mutation.status) == (Phase.MUTATING, MutationStatus.FAILED)
    assert run.status is RunStatus.PAUSED_TRANSIENT


def test_a_run_that_failed_while_preparing_had_no_effect_to_speak_of() -> None:
    harness = Bench(Whole(prepare=ValueError("no bulb")))
    harness.fail()
    assert (harness.last_run.phase, harness.last_run.mutation.status) == (Phase.PREPARING, None)


# A retry after the effect


def test_after_the_effect_a_retry_only_tells_others() -> None:
    harness = Bench(Whole(emit=ValueError("nobody listens")))
    report = harness.fail()
    assert (report.effect, report.failure.phase) == (Effect.APPLIED, "emitting")
    harness.mend()
    assert harness.run().outcome is RunOutcome.DELIVERED

    assert harness.calls == ["emit"]
    resumed = run_of(harness.store.written[0])
    assert (resumed.phase, resumed.prepare_result) == (Phase.EMITTING, PREPARED)
    assert (resumed.mutation.status, resumed.mutation.result) == (MutationStatus.APPLIED, RESULT)


def test_a_retry_after_the_effect_sees_its_results() -> None:
    harness = Bench(Whole(emit=ValueError("nobody listens")))
    harness.fail()
    harness.mend()
    harness.run()
    work = harness.handler.works[-1]
    assert (work.prepared, work.result, work.idempotency_key, work.attempt, work.run_id) == (
        *(PREPARED, RESULT, "run-1", 2, "run-2"),
    )


def test_a_retry_after_the_effect_writes_nothing_between_claim_and_commit() -> None:
    harness = Bench(Whole(emit=ValueError("nobody listens")))
    harness.fail()
    harness.mend()
    harness.run()
    assert [phase for phase, _ in harness.store.phases] == [Phase.EMITTING, Phase.COMMITTED]


def test_telling_that_fails_again_and_again_never_repeats_the_effect() -> None:
    harness = Bench(Whole(emit=ValueError("nobody listens")), max_retries=4)
    for _ in range(4):
        harness.fail()
    assert harness.calls == ["prepare", "mutate", *(["emit"] * 4)]
    assert harness.task.status is Status.FAILED
    assert harness.last_run.mutation.result == RESULT


def test_a_person_who_retries_what_was_given_up_while_telling_repeats_no_effect() -> None:
    harness = Bench(Whole(emit=ValueError("nobody listens")), max_retries=1)
    harness.fail()
    harness.mend()
    harness.person(retry)
    harness.run()
    assert (harness.calls, harness.task.status) == (["emit"], Status.COMPLETED)
    assert harness.last_run.reason is Reason.USER_RETRY


def test_a_series_forgets_the_effect_of_an_occurrence_that_was_given_up() -> None:
    harness = Bench(Whole(emit=ValueError("nobody listens")), max_retries=1, repeat="daily")
    harness.fail()
    harness.mend()
    harness.run()
    assert harness.calls == ["prepare", "mutate", "emit"]
    assert (harness.last_run.retry_of, harness.last_run.mutation.idempotency_key) == (None, "run-2")


# The chain


def test_the_key_is_the_same_for_the_whole_chain() -> None:
    harness = Bench(Whole(mutate=ValueError("no bulb")), max_retries=9)
    for _ in range(3):
        harness.fail()
    keys = {work.idempotency_key for work in harness.handler.works}
    assert keys == {"run-1"}
    assert [work.attempt for work in harness.handler.works] == [1, 1, 2, 2, 3, 3]


def test_the_next_occurrence_has_a_key_of_its_own() -> None:
    harness = Bench(Lamp(), repeat="daily")
    harness.run()
    harness.run()
    assert [work.idempotency_key for work in harness.handler.works] == ["run-1", "run-2"]


def test_each_run_is_linked_to_the_one_before_it() -> None:
    harness = Bench(Whole(prepare=ValueError("no bulb")), max_retries=9)
    harness.fail()
    harness.fail()
    harness.mend()
    harness.run()
    run = harness.last_run
    assert (run.id, run.retry_of, run.attempt, run.reason) == (
        *("run-3", "run-2", 3, Reason.TRANSIENT),
    )


def test_the_run_that_ended_is_kept_by_the_very_claim_of_the_next() -> None:
    harness = Bench(Whole(prepare=ValueError("no bulb")))
    harness.fail()
    ended = harness.last_run
    assert harness.store.ended_runs == {}
    harness.run()
    assert harness.store.ended_runs == {"run-1": ended}
    assert (ended.status, ended.ended_at) == (RunStatus.PAUSED_TRANSIENT, NOW)


def test_a_first_run_ends_no_other() -> None:
    harness = Bench(Whole())
    harness.run()
    assert harness.store.ended_runs == {}


def test_a_person_who_retries_what_crashed_too_often_is_told_as_the_reason() -> None:
    harness = Bench(Whole(prepare=killed), max_retries=2)
    harness.die()
    harness.die()
    assert harness.task.status is Status.FAILED
    harness.mend()
    harness.person(retry)
    harness.run()
    assert (harness.last_run.attempt, harness.last_run.reason) == (3, Reason.USER_RETRY)


# Results that cannot be kept


def test_results_up_to_the_limit_are_kept() -> None:
    harness = Bench(Whole())
    half = "x" * (MAX_RESULT_SIZE // 2 - QUOTES)
    harness.handler.gives = {"prepare": half, "mutate": half}
    assert harness.run().outcome is RunOutcome.DELIVERED
    assert harness.last_run.mutation.result == half


@pytest.mark.parametrize(
    "prepared", ["x" * (MAX_RESULT_SIZE - QUOTES + 1), {1, 2}, float("nan"), b"x", object()]
)
def test_a_prepared_result_that_cannot_be_kept_is_a_bug_without_an_effect(prepared: Any) -> None:
    harness = Bench(Whole())
    harness.handler.gives["prepare"] = prepared
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
def test_a_result_that_cannot_be_kept_is_a_bug_after_the_effect(prepared: Any, result: Any) -> None:
    harness = Bench(Whole())
    harness.handler.gives = {"prepare": prepared, "mutate": result}
    report = harness.fail()
    assert (report.origin, report.effect) == (Origin.LOGIC, Effect.APPLIED)
    assert (harness.calls, harness.task.status) == (["prepare", "mutate"], Status.BLOCKED)
    assert harness.last_run.is_applied


def test_a_result_without_an_end_is_a_bug_after_the_effect() -> None:
    endless: list[Any] = []
    endless.append(endless)
    harness = Bench(Lamp())
    harness.handler.gives["mutate"] = endless
    report = harness.fail()
    assert (report.failure.code, report.effect) == ("result_not_json", Effect.APPLIED)


def test_what_is_too_large_is_said_with_its_size() -> None:
    harness = Bench(Lamp())
    harness.handler.gives["mutate"] = "x" * MAX_RESULT_SIZE
    report = harness.fail()
    assert report.failure.code == "result_too_large"
    room = f"{MAX_RESULT_SIZE - len('null'):,}"  # nothing was prepared, and that is written too
    assert report.failure.message == (
        f"the result must have at most {room} bytes as JSON, not 307,202"
    )


def test_what_the_task_itself_holds_leaves_less_room() -> None:
    """An item has a limit of its own: 400 KB."""
    half = "x" * (MAX_RESULT_SIZE // 2 - QUOTES)
    harness = Bench(Whole(), payload={"text": "x" * 60_000})
    harness.handler.gives = {"prepare": half, "mutate": half}
    assert harness.fail().failure.code == "result_too_large"


def test_letters_of_several_bytes_count_as_they_are_written() -> None:
    harness = Bench(Lamp())
    harness.handler.gives["mutate"] = "ü" * (MAX_RESULT_SIZE // 2)
    assert harness.fail().failure.code == "result_too_large"


# Errors, and what they leave behind


class OwnTypeError(TypeError):
    """Somebody else's error, in a class of Python's."""

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
def test_a_bug_says_where_the_effect_stands_by_its_phase(
    phase: str, effect: Effect, bug: type[Exception]
) -> None:
    harness = Bench(Whole(**{phase: bug("oops")}))
    report = harness.fail()
    assert (report.origin, report.effect) == (Origin.LOGIC, effect)


def test_a_bug_waits_for_other_code_unless_its_effect_is_in_doubt() -> None:
    statuses = {}
    for phase in ("prepare", "mutate", "emit"):
        harness = Bench(Whole(**{phase: KeyError("oops")}))
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


def test_a_bug_amid_a_harmless_effect_waits_for_other_code() -> None:
    harness = Bench(Whole(mutate=KeyError("oops")), payload={"idempotent": True})
    harness.fail()
    assert harness.task.recovery_action == "await_fix"


def test_an_error_of_somebody_elses_is_no_bug_of_the_handler() -> None:
    harness = Bench(Whole(mutate=OwnTypeError("they were typing")))
    report = harness.fail()
    assert (report.origin, report.effect) == (Origin.WORK, Effect.NONE)
    assert report.failure.type == "RemoteError"


def test_an_error_that_says_where_it_comes_from_is_believed() -> None:
    report = Bench(Whole(prepare=OwnOriginError("mine"))).fail()
    assert report.origin is Origin.LOGIC


@pytest.mark.parametrize("nonsense", ["logic", 7, None, Effect.APPLIED])
def test_an_origin_that_is_none_is_not_believed(nonsense: Any) -> None:
    error = ValueError("odd")
    error.origin = nonsense  # type: ignore[attr-defined]
    assert Bench(Whole(prepare=error)).fail().origin is Origin.WORK


@pytest.mark.parametrize("nonsense", ["applied", True, None])
def test_an_effect_that_is_none_is_not_believed(nonsense: Any) -> None:
    error = ValueError("odd")
    error.effect = nonsense  # type: ignore[attr-defined]
    assert Bench(Whole(mutate=error)).fail().effect is Effect.NONE


@pytest.mark.parametrize("error", [TimeoutError("no answer"), IndeterminateError("no answer")])
def test_an_effect_that_was_waited_for_in_vain_is_in_doubt(error: Exception) -> None:
    harness = Bench(Whole(mutate=error))
    report = harness.fail()
    assert (report.origin, report.effect) == (Origin.WORK, Effect.UNKNOWN)
    assert (harness.task.status, harness.task.recovery_action) == (Status.BLOCKED, "ask_person")
    assert harness.last_run.is_indeterminate


@pytest.mark.parametrize("error", [TimeoutError("no answer"), IndeterminateError("no answer")])
def test_an_effect_in_doubt_that_is_harmless_is_brought_about_again(error: Exception) -> None:
    harness = Bench(Whole(mutate=error), payload={"idempotent": True})
    harness.fail()
    assert harness.last_run.is_indeterminate
    harness.mend()
    harness.run()
    assert (harness.calls, harness.task.status) == (["prepare", "mutate", "emit"], Status.COMPLETED)
    assert harness.store.phases[0] == (Phase.PREPARING, None), "there is nothing to find out"


@pytest.mark.parametrize("phase", ["prepare", "emit"])
def test_elsewhere_a_timeout_leaves_nothing_in_doubt(phase: str) -> None:
    harness = Bench(Whole(**{phase: TimeoutError("no answer")}))
    report = harness.fail()
    assert report.effect is (Effect.NONE if phase == "prepare" else Effect.APPLIED)
    assert harness.task.status is Status.PENDING


# A store that fails


def test_where_the_effect_cannot_be_announced_nothing_is_done() -> None:
    harness = Bench(Whole())
    harness.store.refusing = {2: OSError("throttled")}
    report = harness.fail()
    assert (report.origin, report.effect, harness.calls) == (
        *(Origin.NOT_ATTEMPTED, Effect.NONE, ["prepare"]),
    )
    assert (harness.task.status, harness.task.retry_count) == (Status.PENDING, 0)
    assert report.failure.message == "the task was not attempted: OSError: throttled"


def test_a_claim_that_cannot_be_written_leaves_the_task_alone() -> None:
    harness = Bench(Whole())
    harness.store.refusing = {1: OSError("throttled")}
    with pytest.raises(OSError, match="throttled"):
        harness.run()
    assert (harness.calls, harness.failures, harness.task.version) == ([], [], 1)


def test_a_result_that_cannot_be_written_is_not_made_again() -> None:
    harness = Bench(Whole())
    harness.store.refusing = {3: OSError("throttled")}
    report = harness.fail()
    assert (report.origin, report.effect, harness.calls) == (
        *(Origin.NOT_ATTEMPTED, Effect.APPLIED, ["prepare", "mutate"]),
    )
    harness.mend()
    harness.run()
    assert (harness.calls, harness.task.status) == (["emit"], Status.COMPLETED)


@pytest.mark.parametrize(("handler", "commit"), [(Lamp, 2), (Prepares, 3), (Whole, 4)])
def test_a_commit_that_cannot_be_written_is_all_that_is_made_up_for(
    handler: type[Lamp], commit: int
) -> None:
    harness = Bench(handler())
    harness.store.refusing = {commit: OSError("throttled")}
    report = harness.fail()
    assert (report.failure.code, report.effect) == ("not_recorded", Effect.APPLIED)
    assert (harness.task.status, harness.task.retry_count) == (Status.PENDING, 0)
    assert harness.last_run.is_applied

    harness.mend()
    assert harness.run().outcome is RunOutcome.DELIVERED
    assert set(harness.calls) <= {"emit"}
    assert (harness.task.status, harness.last_run.reason) == (Status.COMPLETED, Reason.TRANSIENT)


@pytest.mark.parametrize(("save", "calls"), [(1, 0), (2, 1), (3, 2), (4, 3)])
def test_whoever_lost_the_lease_has_no_say(save: int, calls: int) -> None:
    harness = Bench(Whole())
    theirs = replace(harness.task, version=99)
    quiet: list[Callable[[], object]] = [lambda: None] * (save - 1)
    harness.store.concurrent_writes = [*quiet, lambda: harness.store.tasks.update({ID: theirs})]
    if save == 1:
        assert harness.run() == ExecutionResult(RunOutcome.DUPLICATE)
    else:
        with pytest.raises(StaleTaskError):
            harness.run()
    assert (len(harness.calls), harness.failures, harness.task) == (calls, [], theirs)


@pytest.mark.parametrize(
    ("late", "calls"), [(LEASE, ["prepare"]), (LEASE - timedelta(milliseconds=1), None)]
)
def test_where_the_lease_ran_out_before_the_effect_it_does_not_begin(
    late: timedelta, calls: list[str] | None
) -> None:
    harness = Bench(Whole())

    def slow() -> None:
        harness.clock.at += late

    harness.handler.trouble["prepare"] = slow
    ran = harness.run()
    assert harness.calls == (calls or ["prepare", "mutate", "emit"])
    if calls:
        assert (harness.report.failure.code, harness.report.effect) == ("lease_lost", Effect.NONE)
        assert harness.report.origin is Origin.NOT_ATTEMPTED
    else:
        assert ran.outcome is RunOutcome.DELIVERED


@pytest.mark.parametrize(
    "trouble", [OSError("throttled"), StaleTaskError(ID)], ids=["throttled", "somebody took over"]
)
def test_what_was_prepared_is_let_go_where_the_effect_cannot_be_announced(
    trouble: Exception,
) -> None:
    harness = Bench(LetsGo())
    harness.store.refusing = {2: trouble}
    with suppress(StaleTaskError):
        harness.run()
    assert harness.calls == ["prepare", "let_go"]
    assert harness.handler.works[-1].prepared == PREPARED


def test_what_was_prepared_is_let_go_where_the_lease_ran_out() -> None:
    harness = Bench(LetsGo())

    def slow() -> None:
        harness.clock.at += LEASE

    harness.handler.trouble["prepare"] = slow
    assert harness.run().outcome is RunOutcome.FAILED
    assert harness.calls == ["prepare", "let_go"]


@pytest.mark.parametrize(
    "trouble", [{}, {"mutate": ValueError("no bulb")}, {"prepare": ValueError("no bulb")}]
)
def test_otherwise_there_is_nothing_to_let_go(trouble: dict[str, Any]) -> None:
    harness = Bench(LetsGo(**trouble))
    harness.run()
    assert "let_go" not in harness.calls


def test_money_is_free_again_where_the_effect_cannot_be_announced() -> None:
    budgets = MemoryBudgets()
    harness = Bench(Lamp(), payload={"provider": "scripted", "budget": "agents", "max_cost": 0.25})
    harness.handlers["lights"] = ActionHandler({"scripted": Never()}, budgets, harness.clock)
    harness.store.refusing = {2: OSError("throttled")}
    assert harness.fail().origin is Origin.NOT_ATTEMPTED
    budget = budgets.get_today("agents", now=NOW)
    assert (budget.spent, budget.reserved, bool(budgets.days)) == (0, 0, True)


@pytest.mark.parametrize("save", [3, 4])
def test_a_result_that_can_neither_be_written_nor_reported_is_not_passed_over(save: int) -> None:
    """Nothing is reported: the lease stands for the run, which counts as lost."""
    harness = Bench(Whole())
    harness.handler.gives["mutate"] = "x" * 150_001
    harness.store.refusing = {save: OSError("throttled")}
    with pytest.raises(ResultTooLargeError):
        harness.run()
    assert (harness.failures, harness.task.status) == ([], Status.IN_PROGRESS)


def test_a_result_that_a_message_can_hold_is_reported() -> None:
    harness = Bench(Whole())
    harness.handler.gives["mutate"] = "x" * (150_000 - QUOTES)
    harness.store.refusing = {3: OSError("throttled")}
    assert harness.fail().result == harness.last_run.mutation.result == "x" * (150_000 - QUOTES)


def test_a_large_result_that_was_written_hinders_no_report() -> None:
    harness = Bench(Whole(emit=ValueError("nobody listens")))
    harness.handler.gives["mutate"] = "x" * 150_001
    assert (harness.fail().result, harness.last_run.mutation.result) == (None, "x" * 150_001)


# A handler that was taken away


def take_away(harness: Bench) -> None:
    harness.handlers.clear()
    harness.calls.clear()


def test_a_task_whose_handler_was_taken_away_fails() -> None:
    harness = Bench(Whole())
    take_away(harness)
    report = harness.fail()
    assert (report.failure.type, report.effect) == ("NotSetUp", Effect.NONE)
    assert harness.last_run.mutation.status is MutationStatus.FAILED


def test_a_task_whose_handler_was_taken_away_before_it_told_others_fails() -> None:
    harness = Bench(Whole(emit=ValueError("nobody listens")))
    harness.fail()
    take_away(harness)
    report = harness.fail()
    assert (report.failure.type, report.effect, harness.calls) == ("NotSetUp", Effect.APPLIED, [])
    assert harness.task.status is not Status.COMPLETED

    harness.mend()
    harness.handlers["lights"] = harness.handler
    harness.run()
    assert (harness.calls, harness.task.status) == (["emit"], Status.COMPLETED)


# A worker that died


@pytest.mark.parametrize(
    ("phase", "mutation", "again"),
    [
        ("prepare", None, ["prepare", "mutate", "emit"]),
        ("emit", MutationStatus.APPLIED, ["emit"]),
    ],
)
def test_a_run_that_died_outside_of_its_effect_is_taken_up_where_it_was(
    phase: str, mutation: MutationStatus | None, again: list[str]
) -> None:
    harness = Bench(Whole(**{phase: killed}))
    harness.die()
    assert (harness.last_run.status, harness.last_run.mutation.status) == (
        RunStatus.CRASHED,
        mutation,
    )
    harness.mend()
    harness.run()
    assert (harness.calls, harness.last_run.reason) == (again, Reason.CRASHED_RECOVERY)
    assert harness.last_run.mutation.result == RESULT


def test_a_run_that_died_amid_its_effect_waits_for_a_person() -> None:
    harness = Bench(Whole(mutate=killed))
    harness.die()
    run = harness.last_run
    assert (run.status, run.phase) == (RunStatus.CRASHED, Phase.MUTATING)
    assert (run.is_indeterminate, run.prepare_result) == (True, PREPARED)
    assert (harness.task.status, harness.task.next_retry_at) == (Status.BLOCKED, None)


def test_what_a_person_says_has_happened_is_not_brought_about_again() -> None:
    harness = Bench(Whole(mutate=killed))
    harness.die()
    harness.mend()
    harness.person(lambda task, at: resolve_indeterminate(task, Resolution.APPLIED, at=at))
    harness.run()
    assert (harness.calls, harness.task.status) == (["emit"], Status.COMPLETED)


def test_what_a_person_says_has_not_happened_begins_afresh_with_its_key() -> None:
    harness = Bench(Whole(mutate=killed))
    harness.die()
    harness.mend()
    harness.person(lambda task, at: resolve_indeterminate(task, Resolution.NOT_APPLIED, at=at))
    harness.run()
    assert harness.calls == ["prepare", "mutate", "emit"]
    assert (harness.last_run.retry_of, harness.last_run.mutation.idempotency_key) == (
        "run-1",
        "run-1",
    )


# Finding out


def found(
    finding: ReconcileResult | Exception, handler: type[Lamp] = FindsOut, **fields: Any
) -> Bench:
    """A run that died amid its effect, and the next one that finds this."""
    harness = Bench(handler(mutate=killed), **fields)
    harness.die()
    harness.mend(reconcile=finding)
    if isinstance(finding, Exception):
        harness.handler.trouble["reconcile"] = finding
    harness.run()
    return harness


def test_an_effect_that_is_found_is_kept_with_its_result() -> None:
    harness = found(Applied({"lit": "before"}))
    assert (harness.calls, harness.task.status) == (["reconcile", "emit"], Status.COMPLETED)
    assert harness.last_run.mutation.result == {"lit": "before"}
    assert harness.handler.works[-1].result == {"lit": "before"}
    assert harness.last_run.prepare_result == PREPARED


def test_finding_out_sees_what_was_prepared_and_the_key() -> None:
    harness = found(Applied())
    work = next(work for work in harness.handler.works if work.attempt == 2)
    assert (work.prepared, work.idempotency_key, work.run_id) == (PREPARED, "run-1", "run-2")


def test_a_run_that_finds_out_is_in_doubt_until_then() -> None:
    harness = found(Applied())
    assert harness.store.phases[0] == (Phase.MUTATING, MutationStatus.INDETERMINATE)


def test_an_effect_that_is_not_found_begins_afresh() -> None:
    harness = found(NotApplied())
    assert harness.calls == ["reconcile", "prepare", "mutate", "emit"]
    assert harness.store.phases[1] == (Phase.MUTATING, MutationStatus.IN_FLIGHT)
    assert (harness.last_run.mutation.idempotency_key, harness.task.status) == (
        "run-1",
        Status.COMPLETED,
    )


def test_an_effect_that_is_not_found_is_announced_before_it_begins() -> None:
    """Also where there is nothing to prepare, and the claim could not do it."""
    harness = found(NotApplied(), Careful)
    assert harness.calls == ["reconcile", "mutate"]
    assert harness.store.phases[:2] == [
        (Phase.MUTATING, MutationStatus.INDETERMINATE),
        (Phase.MUTATING, MutationStatus.IN_FLIGHT),
    ]


def test_where_nothing_can_be_found_out_a_person_is_asked() -> None:
    harness = found(Unknown())
    report = harness.report
    assert (report.origin, report.effect) == (Origin.INDETERMINATE, Effect.UNKNOWN)
    harness.record()
    assert (harness.calls, harness.task.recovery_action) == (["reconcile"], "ask_person")
    assert (harness.task.status, harness.last_run.is_indeterminate) == (Status.BLOCKED, True)


def test_where_nothing_can_be_found_out_a_harmless_effect_is_repeated() -> None:
    harness = found(Unknown(), payload={"idempotent": True})
    assert harness.calls == ["reconcile", "prepare", "mutate", "emit"]
    assert harness.task.status is Status.COMPLETED


def test_finding_out_that_fails_is_tried_again_and_brings_nothing_about() -> None:
    harness = found(ValueError("the bridge is down"))
    assert (harness.report.origin, harness.report.effect) == (Origin.WORK, Effect.UNKNOWN)
    harness.record()
    assert (harness.task.status, harness.last_run.is_indeterminate) == (Status.PENDING, True)
    harness.mend(reconcile=Applied())
    harness.run()
    assert (harness.calls, harness.task.status) == (["reconcile", "emit"], Status.COMPLETED)


def test_a_bug_in_finding_out_waits_for_other_code_and_stays_in_doubt() -> None:
    harness = found(KeyError("oops"))
    harness.record()
    assert (harness.task.status, harness.task.recovery_action) == (Status.BLOCKED, "await_fix")
    assert harness.last_run.is_indeterminate


def test_a_result_that_was_found_and_cannot_be_kept_is_a_bug_after_the_effect() -> None:
    harness = found(Applied({1, 2}))
    assert (harness.report.origin, harness.report.effect) == (Origin.LOGIC, Effect.APPLIED)


def test_after_an_effect_was_not_found_a_failure_leaves_no_doubt() -> None:
    harness = Bench(FindsOut(mutate=killed))
    harness.die()
    harness.mend(reconcile=NotApplied())
    harness.handler.trouble["prepare"] = ValueError("no bulb")
    report = harness.fail()
    assert (report.effect, harness.last_run.is_indeterminate) == (Effect.NONE, False)


def test_an_effect_in_doubt_is_found_out_about_before_it_is_repeated() -> None:
    harness = Bench(FindsOut(mutate=IndeterminateError("no answer")))
    harness.fail()
    assert (harness.task.status, harness.last_run.is_indeterminate) == (Status.PENDING, True)
    harness.mend(reconcile=Applied(RESULT))
    harness.run()
    assert (harness.calls, harness.task.status) == (["reconcile", "emit"], Status.COMPLETED)


# Work that is verified


def approve(harness: Bench) -> None:
    verdict_book = ApprovalDeps(harness.store, harness.store.subjects, harness.queue)
    approve_task(harness.task, verdict_book, at=harness.clock.at)


def test_work_that_is_to_be_verified_tells_nobody_yet() -> None:
    harness = Bench(Whole(), verify=True)
    assert harness.run().outcome is RunOutcome.AWAITING_VERIFICATION
    assert (harness.calls, harness.task.status) == (
        ["prepare", "mutate"],
        Status.PENDING_VERIFICATION,
    )
    assert (harness.last_run.mutation.result, harness.task.due_at) == (RESULT, NOW + DAY)


def test_a_run_that_was_approved_goes_on_by_telling_others() -> None:
    harness = Bench(Whole(), verify=True)
    harness.run()
    harness.clock.at = NOW + HOUR
    approve(harness)
    harness.mend()
    assert harness.run().outcome is RunOutcome.DELIVERED
    assert (harness.calls, harness.task.status) == (["emit"], Status.COMPLETED)
    work = harness.handler.works[-1]
    assert (work.prepared, work.result, work.idempotency_key) == (PREPARED, RESULT, "run-1")


def test_a_run_that_was_approved_is_not_to_be_verified_again() -> None:
    harness = Bench(Whole(emit=ValueError("nobody listens")), verify=True)
    harness.run()
    approve(harness)
    harness.fail()
    harness.mend()
    assert harness.run().outcome is RunOutcome.DELIVERED
    assert (harness.calls, harness.last_run.is_verified) == (["emit"], True)


def test_an_approved_occurrence_of_a_series_is_the_one_that_is_told_of() -> None:
    harness = Bench(Whole(), verify=True, repeat="daily")
    harness.run()
    approve(harness)
    harness.mend()
    harness.run()
    assert (harness.calls, harness.last_run.nominal_at) == (["emit"], NOW)
    assert (harness.task.status, harness.task.due_at) == (Status.PENDING, NOW + DAY)


def test_work_to_be_verified_that_cannot_be_written_down_is_not_done_again() -> None:
    harness = Bench(Whole(), verify=True)
    harness.store.refusing = {3: OSError("throttled")}
    assert harness.fail().effect is Effect.APPLIED
    harness.mend()
    assert harness.run().outcome is RunOutcome.AWAITING_VERIFICATION
    assert harness.calls == []
