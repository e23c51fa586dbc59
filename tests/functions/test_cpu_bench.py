"""The CPU benchmark replays what was recorded, and counts the rounds after the warm-up."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any
from urllib.request import Request, urlopen

import pytest

from bench.cpu import TARGETS, WARM_UP_ROUNDS, StepCost, step_cost
from bench.loopback import Answers, Server, answer_key

GET = "DynamoDB_20120810.GetItem"


def _body(task_id: str) -> dict[str, Any]:
    return {"TableName": "tasks", "Key": {"id": {"S": task_id}}}


def _invocation(*answers: tuple[str, str]) -> dict[str, Any]:
    return {"answers": [(answer_key(GET, _body(key)), 200, reply) for key, reply in answers]}


def _find(answers: Answers, task_id: str) -> bytes:
    return answers.find(GET, json.dumps(_body(task_id)).encode())[1]


def test_a_call_gets_the_answers_of_its_own_item_in_their_order() -> None:
    answers = Answers([_invocation(("a", "1"), ("b", "2"), ("a", "3"))])
    answers.select(0)

    found = [_find(answers, key) for key in ("b", "a", "a", "a")]

    assert found == [b"2", b"1", b"3", b"3"]


def test_a_call_is_answered_from_another_invocation_if_its_own_did_not_make_it() -> None:
    answers = Answers([_invocation(("a", "1")), _invocation(("b", "2"))])
    answers.select(1)

    assert [_find(answers, "b"), _find(answers, "a")] == [b"2", b"1"]
    assert answers.select(0) == 2  # calls since the last selection


def test_an_unknown_call_is_refused() -> None:
    answers = Answers([_invocation(("a", "1"))])
    answers.select(0)

    assert answers.find("AmazonSQS.SendMessage", b"{}")[0] == 404


@pytest.fixture
def server() -> Iterator[str]:
    with Server(Answers([_invocation(("a", "1"))])) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()


def test_the_server_speaks_http(server: str) -> None:
    with urlopen(f"{server}/invocation/0") as reply:  # noqa: S310 - it is loopback
        assert reply.read() == b"0"
    request = Request(server, json.dumps(_body("a")).encode(), {"X-Amz-Target": GET})  # noqa: S310
    with urlopen(request) as reply:  # noqa: S310
        assert reply.read() == b"1"


def _run(round_number: int, function: str, seconds: float) -> dict[str, Any]:
    run = {"step": "fail", "round": round_number, "function": function}
    return {**run, "seconds": seconds, "calls": 2}


def test_a_step_is_the_median_of_the_sums_of_its_warm_rounds() -> None:
    cold = [_run(1, "WorkerFunction", 99)]
    warm = [
        _run(WARM_UP_ROUNDS + n, function, seconds)
        for n, seconds in ((1, 2.0), (2, 4.0), (3, 60.0))
        for function in ("WorkerFunction", "FailureFunction", "LiveFunction")
    ]

    cost = step_cost("fail, in all", [*cold, *warm], 2.0)

    assert (cost.ratio, cost.calls, cost.target) == (4.0, 4, TARGETS["fail, in all"])


def test_a_target_is_met_at_most_at_its_ratio() -> None:
    assert StepCost("scan", 1, 0.2, target=0.2).is_met
    assert not StepCost("scan", 1, 0.21, target=0.2).is_met
    assert StepCost("create", 1, 9).is_met
