from __future__ import annotations

import json

import pytest

from local.simulate.plan import InvalidPlanError, plan_from_text
from local.simulate.simulation import make_plan


def test_a_saved_plan_is_read_as_it_was() -> None:
    plan = make_plan(7).with_faults({"worker sqs.SendMessage after 2": "lost-response"})
    with_waits = plan.with_waits({"worker sqs.SendMessage after 1": 1.5})

    assert plan_from_text(json.dumps(plan.to_json())) == plan
    assert plan_from_text(json.dumps(with_waits.to_json())) == with_waits


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
