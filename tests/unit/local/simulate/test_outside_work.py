"""The team's system and the Lambda function outside: each effect is counted."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from local.simulate.outside_work import OutsideWork, RefusedCommandError, choose_outcome

NOW = datetime(2026, 2, 17, 12, tzinfo=UTC)


@pytest.fixture
def work() -> OutsideWork:
    return OutsideWork(lambda: NOW)


def _invoke(work: OutsideWork, **request: Any) -> tuple[bytes, str | None]:
    return work.invoke("lights", json.dumps({"key": "k", "attempt": 1, **request}).encode())


@pytest.mark.parametrize(
    ("outcome", "effects", "error"),
    [
        ("success", 1, None),
        ("refused", 0, "NotAppliedError"),
        ("fails-before", 0, "RuntimeError"),
        ("fails-after", 1, "RuntimeError"),
        ("unreadable", 1, None),
    ],
)
def test_a_function_has_its_effect_or_not(
    work: OutsideWork, outcome: str, effects: int, error: str | None
) -> None:
    content, kind = _invoke(work, input={"outcomes": [outcome]})

    assert len(work.performed) == effects
    assert (kind is not None) is (error is not None)
    assert error is None or json.loads(content)["errorType"] == error


def test_the_last_outcome_stays() -> None:
    outcomes = ["refused", "success"]
    assert [choose_outcome(outcomes, attempt) for attempt in (1, 2, 3)] == [
        *("refused", "success", "success")
    ]
    assert choose_outcome((), 1) == "success"


def test_an_attempt_that_was_looked_up_as_lost_has_no_effect_later(work: OutsideWork) -> None:
    assert not work.is_performed("k", 2)
    with pytest.raises(RefusedCommandError):
        work.perform("k", 1)
    work.perform("k", 2)
    assert work.is_performed("k", 3)


def test_the_phases_of_a_remote_handler(work: OutsideWork) -> None:
    task: dict[str, Any] = {"task": {"payload": {}}}
    assert _invoke(work, phase="prepare", **task) == (b'{"lamp": "k"}', None)
    assert _invoke(work, phase="mutate", **task) == (b'"on"', None)
    _invoke(work, phase="emit", **task)
    found = json.loads(_invoke(work, phase="reconcile", **task)[0])
    assert (found["applied"], work.emitted, work.acquired["k"]) == (True, ["k"], 0)
