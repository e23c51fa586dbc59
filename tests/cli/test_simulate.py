"""`duecourse simulate`: seeds, faults, replays, and what it finds."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from local.cli.commands.simulate import _fail_if_unexercised, _parse_faults
from local.cli.errors import CommandFailedError
from local.simulate import processes
from local.simulate.plan import ALL_FAULTS
from local.simulate.processes import Request
from local.simulate.simulation import DEFAULT_STEPS
from local.simulate.summary import Summary
from tests.cli.command_client import CommandClient, check_error

SAVED = "tests/simulation/replays/person-denies-an-effect.json"
PLAN = {"seed": 3, "operations": [], "faults": {}, "waits": {}}
VIOLATION = {"plan": PLAN, "story": ["VIOLATED"]}


def make_summary(**values: Any) -> Summary:
    return Summary(traces={3: "trace"}, checked={3}, violations={3: {**VIOLATION}}, **values)


def return_summary(monkeypatch: pytest.MonkeyPatch, summary: Summary) -> None:
    monkeypatch.setattr(processes, "simulate_seeds", lambda *_arguments, **_options: summary)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--seed", "many"], "--seed"),
        (["--seed", "-1"], "--seed"),
        (["--seeds", "9..1"], "--seeds"),
        (["--seeds", "7"], "--seeds"),
        (["--seed", "1", "--seeds", "1..2"], "--seeds"),
        (["--steps", "x"], "--steps"),
        (["--steps", "0"], "--steps"),
        *((["--minutes", text], "--minutes") for text in ("0", "-1", "nan", "inf", "-inf", "x")),
        (["--faults", ""], "--faults: a name is empty"),
        (["--faults", "hangs,"], "--faults: a name is empty"),
        (["--faults", "hangs, flood"], "--faults: unknown flood; known"),
        (["--replay", SAVED, "--steps", "4"], "--steps cannot be used with --replay"),
        (["--replay", SAVED, "--faults", "none"], "--faults cannot be used with --replay"),
        (["--save", "README.md"], "--save README.md: File exists"),
        (["--save", "README.md/inside"], "--save README.md/inside: Not a directory"),
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
    summary = Summary(checked=set(range(seeds)))
    request = Request((1, seeds), None, None, DEFAULT_STEPS, ALL_FAULTS, is_repeated=False)
    # Without some faults, what they would have exercised is not missing.
    _fail_if_unexercised(summary, replace(request, faults=frozenset()))
    _fail_if_unexercised(summary, replace(request, steps=1))

    with pytest.raises(CommandFailedError) if is_failure else nullcontext() as error_info:
        _fail_if_unexercised(summary, request)

    assert not is_failure or "1,000 seeds never exercised: approve, " in str(error_info)


def test_a_violation_is_printed_with_its_command_and_saved(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    return_summary(monkeypatch, make_summary())
    folder = tmp_path / "a folder" / "inside"

    result = duecourse("simulate", "--json", "--save", str(folder))

    path = folder / "simulation-3.json"
    assert json.loads(path.read_text()) == PLAN
    assert result.json["violations"]["3"]["replay"] == f"duecourse simulate --replay '{path}'"
    assert (result.code, result.err) == (1, "duecourse: 1 seed violated an invariant\n")


def test_a_violation_that_cannot_be_saved_is_printed(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    return_summary(monkeypatch, make_summary())
    (tmp_path / "simulation-3.json").mkdir()

    result = duecourse("simulate", "--save", str(tmp_path))

    assert "seed 3\nVIOLATED\n" in result.out
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert "simulation-3.json cannot be saved: Is a directory" in result.err


@pytest.mark.parametrize("option", [[], ["--json"]])
def test_after_ctrl_c_the_summary_is_printed_and_violations_are_saved(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, option: list[str]
) -> None:
    return_summary(monkeypatch, make_summary(is_interrupted=True))

    result = duecourse("simulate", "--save", str(tmp_path), *option)

    assert (result.code, result.err) == (130, "")
    assert result.json["is_interrupted"] if option else result.out.startswith("1 seed, ")
    assert (tmp_path / "simulation-3.json").exists()


def test_an_error_of_a_process_fails_after_the_summary(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    error = "the simulation of seed 7 ended with an error: KeyError: 'new'"
    return_summary(monkeypatch, make_summary(errors=[error]))

    result = duecourse("simulate", "--save", str(tmp_path))

    assert result.out.startswith("1 seed, ")
    assert (tmp_path / "simulation-3.json").exists()
    assert (result.code, result.err.count("\n")) == (1, 1)
    assert f"1 seed violated an invariant; {error}" in result.err


def test_a_replay_that_did_not_reach_a_fault_fails(
    duecourse: CommandClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    missed = "fault hangs did not strike at receiver request 9 hangs"
    return_summary(monkeypatch, Summary(traces={3: "trace"}, checked={3}, unreached=[missed]))

    result = duecourse("simulate", "--replay", SAVED)

    assert (result.code, result.err) == (1, f"duecourse: --replay: {missed}\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("hangs, errs", {"hangs", "errs"}), (" none ", set()), (None, ALL_FAULTS)],
)
def test_spaces_around_names_of_faults_do_not_matter(
    text: str | None, expected: frozenset[str]
) -> None:
    assert _parse_faults(text) == expected
