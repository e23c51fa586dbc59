"""The recount of learned patterns finds what was counted twice or not at all."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from local.simulate.checks.learned import patterns_recounted
from local.simulate.observed import Observed
from local.simulate.task_records import TaskRecord

ERROR = {"id": "run-1", "policy": "omega", "fingerprint": "f", "counted": True}
RUNS: list[dict[str, Any]] = [
    {"id": "run-1", "retry_of": None, "status": "paused_transient"},
    {"id": "run-2", "retry_of": "run-1", "status": "committed"},
]


def observe(count: int, tried: int, worked: int, *events: str) -> Observed:
    history = [{"type": one} for one in events]
    pattern = {"policy": "omega", "fingerprint": "f"}
    pattern |= cast(Any, {"count": count, "tried": tried, "worked": worked})
    observed = SimpleNamespace(
        is_uncountable=False,
        records={"1": TaskRecord("1", {}, RUNS, [ERROR], history)},
        derived=SimpleNamespace(patterns=[pattern] if count else []),
    )
    return cast(Observed, observed)


def test_a_failure_and_the_retry_after_it_are_counted_once() -> None:
    assert list(patterns_recounted(observe(1, 1, 1))) == [None]


@pytest.mark.parametrize("counted", [(2, 1, 1), (1, 2, 1), (1, 1, 0), (0, 0, 0)])
def test_other_counts_are_found(counted: tuple[int, int, int]) -> None:
    assert None not in list(patterns_recounted(observe(*counted)))


def test_what_was_learned_before_a_correction_may_stay() -> None:
    assert list(patterns_recounted(observe(2, 1, 1, "task:reclassified"))) == [None]
    assert None not in list(patterns_recounted(observe(3, 1, 1, "task:reclassified")))
