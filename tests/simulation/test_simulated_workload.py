"""The workload of simulations: every kind of work, series to their end, and listeners."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from local.simulate.chance import Chance
from local.simulate.observed import Observed
from local.simulate.operations import OPERATIONS, draw_operations
from local.simulate.plan import Operation, Plan
from local.simulate.simulation import Outcome, make_plan, simulate
from local.simulate.start import SERIES_EVERY, STARTS_AT, starts_at

_TASK = {"new": 1, "in": "1s", "sender": "ada"}


def _simulate(*operations: Operation, seed: int = 3, **faults: str) -> Outcome:
    outcome = simulate(Plan(seed, operations, faults=faults))
    assert outcome.violations == []
    return outcome


def _create(name: str, **arguments: Any) -> Operation:
    return Operation(1, name, {**_TASK, **arguments})


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch) -> list[Observed]:
    """What the last simulation showed."""
    found: list[Observed] = []
    read = Observed.read.__func__  # type: ignore[attr-defined]

    def read_and_keep(cls: type[Observed], *arguments: Any) -> Observed:
        found.append(read(cls, *arguments))
        return found[-1]

    monkeypatch.setattr(Observed, "read", classmethod(read_and_keep))
    return found


def _statuses(observed: Observed) -> list[str]:
    return [record.task["status"] for record in observed.records.values()]


@pytest.mark.parametrize(
    ("operation", "effects"),
    [
        (_create("create-lambda", outcomes=["refused", "success"], verify=False), 1),
        (_create("create-lamp", type="lamp", outcomes=["fails-after"], verify=False), 1),
        (_create("create-lamp", type="remote-lamp", outcomes=["success"], verify=False), 1),
        (_create("create-enrich", script=0, tell=True), 0),
    ],
    ids=["lambda", "lamp", "remote-lamp", "enrich"],
)
def test_work_of_every_type_is_done_once(
    observed: list[Observed], operation: Operation, effects: int
) -> None:
    _simulate(operation)

    assert _statuses(observed[0]) == ["completed"]
    own_keys = [key for key in observed[0].effects if ":" not in key]
    assert len(own_keys) == effects


@pytest.mark.parametrize("bug", ["prepare", "mutate"])
def test_a_deployment_without_the_bug_ends_the_task(observed: list[Observed], bug: str) -> None:
    _simulate(
        _create("create-buggy-lamp", type="lamp", outcomes=["success"], verify=False, bug=bug),
        Operation(20, "redeploy", {}),
    )

    runs = next(iter(observed[0].records.values())).runs
    assert [run["reason"] for run in runs] == ["first", "logic_fix"]
    assert [len(effects) for key, effects in observed[0].effects.items() if ":" not in key] == [1]


@pytest.mark.parametrize(
    ("point", "fault"),
    [
        ("worker lambda.Invoke after 1", "lost-response"),
        ("worker lambda.Invoke before 1", "throttle"),
    ],
)
def test_faults_strike_at_a_lambda_function(point: str, fault: str) -> None:
    operation = _create("create-lambda", outcomes=["success"], verify=False)
    outcome = simulate(Plan(3, [operation], faults={point: fault}))
    assert [one.name for one in outcome.struck] == [fault]
    assert outcome.violations == []


@pytest.mark.parametrize("phase", ["prepare", "mutate", "emit"])
@pytest.mark.parametrize("fault", ["crash-after", "error"])
def test_faults_strike_at_a_teams_handler(phase: str, fault: str) -> None:
    operation = _create("create-lamp", type="lamp", outcomes=["success"], verify=False)
    when = "after" if fault == "crash-after" else "before"
    outcome = simulate(Plan(3, [operation], faults={f"worker handler.{phase} {when} 1": fault}))
    assert [one.name for one in outcome.struck] == [fault]
    assert outcome.violations == []


def test_a_slow_series_of_a_long_seed_goes_on_for_seventy_days(observed: list[Observed]) -> None:
    given = {"new": 1, "sender": "ada", "due_at": "2028-02-27T12:04:30", "timezone": "UTC"}
    series = Operation(1, "create-calendar", {**given, "repeat": "weekly"})
    outcome = _simulate(series, seed=_find_long_seed())

    runs = next(iter(observed[0].records.values())).runs
    assert len(runs) >= 10
    assert outcome.invariants["a series runs each occurrence in reach"] >= 10


def _find_long_seed() -> int:
    """Return a seed that starts in the leap year, and lasts for 70 days."""
    seeds = (SERIES_EVERY * number for number in range(1, 200))
    return next(seed for seed in seeds if starts_at(seed).year == 2028)


def test_a_listener_is_sent_the_end_and_a_missing_one_is_found(
    observed: list[Observed], monkeypatch: pytest.MonkeyPatch
) -> None:
    operations = [Operation(0.1, "listen", {}), Operation(8, "create-reminder", dict(_TASK))]
    outcome = _simulate(*operations)
    assert outcome.invariants["a listener is sent every end"] == 1
    assert any("task:delivered" in text for _, text in observed[0].listeners[0].pushed)

    from local.simulate.listener import Listener

    monkeypatch.setattr(Listener, "send", lambda _self, _text: None)
    found = simulate(Plan(3, operations, faults={})).violations
    assert {one.invariant for one in found} == {"a listener is sent every end"}


def test_a_listener_that_broke_is_removed(observed: list[Observed]) -> None:
    leaving: Mapping[str, Any] = {"seconds": 2, "is_clean": False, "message": {"action": "ping"}}
    later = Operation(15, "create-reminder", dict(_TASK))  # a new connection may be on its way
    outcome = _simulate(Operation(0.1, "listen", leaving), later)
    assert observed[0].listeners[0].replies == ['{"type":"pong"}']
    assert any("live" in line and "DeleteItem" in line for line in outcome.lines)


def test_follow_ups_are_about_the_task_before_them() -> None:
    pairs = set()
    for seed in range(1_000):
        drawn = draw_operations(Chance(seed).source("operations"), 4, seconds=90)
        first = next(one for one in drawn if "new" in one.arguments)
        names = {one.name for one in OPERATIONS[first.name].follow_ups}
        for one in drawn:
            if one.name in names and one.arguments.get("task") == first.arguments["new"]:
                pairs.add((first.name, one.name))
    assert {("create-unknown", "resolve"), ("create-to-verify", "approve")} <= pairs


def test_the_start_follows_from_the_seed() -> None:
    assert starts_at(1) == starts_at(111) == STARTS_AT
    assert len({starts_at(seed).date() for seed in range(0, 800, 8)}) > 8
    assert make_plan(16) == make_plan(16)
