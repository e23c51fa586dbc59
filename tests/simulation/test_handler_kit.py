"""The handler test kit: it finds handlers that repeat, lose or cannot confirm their effect.

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

EFFECT_CALLS = {"handler.mutate", "handler.reconcile"}


@dataclass
class RecordingLamp:
    """An external system that ignores idempotency keys and records every change."""

    switched: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Lights(Handler):
    lamp: RecordingLamp

    def mutate(self, context: RunContext) -> Any:
        self.lamp.switched.append(context.idempotency_key)


class ReconcilingHandler(Lights):
    def prepare(self, context: RunContext) -> Any:
        return context.task.description

    def emit(self, context: RunContext) -> None:
        pass

    def reconcile(self, context: RunContext) -> ReconcileResult:
        return Applied() if context.idempotency_key in self.lamp.switched else NotApplied()


class IdempotentHandler(Lights):
    idempotent = True


class ReconcilesNotApplied(Lights):
    def reconcile(self, context: RunContext) -> ReconcileResult:  # noqa: ARG002
        return NotApplied()


class ReconcilesApplied(Lights):
    def reconcile(self, context: RunContext) -> ReconcileResult:  # noqa: ARG002
        return Applied()


class ReconcilesUnknown(Lights):
    def reconcile(self, context: RunContext) -> ReconcileResult:  # noqa: ARG002
        return Unknown()


class ReconcileRaises(Lights):
    def reconcile(self, context: RunContext) -> ReconcileResult:
        raise KeyError(context.idempotency_key)


class TimesOutOnRetry(ReconcilesNotApplied):
    """Has its effect, but times out on a retry."""

    def mutate(self, context: RunContext) -> Any:
        super().mutate(context)
        if context.attempt > 1:
            raise TimeoutError("no answer")


class FailsOnRetry(ReconcilesNotApplied):
    def mutate(self, context: RunContext) -> Any:
        if context.attempt > 1:
            raise RuntimeError("not again")
        super().mutate(context)


class HasEffectTwice(Lights):
    def mutate(self, context: RunContext) -> Any:
        self.lamp.switched += [context.idempotency_key, context.idempotency_key]


class AlwaysFails(Lights):
    def mutate(self, context: RunContext) -> Any:
        raise RuntimeError(f"no lamp {context.idempotency_key}")


def check_handler(kind: Callable[[RecordingLamp], Handler], **options: Any) -> CrashReport:
    lamp = RecordingLamp()
    return crash_everywhere(lambda: kind(lamp), count_effects=lambda: len(lamp.switched), **options)


def check_around_effect(kind: Callable[[RecordingLamp], Handler]) -> CrashReport:
    return check_handler(kind, only_calls=EFFECT_CALLS)


def point_texts(points: list[CrashPoint]) -> list[str]:
    return [str(point) for point in points]


# A handler that reconciles


@pytest.fixture(scope="module")
def reconciling_report() -> CrashReport:
    return check_handler(
        ReconcilingHandler, only_calls={"handler.prepare", "handler.emit", *EFFECT_CALLS}
    )


def test_a_reconciling_handler_never_loses_or_repeats_its_effect(
    reconciling_report: CrashReport,
) -> None:
    assert (
        reconciling_report.lost,
        reconciling_report.duplicated,
        reconciling_report.indeterminate,
        reconciling_report.broken,
    ) == (
        [],
        [],
        [],
        [],
    )
    assert reconciling_report.is_sound


def test_a_crash_is_planted_before_and_after_each_call(reconciling_report: CrashReport) -> None:
    descriptions = point_texts(
        [
            phase.point
            for phase in reconciling_report.cases
            if phase.point and not phase.point.next_crash
        ]
    )
    phases = ("prepare", "mutate", "emit")
    assert descriptions == [
        f"{when} handler.{phase}" for phase in phases for when in ("before", "after")
    ]


def test_the_recovering_run_is_crashed_as_well(reconciling_report: CrashReport) -> None:
    descriptions = point_texts(
        [case.point for case in reconciling_report.cases if case.point and case.point.next_crash]
    )
    assert "after handler.mutate, then before handler.reconcile" in descriptions
    assert "after handler.mutate, then after handler.emit" in descriptions


def test_a_case_has_its_chain_of_runs(reconciling_report: CrashReport) -> None:
    [case] = [
        candidate
        for candidate in reconciling_report.cases
        if str(candidate.point) == "after handler.mutate"
    ]
    crashed, last = case.runs
    assert (case.status, case.effects) == ("completed", 1)
    assert str(crashed) == "crashed (mutating, indeterminate)"
    assert last == RunSummary(RunStatus.COMMITTED, Phase.COMMITTED, MutationStatus.APPLIED)


# Other handlers, crashed around their effect


def test_an_idempotent_handler_may_repeat_its_effect() -> None:
    report = check_around_effect(IdempotentHandler)
    assert point_texts(report.duplicated)[0] == "after handler.mutate"
    assert (report.is_idempotent, report.is_sound, report.indeterminate) == (True, True, [])
    assert "declares safe" in str(report)


def test_a_wrong_not_applied_repeats_the_effect_and_is_unsound() -> None:
    report = check_around_effect(ReconcilesNotApplied)
    assert "after handler.mutate" in point_texts(report.duplicated)
    assert (report.is_idempotent, report.is_sound) == (False, False)
    assert "EFFECT REPEATED" in str(report)


def test_a_wrong_applied_loses_the_effect_and_is_unsound() -> None:
    report = check_around_effect(ReconcilesApplied)
    assert point_texts(report.lost) == ["before handler.mutate"]
    assert (report.duplicated, report.is_sound) == ([], False)
    assert "EFFECT LOST" in str(report)


@pytest.mark.parametrize("kind", [Lights, ReconcilesUnknown])
def test_an_unknown_outcome_asks_a_person(kind: Callable[[RecordingLamp], Handler]) -> None:
    report = check_around_effect(kind)
    assert point_texts(report.indeterminate)[:2] == [
        "before handler.mutate",
        "after handler.mutate",
    ]
    assert (report.lost, report.duplicated, report.is_sound) == ([], [], True)


@pytest.mark.fault_may_miss  # the kit plants a second crash that may not be reached
def test_a_reconcile_that_raises_is_reported() -> None:
    report = check_around_effect(ReconcileRaises)
    assert point_texts(report.broken)[:2] == ["before handler.mutate", "after handler.mutate"]
    assert (report.indeterminate, report.is_sound) == ([], False)


def test_without_a_counter_each_call_of_mutate_counts() -> None:
    report = crash_everywhere(
        lambda: IdempotentHandler(RecordingLamp()), only_calls={"handler.mutate"}
    )
    effects = {
        str(case.point): case.effects for case in report.cases if not _has_second_crash(case)
    }
    assert effects == {"None": 1, "before handler.mutate": 1, "after handler.mutate": 2}


@pytest.mark.fault_may_miss  # the kit plants a second crash that may not be reached
def test_without_a_counter_a_timed_out_effect_counts() -> None:
    report = crash_everywhere(
        lambda: TimesOutOnRetry(RecordingLamp()), only_calls={"handler.mutate"}
    )
    # A timeout has one retry, which the crash before the effect has used up.
    assert point_texts(report.duplicated)[0] == "after handler.mutate"
    assert (report.lost, report.is_sound) == ([], False)


@pytest.mark.fault_may_miss  # the kit plants a second crash that may not be reached
def test_a_blocked_task_without_an_effect_is_lost() -> None:
    report = check_handler(FailsOnRetry, only_calls={"handler.mutate"})
    [case] = [
        candidate for candidate in report.cases if str(candidate.point) == "before handler.mutate"
    ]
    assert (case.status, case.effects, case.is_indeterminate) == ("blocked", 0, False)
    assert point_texts(report.lost) == ["before handler.mutate"]
    assert not report.is_sound


def _has_second_crash(case: CrashCase) -> bool:
    return case.point is not None and case.point.next_crash is not None


# Handlers that cannot be checked


def test_a_handler_that_repeats_its_effect_without_a_crash_is_refused() -> None:
    with pytest.raises(
        BaselineFailedError, match="ended as completed and its effect happened 2 times"
    ):
        check_handler(HasEffectTwice)


def test_a_handler_that_fails_without_a_crash_is_refused_with_its_error() -> None:
    with pytest.raises(BaselineFailedError, match="happened 0 times: RuntimeError: no lamp"):
        check_handler(AlwaysFails)


def test_a_payload_that_the_handler_refuses_is_reported() -> None:
    class Picky(Lights):
        def check(self, payload: Any) -> None:
            raise ValueError(f"lamp: is not among {sorted(payload)}")

    with pytest.raises(InvalidFieldsError, match="lamp: is not among"):
        check_handler(Picky, payload={"color": "red"})
