"""An effect after a cancellation is found, unless its worker was taken for dead."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any, cast

from duecourse.domain.tasks.run import RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.time.instant import to_text

from local.simulate.checks.cancellation import acknowledged_stored, none_after
from local.simulate.observed import Effect, Observed
from tests.unit.local.simulate.test_changes import AGAIN, NOW, PENDING, RETRYING, RUN

SECOND = timedelta(seconds=1)


def observe(run_status: RunStatus, effect_at: datetime, *more: Task) -> Observed:
    ended = replace(RETRYING, run=RUN.end(run_status, at=NOW))
    tasks = [PENDING, ended, ended.move_to(Status.CANCELLED), *more]
    changes = [
        SimpleNamespace(task_id=new.id, old=old, new=new, written_at=NOW + number * SECOND)
        for number, (old, new) in enumerate(zip([None, *tasks], tasks, strict=False))
    ]
    effects: Mapping[str, Any] = {"run-1": [Effect("run-1", to_text(effect_at))]}
    observed = SimpleNamespace(
        changes=changes,
        effects=effects,
        cancelled={PENDING.id: NOW + 3 * SECOND},
        newer_ids=frozenset(),
        name_of=lambda task_id: task_id,
    )
    return cast(Observed, observed)


def test_an_effect_before_the_cancellation_is_right() -> None:
    observed = observe(RunStatus.PAUSED_TRANSIENT, NOW)
    assert list(none_after(observed)) == [None, None]
    assert list(acknowledged_stored(observed)) == [None]


def test_a_later_effect_is_found() -> None:
    found = list(none_after(observe(RunStatus.PAUSED_TRANSIENT, NOW + 5 * SECOND)))
    assert "effects at" in str(found[1])


def test_a_worker_that_was_taken_for_dead_may_be_late() -> None:
    assert list(none_after(observe(RunStatus.CRASHED, NOW + 5 * SECOND))) == [None, None]


def test_a_later_claim_is_found() -> None:
    found = list(none_after(observe(RunStatus.CRASHED, NOW, AGAIN)))
    assert "claimed at" in str(found[0])


def test_an_acknowledgement_before_the_write_is_found() -> None:
    observed = observe(RunStatus.CRASHED, NOW)
    cast(Any, observed).cancelled = {PENDING.id: NOW}
    assert "not cancelled" in str(list(acknowledged_stored(observed)))
