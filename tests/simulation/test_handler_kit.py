"""The test kit tells good handlers from those that double their effect, lose it or leave doubt.

test_handlers_page.py runs a handler through all of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from duecourse.domain.errors import InvalidFieldsError
from duecourse.domain.tasks.handler import (
    Applied,
    Handler,
    NotApplied,
    ReconcileResult,
    RunContext,
    Unknown,
)
from duecourse.domain.tasks.run import MutationStatus, Phase, RunStatus

from local.testing.crash_report import CrashCase, CrashPoint, CrashReport, RunSummary
from local.testing.handler_kit import BaselineFailedError, crash_everywhere

AROUND_THE_EFFECT = {"handler.mutate", "handler.reconcile"}


@dataclass
class Lamp:
    """The outside world: it honours no key, and remembers all that was done to it."""

    switched: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Lights(Handler):
    lamp: Lamp

    def mutate(self, context: RunContext) -> Any:
        self.lamp.switched.append(context.idempotency_key)


class Careful(Lights):
    def prepare(self, work: RunContext) -> Any:
        return work.task.description

    def emit(self, work: RunContext) -> None:
        pass

    def reconcile(self, work: RunContext) -> ReconcileResult:
        return Applied() if work.idempotency_key in self.lamp.switched else NotApplied()


class Harmless(Lights):
    idempotent = True


class SaysNever(Lights):
    def reconcile(self, work: RunContext) -> ReconcileResult:  # noqa: ARG002
        return NotApplied()


class SaysAlways(Lights):
    def reconcile(self, work: RunContext) -> ReconcileResult:  # noqa: ARG002
        return Applied()


class CannotFindOut(Lights):
    def reconcile(self, work: RunContext) -> ReconcileResult:  # noqa: ARG002
        return Unknown()


class BreaksWhenAsked(Lights):
    def reconcile(self, work: RunContext) -> ReconcileResult:
        raise KeyError(work.idempotency_key)


class WaitsInVain(SaysNever):
    """Acts, and on a retry does not hear whether it did."""

    def mutate(self, work: RunContext) -> Any:
        super().mutate(work)
        if work.attempt > 1:
            raise TimeoutError("no answer")


class OnlyAtFirst(SaysNever):
    def mutate(self, work: RunContext) -> Any:
        if work.attempt > 1:
            raise RuntimeError("not again")
        super().mutate(work)


class Twice(Lights):
    def mutate(self, work: RunContext) -> Any:
        self.lamp.switched += [work.idempotency_key, work.idempotency_key]


class Refuses(Lights):
    def mutate(self, work: RunContext) -> Any:
        raise RuntimeError(f"no lamp {work.idempotency_key}")


def checked(kind: Callable[[Lamp], Handler], **options: Any) -> CrashReport:
    lamp = Lamp()
    return crash_everywhere(lambda: kind(lamp), count_effects=lambda: len(lamp.switched), **options)


def around(kind: Callable[[Lamp], Handler]) -> CrashReport:
    return checked(kind, only_calls=AROUND_THE_EFFECT)


def texts(points: list[CrashPoint]) -> list[str]:
    return [str(point) for point in points]


# A handler that can find out


@pytest.fixture(scope="module")
def careful() -> CrashReport:
    return checked(Careful, only_calls={"handler.prepare", "handler.emit", *AROUND_THE_EFFECT})


def test_what_can_be_found_out_is_never_lost_doubled_or_asked(careful: CrashReport) -> None:
    assert (careful.lost, careful.duplicated, careful.indeterminate, careful.broken) == (
        [],
        [],
        [],
        [],
    )
    assert careful.is_sound


def test_each_call_is_crashed_at_before_and_after(careful: CrashReport) -> None:
    told = texts([one.point for one in careful.cases if one.point and not one.point.next_crash])
    phases = ("prepare", "mutate", "emit")
    assert told == [f"{when} handler.{one}" for one in phases for when in ("before", "after")]


def test_the_run_that_takes_over_is_crashed_as_well(careful: CrashReport) -> None:
    told = texts([one.point for one in careful.cases if one.point and one.point.next_crash])
    assert "after handler.mutate, then before handler.reconcile" in told
    assert "after handler.mutate, then after handler.emit" in told


def test_the_chain_of_runs_is_noted(careful: CrashReport) -> None:
    [found] = [one for one in careful.cases if str(one.point) == "after handler.mutate"]
    lost, last = found.runs
    assert (found.status, found.effects) == ("completed", 1)
    assert str(lost) == "crashed (mutating, indeterminate)"
    assert last == RunSummary(RunStatus.COMMITTED, Phase.COMMITTED, MutationStatus.APPLIED)


# Others, around their effect


def test_a_declared_repeat_doubles_and_is_sound() -> None:
    report = around(Harmless)
    assert texts(report.duplicated)[0] == "after handler.mutate"
    assert (report.is_idempotent, report.is_sound, report.indeterminate) == (True, True, [])
    assert "declares safe" in str(report)


def test_a_finding_that_is_wrong_doubles_and_is_not_sound() -> None:
    report = around(SaysNever)
    assert "after handler.mutate" in texts(report.duplicated)
    assert (report.is_idempotent, report.is_sound) == (False, False)
    assert "EFFECT REPEATED" in str(report)


def test_a_finding_of_what_never_happened_loses_it() -> None:
    report = around(SaysAlways)
    assert texts(report.lost) == ["before handler.mutate"]
    assert (report.duplicated, report.is_sound) == ([], False)
    assert "EFFECT LOST" in str(report)


@pytest.mark.parametrize("kind", [Lights, CannotFindOut])
def test_where_nobody_can_tell_a_person_is_asked(kind: Callable[[Lamp], Handler]) -> None:
    report = around(kind)
    assert texts(report.indeterminate)[:2] == ["before handler.mutate", "after handler.mutate"]
    assert (report.lost, report.duplicated, report.is_sound) == ([], [], True)


@pytest.mark.fault_may_miss  # the kit plants a second crash that may not come
def test_code_that_fails_when_it_is_needed_is_told() -> None:
    report = around(BreaksWhenAsked)
    assert texts(report.broken)[:2] == ["before handler.mutate", "after handler.mutate"]
    assert (report.indeterminate, report.is_sound) == ([], False)


def test_without_a_counter_entering_mutate_counts() -> None:
    report = crash_everywhere(lambda: Harmless(Lamp()), only_calls={"handler.mutate"})
    effects = {str(one.point): one.effects for one in report.cases if not _is_double(one)}
    assert effects == {"None": 1, "before handler.mutate": 1, "after handler.mutate": 2}


@pytest.mark.fault_may_miss  # the kit plants a second crash that may not come
def test_without_a_counter_an_effect_that_was_waited_for_in_vain_counts() -> None:
    report = crash_everywhere(lambda: WaitsInVain(Lamp()), only_calls={"handler.mutate"})
    assert texts(report.duplicated)[:2] == ["before handler.mutate", "after handler.mutate"]
    assert (report.lost, report.is_sound) == ([], False)


@pytest.mark.fault_may_miss  # the kit plants a second crash that may not come
def test_an_effect_that_is_blocked_without_an_open_question_is_lost() -> None:
    report = checked(OnlyAtFirst, only_calls={"handler.mutate"})
    [found] = [one for one in report.cases if str(one.point) == "before handler.mutate"]
    assert (found.status, found.effects, found.is_indeterminate) == ("blocked", 0, False)
    assert texts(report.lost) == ["before handler.mutate"]
    assert not report.is_sound


def _is_double(one: CrashCase) -> bool:
    return one.point is not None and one.point.next_crash is not None


# What cannot be checked


def test_an_effect_that_comes_twice_by_itself_is_told_at_once() -> None:
    with pytest.raises(
        BaselineFailedError, match="ended as completed, its effect happened 2 times"
    ):
        checked(Twice)


def test_a_handler_that_fails_without_a_crash_is_told_with_its_error() -> None:
    with pytest.raises(BaselineFailedError, match="happened 0 times: RuntimeError: no lamp"):
        checked(Refuses)


def test_a_payload_that_the_handler_refuses_is_told() -> None:
    class Picky(Lights):
        def check(self, payload: Any) -> None:
            raise ValueError(f"lamp: is not among {sorted(payload)}")

    with pytest.raises(InvalidFieldsError, match="lamp: is not among"):
        checked(Picky, payload={"color": "red"})
