from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from local.simulate.faults import LAMBDA_TIMEOUT
from local.simulate.saved_plan import InvalidPlanError, plan_from_text
from local.simulate.simulation import make_plan

REPLAYS = sorted(Path("tests/simulation/replays").glob("*.json"))
REMINDER = {"at": 1, "do": "create-reminder", "new": 1, "in": "5s", "sender": "ada"}
SEND = "worker channel.send"


def make_text(**fields: Any) -> str:
    return json.dumps({"seed": 1, "operations": [], **fields})


def test_a_saved_plan_is_read_as_it_was() -> None:
    plan = make_plan(7).with_faults({"worker sqs.SendMessage after 2": "lost-response"})
    with_waits = plan.with_waits({"worker sqs.SendMessage after 1": 1.5})

    assert plan_from_text(json.dumps(plan.to_json())) == plan
    assert plan_from_text(json.dumps(with_waits.to_json())) == with_waits


@pytest.mark.parametrize("path", REPLAYS, ids=lambda path: path.stem)
def test_the_plans_of_the_regression_tests_are_read(path: Path) -> None:
    assert plan_from_text(path.read_text()).seed > 0


def test_every_drawn_plan_can_be_saved_and_read() -> None:
    plans = [make_plan(seed, steps=6) for seed in range(150)]

    assert [plan_from_text(json.dumps(one.to_json())).operations for one in plans] == [
        one.operations for one in plans
    ]


def test_an_invocation_may_time_out_before_a_call_and_after_it() -> None:
    faults = {f"{SEND} before 1": LAMBDA_TIMEOUT, f"{SEND} after 2": LAMBDA_TIMEOUT}

    assert plan_from_text(make_text(faults=faults)).faults == faults


def test_a_plan_from_before_waits_were_saved_draws_them() -> None:
    assert plan_from_text('{"seed": 1, "operations": [], "faults": {}}').waits is None


def test_the_plan_of_a_seed_is_always_the_same() -> None:
    assert make_plan(7) == make_plan(7)
    assert make_plan(7) != make_plan(8)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "not JSON"),
        ("[]", "seed"),
        ("[" * 100_000, "not JSON"),
        ('{"seed": ' + "1" * 5_000 + "}", "not JSON"),
        ('{"seed": "1", "operations": []}', "seed"),
        ('{"seed": 1}', "operations"),
        ('{"seed": 1, "operations": [{"do": "run"}]}', "operations[0].at"),
        ('{"seed": 1, "operations": [{"at": 1, "do": "fly"}]}', "operations[0].do"),
        ('{"seed": 1, "operations": [], "faults": []}', "faults"),
        ('{"seed": 1, "operations": [], "faults": {"a": "flood"}}', "faults"),
        ('{"seed": 1, "operations": [], "waits": []}', "waits"),
        ('{"seed": 1, "operations": [], "waits": {"a": "1"}}', "waits"),
        ('{"seed": 1, "operations": [], "waits": {"a": -1}}', "waits"),
        ('{"seed": 1, "operations": [], "waits": {"a": Infinity}}', "waits"),
    ],
)
def test_an_invalid_plan_names_the_field(text: str, expected: str) -> None:
    with pytest.raises(InvalidPlanError) as error_info:
        plan_from_text(text)

    assert expected in str(error_info.value)


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"steps": 4}, "steps: unknown field"),
        ({"seed": True}, "seed: "),
        ({"seed": -1}, "seed: "),
        ({"seed": 10**12}, "seed: "),
        ({"operations": ["run"]}, "operations[0]: "),
        ({"operations": [REMINDER, {**REMINDER, "at": True}]}, "operations[1].at: "),
        ({"operations": [{**REMINDER, "at": float("nan")}]}, "operations[0].at: "),
        ({"operations": [{**REMINDER, "at": float("inf")}]}, "operations[0].at: "),
        ({"operations": [{**REMINDER, "at": -1}]}, "operations[0].at: "),
        ({"operations": [{**REMINDER, "at": 90_000}]}, "operations[0].at: "),
        ({"operations": [{**REMINDER, "do": ["run"]}]}, "operations[0].do: "),
        ({"operations": [{**REMINDER, "task": 1}]}, "operations[0].task: no argument of create-"),
        ({"operations": [{"at": 1, "do": "cancel"}]}, "operations[0].task: cancel needs this"),
        ({"faults": {"a": ["crash-after"]}}, 'faults["a"]: must be one of '),
        ({"faults": {"a": "crash-after"}}, 'faults["a"]: '),
        ({"faults": {f"{SEND} before 1": "crash-after"}}, f'faults["{SEND} before 1"]: '),
        ({"faults": {f"{SEND} after": "crash-after"}}, f'faults["{SEND} after"]: '),
        ({"faults": {f"{SEND} after 0": "crash-after"}}, f'faults["{SEND} after 0"]: '),
        ({"faults": {f"{SEND} after 1": "hangs"}}, "must end with hangs"),
        ({"faults": {"hangs": "hangs"}}, 'faults["hangs"]: '),
        ({"waits": {"a": True}}, 'waits["a"]: '),
        ({"waits": {"a": float("nan")}}, 'waits["a"]: '),
        ({"waits": {"a": 1e300}}, 'waits["a"]: '),
    ],
)
def test_a_wrong_value_names_the_field(fields: dict[str, Any], expected: str) -> None:
    with pytest.raises(InvalidPlanError) as error_info:
        plan_from_text(make_text(**fields))

    assert expected in str(error_info.value)
    assert "\n" not in str(error_info.value)
