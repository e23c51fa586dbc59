from __future__ import annotations

import pytest

from local.simulate.actor import Answer
from local.simulate.operation_success import has_succeeded
from local.simulate.operations import OPERATIONS


def answer(method: str, status: int) -> Answer:
    return Answer(method, "/tasks", status, None, was_struck=False)


@pytest.mark.parametrize(
    ("name", "answers", "expected"),
    [
        ("create-reminder", [answer("POST", 503), answer("POST", 201)], True),
        ("create-reminder", [answer("POST", 422)], False),
        ("approve", [answer("POST", 409)], False),
        ("approve", [], False),  # there was no such task
        ("read-task", [answer("GET", 200)], True),
        ("read-task", [answer("GET", 404)], False),
        ("forget-pattern", [answer("GET", 200)], False),  # there was no pattern
        ("forget-pattern", [answer("GET", 200), answer("DELETE", 204)], True),
        ("press-button", [], False),  # there was no button
        ("redeploy", [answer("deploy", 200)], True),
    ],
)
def test_an_operation_succeeds_if_its_change_is_accepted(
    name: str, answers: list[Answer], expected: bool
) -> None:
    assert has_succeeded(OPERATIONS[name], answers) is expected
