"""The simulated world itself: faults strike where they are planned, and bugs are found."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from duecourse.domain.tasks.status import Status

from local.simulate import step_invariants
from local.simulate.checks.changes import TaskWrite
from local.simulate.invariants import INVARIANT_NAMES
from local.simulate.operations import OPERATIONS
from local.simulate.plan import ALL_FAULTS, Operation, Plan
from local.simulate.shrink import shrink
from local.simulate.simulation import DEFAULT_STEPS, make_plan, simulate
from local.simulate.step_invariants import StepInvariant
from local.simulate.summary import Summary
from local.simulate.violation import Violation

REMINDER = Operation(1, "create-reminder", {"new": 1, "in": "5s", "sender": "ada"})


def test_without_faults_nothing_strikes_and_everything_holds() -> None:
    outcome = simulate(make_plan(3, fault_names=frozenset()))

    assert (outcome.struck, outcome.violations) == ([], [])
    assert sum(outcome.operations.values()) == DEFAULT_STEPS


def test_a_planned_fault_strikes_at_its_point() -> None:
    point = "worker channel.send after 1"
    outcome = simulate(Plan(1, [REMINDER], faults={point: "crash-after"}))

    assert [(one.point, one.name) for one in outcome.struck] == [(point, "crash-after")]
    assert any("fault: crash-after" in line for line in outcome.lines)
    assert outcome.violations == []


def test_only_planned_waits_let_time_pass() -> None:
    point = "worker channel.send before 1"
    plan = Plan(1, [REMINDER], faults={}, waits={point: 2.5, "worker channel.send before 9": 1})
    outcome = simulate(plan)

    assert outcome.waited == outcome.plan_as_run.waits == {point: 2.5}
    assert any(line.startswith("8.500 worker") for line in outcome.lines)


def test_the_same_plan_gives_the_same_trace() -> None:
    assert simulate(make_plan(5)).trace_hash == simulate(make_plan(5)).trace_hash


def test_an_effect_that_no_run_admits_is_found_and_reduced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A channel that sends everything twice: the runs admit one message."""
    from local.simulate.containers import Container

    start = Container.start

    def start_with_echo(container: Container, function: str, outside: object) -> None:
        start(container, function, outside)  # type: ignore[arg-type]
        channel = container.modules.load("local.runtime.outbox").OutboxChannel
        record = channel._record

        def record_twice(self: object, *arguments: object) -> None:
            record(self, *arguments)
            record(self, *arguments)

        if function == "worker" and record.__name__ == "_record":
            monkeypatch.setattr(channel, "_record", record_twice)

    monkeypatch.setattr(Container, "start", start_with_echo)
    question = Operation(2, "say-help", {"sender": "bob", "text": "/help"})
    outcome = simulate(Plan(3, [REMINDER, question]))

    smallest = shrink(outcome)

    assert "no effect beyond what the runs admit" in {one.invariant for one in smallest.violations}
    assert len(smallest.plan.operations) == 1
    assert smallest.plan.faults == {}


def test_a_violation_at_a_write_ends_the_simulation_there(monkeypatch: pytest.MonkeyPatch) -> None:
    def find_claims(write: TaskWrite) -> Iterator[str | None]:
        yield "claimed" if write.new.status is Status.IN_PROGRESS else None

    invariants = (StepInvariant("nothing is claimed", find_claims),)
    monkeypatch.setattr(step_invariants, "TASK_INVARIANTS", invariants)

    outcome = simulate(Plan(1, [REMINDER]))

    assert outcome.violations == [Violation("nothing is claimed", "claimed")]
    assert outcome.lines[-1].endswith("violated: nothing is claimed: claimed")
    assert outcome.invariants["nothing is claimed"] == 2
    assert "no task is stuck" not in outcome.invariants


def test_what_never_happened_is_listed() -> None:
    names = {*OPERATIONS, *ALL_FAULTS, *INVARIANT_NAMES}

    assert set(Summary().list_unexercised()) == names
