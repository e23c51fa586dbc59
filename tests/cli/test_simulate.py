"""`duecourse simulate`: seeds, faults, replays, and what it finds."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from local.cli.commands.simulate import _fail_if_unexercised, _save_violations
from local.cli.errors import CommandFailedError
from local.simulate.plan import ALL_FAULTS
from local.simulate.processes import Request
from local.simulate.simulation import DEFAULT_STEPS
from local.simulate.summary import Summary
from tests.cli.command_client import CommandClient, check_error


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--seed", "many"], "--seed"),
        (["--seed", "-1"], "--seed"),
        (["--seeds", "9..1"], "--seeds"),
        (["--seeds", "7"], "--seeds"),
        (["--seed", "1", "--seeds", "1..2"], "--seeds"),
        (["--steps", "x"], "--steps"),
        (["--faults", "flood"], "--faults: unknown flood; known: answers-late,"),
        (["--replay", "nowhere.json"], "nowhere.json"),
        (["--replay", "README.md"], "--replay README.md: not JSON"),
    ],
)
def test_bad_usage_is_one_line_that_names_the_flag(
    duecourse: CommandClient, arguments: list[str], expected: str
) -> None:
    assert expected in check_error(duecourse("simulate", *arguments), code=2)


def test_a_seed_gives_the_same_trace_in_every_process(duecourse: CommandClient) -> None:
    result = duecourse("simulate", "--seeds", "3..5", "--twice", "--json")

    assert result.code == 0, result.err
    assert (result.json["seeds"], result.json["repeated"]) == (3, 3)
    assert (result.json["unrepeatable"], result.json["violations"]) == ([], {})
    assert len(set(result.json["traces"].values())) == 3
    assert sum(result.json["faults"].values()) > 3


def test_a_saved_plan_is_replayed(duecourse: CommandClient, tmp_path: Path) -> None:
    plan = {
        "seed": 1,
        "operations": [{"at": 1, "do": "create-reminder", "new": 1, "in": "5s", "sender": "ada"}],
        "faults": {"worker channel.send after 1": "crash-after"},
    }
    path = tmp_path / "plan.json"
    path.write_text(json.dumps(plan))

    result = duecourse("simulate", "--replay", str(path))

    assert result.code == 0, result.err
    assert result.out.startswith("1 seed, ")
    rows = [line.split() for line in result.out.splitlines()]
    assert ["create-reminder", "1", "1"] in rows
    assert ["crash-after", "1"] in rows


@pytest.mark.parametrize(("seeds", "is_failure"), [(999, False), (1_000, True)])
def test_what_many_seeds_never_exercised_is_a_failure(seeds: int, is_failure: bool) -> None:
    summary = Summary(traces=dict.fromkeys(range(seeds), "trace"))
    request = Request((1, seeds), None, None, DEFAULT_STEPS, ALL_FAULTS, is_repeated=False)
    # Without some faults, what they would have exercised is not missing.
    _fail_if_unexercised(summary, replace(request, faults=frozenset()))
    _fail_if_unexercised(summary, replace(request, steps=1))

    with pytest.raises(CommandFailedError) if is_failure else nullcontext() as error_info:
        _fail_if_unexercised(summary, request)

    assert not is_failure or "1,000 seeds never exercised: approve, " in str(error_info)


def test_a_violation_is_saved_and_its_command_is_in_the_json(tmp_path: Path) -> None:
    plan = {"seed": 3, "operations": [], "faults": {}, "waits": {}}
    summary = Summary(violations={3: {"plan": plan, "story": ["VIOLATED"]}})

    _save_violations(summary, tmp_path)

    path = tmp_path / "simulation-3.json"
    assert json.loads(path.read_text()) == plan
    [found] = summary.to_json()["violations"].values()
    assert found["replay"] == f"duecourse simulate --replay {path}"
