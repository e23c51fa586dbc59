"""Work that another function does: what it is sent, and what becomes of its answer."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.errors import LeaseLostError, NotConfiguredError
from duecourse.domain.origin import Effect, Origin
from duecourse.domain.requests.json import task_to_json
from duecourse.domain.tasks.handler import (
    Applied,
    Handler,
    HandlerCapabilities,
    NotApplied,
    RunContext,
    Unknown,
    capabilities_of,
    check_payload,
)
from duecourse.domain.tasks.run import IndeterminatePolicy
from duecourse.handlers.lambda_function import (
    InvalidReconcileResultError,
    LambdaHandler,
    RemoteHandler,
    remote_handler,
)

from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.tasks import ID, a_task, claim_task
from tests.support.fakes.clock import ManualClock

SECOND = timedelta(seconds=1)
ALLOWED = frozenset({"resize", "arn:aws:lambda:eu-west-1:1:function:bill"})


class FailedError(Exception):
    effect = Effect.UNKNOWN


class Functions:
    """Remembers the calls, and answers all of them alike."""

    def __init__(self, answer: Any = None, error: Exception | None = None) -> None:
        self.calls: list[tuple[str, Any, timedelta]] = []
        self._answer = answer
        self._error = error

    def invoke(self, function: str, payload: bytes, *, timeout: timedelta) -> bytes:
        self.calls.append((function, json.loads(payload), timeout))
        if self._error:
            raise self._error
        return json.dumps(self._answer).encode()

    @property
    def call(self) -> tuple[str, Any, timedelta]:
        [call] = self.calls
        return call


def some_work(*, left: timedelta = MINUTE, **payload: Any) -> RunContext:
    task = claim_task(a_task(type="lambda", payload={"function": "resize", **payload}))
    return RunContext(
        task=task, idempotency_key="key-1", attempt=2, run_id="run-1", deadline=NOW + left
    )


def a_handler(functions: Functions) -> LambdaHandler:
    return LambdaHandler(functions, ManualClock(NOW), ALLOWED)


def mutate(functions: Functions, work: RunContext) -> Any:
    return a_handler(functions).mutate(work)


# A task that names its function


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"function": "arn:aws:lambda:eu-west-1:1:function:bill"},
        {"input": None},
        {"input": [1], "timeout": 1, "idempotent": True},
        {"timeout": 45, "verifier": {"provider": "x"}, "spec": "s"},
    ],
)
def test_a_payload_that_makes_sense_is_taken(payload: dict[str, Any]) -> None:
    check_payload({"function": "resize", **payload}, a_handler(Functions()))


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (
            {"function": "wipe"},
            "function: must be one of: arn:aws:lambda:eu-west-1:1:function:bill",
        ),
        ({"function": None}, "function: must be one of: "),
        ({"function": ["resize"]}, "function: must be one of: "),
        ({"timeout": 0}, "timeout: must be a whole number from 1 to 45"),
        ({"timeout": 46}, "timeout: must be a whole number from 1 to 45"),
        ({"timeout": 1.5}, "timeout: must be a whole number from 1 to 45"),
        ({"timeout": None}, "timeout: must be a whole number from 1 to 45"),
        ({"Input": 1}, "Input: unknown key; allowed keys: function, input, "),
    ],
)
def test_a_payload_that_is_wrong_is_refused_by_its_key(
    payload: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=":") as refused:
        check_payload({"function": "resize", **payload}, a_handler(Functions()))
    assert str(refused.value).startswith(message)


def test_where_no_function_may_be_called_that_is_said() -> None:
    handler = LambdaHandler(Functions(), ManualClock(NOW), frozenset())
    with pytest.raises(ValueError, match="function: must be one of: none is configured"):
        handler.check({"function": "resize"})


def test_the_function_gets_its_input_and_what_makes_a_repeat_harmless() -> None:
    functions = Functions()
    mutate(functions, some_work(input={"é": [1]}))
    name, sent, _ = functions.call
    assert name == "resize"
    assert sent == {"input": {"é": [1]}, "task_id": ID, "key": "key-1", "attempt": 2}


def test_what_the_function_answers_is_the_result() -> None:
    assert mutate(Functions({"done": [True, None]}), some_work()) == {"done": [True, None]}


@pytest.mark.parametrize(
    ("payload", "left", "timeout"),
    [
        ({}, MINUTE, 30 * SECOND),
        ({"timeout": 45}, MINUTE, 45 * SECOND),
        ({"timeout": 45}, 20 * SECOND, 20 * SECOND),
        ({"timeout": 1}, SECOND, SECOND),
    ],
)
def test_a_call_takes_no_longer_than_asked_for_nor_than_the_lease(
    payload: dict[str, Any], left: timedelta, timeout: timedelta
) -> None:
    functions = Functions()
    mutate(functions, some_work(left=left, **payload))
    assert functions.call[2] == timeout


def test_without_any_time_left_nothing_is_called() -> None:
    functions = Functions()
    with pytest.raises(LeaseLostError):
        mutate(functions, some_work(left=0.9 * SECOND))
    assert functions.calls == []


def test_a_function_that_may_not_be_called_any_more_is_not() -> None:
    functions = Functions()
    with pytest.raises(
        NotConfiguredError, match="the function wipe is not configured in this deployment"
    ):
        mutate(functions, some_work(function="wipe"))
    assert functions.calls == []


def test_an_error_passes_as_it_is() -> None:
    error = FailedError()
    with pytest.raises(FailedError) as failed:
        mutate(Functions(error=error), some_work())
    assert failed.value is error


@pytest.mark.parametrize(
    ("payload", "in_doubt"),
    [
        ({}, IndeterminatePolicy.ASK_PERSON),
        ({"idempotent": True}, IndeterminatePolicy.REPEAT),
    ],
)
def test_a_call_that_was_lost_is_repeated_only_where_that_is_harmless(
    payload: dict[str, Any], in_doubt: IndeterminatePolicy
) -> None:
    capabilities = capabilities_of(a_handler(Functions()), some_work(**payload).task)
    assert capabilities == HandlerCapabilities(indeterminate_policy=in_doubt)


# A type of its own, phase by phase


def remote(functions: Functions, **options: Any) -> RemoteHandler:
    return remote_handler("bill", functions, ManualClock(NOW), **options)


@pytest.mark.parametrize("phase", ["prepare", "mutate", "emit", "reconcile"])
def test_each_phase_is_sent_with_all_that_is_known(phase: str) -> None:
    functions = Functions({"applied": None})
    work = some_work()
    work.prepared, work.result = {"p": 1}, {"r": 2}
    getattr(remote(functions), phase)(work)
    name, sent, timeout = functions.call
    assert (name, timeout) == ("bill", 30 * SECOND)
    assert sent == {
        "phase": phase,
        "task": task_to_json(work.task),
        "key": "key-1",
        "attempt": 2,
        "prepared": {"p": 1},
        "result": {"r": 2},
    }


@pytest.mark.parametrize("phase", ["prepare", "mutate"])
def test_what_a_phase_answers_is_what_it_returns(phase: str) -> None:
    assert getattr(remote(Functions([1])), phase)(some_work()) == [1]


@pytest.mark.parametrize(
    ("answer", "finding"),
    [
        ({"applied": True, "result": {"id": 1}}, Applied({"id": 1})),
        ({"applied": True}, Applied(None)),
        ({"applied": False}, NotApplied()),
        ({"applied": None}, Unknown()),
    ],
)
def test_a_function_finds_out_whether_it_did_its_work(answer: Any, finding: Any) -> None:
    assert remote(Functions(answer)).reconcile(some_work()) == finding


@pytest.mark.parametrize(
    "answer", [None, {}, {"applied": "yes"}, {"applied": 1}, {"applied": 0}, []]
)
def test_a_finding_that_is_none_is_the_functions_mistake(answer: Any) -> None:
    with pytest.raises(InvalidReconcileResultError, match="bill must answer") as failed:
        remote(Functions(answer)).reconcile(some_work())
    assert failed.value.origin is Origin.LOGIC


@pytest.mark.parametrize(
    ("phases", "capabilities"),
    [
        ({"mutate"}, HandlerCapabilities(indeterminate_policy=IndeterminatePolicy.ASK_PERSON)),
        (
            {"prepare", "mutate"},
            HandlerCapabilities(
                has_prepare=True, indeterminate_policy=IndeterminatePolicy.ASK_PERSON
            ),
        ),
        (
            {"mutate", "emit"},
            HandlerCapabilities(has_emit=True, indeterminate_policy=IndeterminatePolicy.ASK_PERSON),
        ),
        (
            {"mutate", "reconcile"},
            HandlerCapabilities(indeterminate_policy=IndeterminatePolicy.RECONCILE),
        ),
    ],
)
def test_the_engine_knows_which_phases_there_are(
    phases: set[str], capabilities: HandlerCapabilities
) -> None:
    handler = remote(Functions(), phases=frozenset(phases))
    assert capabilities_of(handler, some_work().task) == capabilities


def test_unless_told_otherwise_there_are_all_phases() -> None:
    handler = remote(Functions())
    every = HandlerCapabilities(
        has_prepare=True, has_emit=True, indeterminate_policy=IndeterminatePolicy.RECONCILE
    )
    assert capabilities_of(handler, some_work().task) == every


def test_a_phase_that_is_not_there_calls_nobody() -> None:
    functions = Functions()
    handler: Handler = remote(functions, phases=frozenset({"mutate"}))
    assert (handler.prepare(some_work()), handler.reconcile(some_work())) == (None, Unknown())
    assert functions.calls == []


def test_two_handlers_do_not_share_their_phases() -> None:
    first = remote(Functions(), phases=frozenset({"mutate", "emit"}))
    second = remote(Functions(), phases=frozenset({"mutate"}))
    task = some_work().task
    assert (capabilities_of(first, task).has_emit, capabilities_of(second, task).has_emit) == (
        True,
        False,
    )


@pytest.mark.parametrize("phases", [set(), {"prepare"}, {"mutate", "check"}])
def test_phases_that_make_no_sense_are_refused(phases: set[str]) -> None:
    with pytest.raises(ValueError, match="phases: must be mutate"):
        remote(Functions(), phases=frozenset(phases))


def test_a_repeat_may_be_harmless_for_a_whole_type() -> None:
    handler = remote(Functions(), phases=frozenset({"mutate"}), idempotent=True)
    assert (
        capabilities_of(handler, some_work().task).indeterminate_policy
        is IndeterminatePolicy.REPEAT
    )


def test_a_phase_has_no_more_time_than_its_type() -> None:
    functions = Functions()
    remote(functions, timeout=5 * SECOND).mutate(some_work())
    assert functions.call[2] == 5 * SECOND
