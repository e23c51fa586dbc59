"""Tasks executed by a Lambda function: the request, and how its response is read."""

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
    """Records the calls, and gives the same response to each."""

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


def a_context(*, left: timedelta = MINUTE, **payload: Any) -> RunContext:
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
def test_a_valid_payload_is_accepted(payload: dict[str, Any]) -> None:
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
def test_an_invalid_payload_is_rejected_with_its_key(payload: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=":") as refused:
        check_payload({"function": "resize", **payload}, a_handler(Functions()))
    assert str(refused.value).startswith(message)


def test_the_error_says_that_no_function_is_allowed() -> None:
    handler = LambdaHandler(Functions(), ManualClock(NOW), frozenset())
    with pytest.raises(ValueError, match="function: must be one of: none is configured"):
        handler.check({"function": "resize"})


def test_the_function_receives_its_input_and_the_idempotency_key() -> None:
    functions = Functions()
    mutate(functions, a_context(input={"é": [1]}))
    name, sent, _ = functions.call
    assert name == "resize"
    assert sent == {"input": {"é": [1]}, "task_id": ID, "key": "key-1", "attempt": 2}


def test_the_response_of_the_function_is_the_result() -> None:
    assert mutate(Functions({"done": [True, None]}), a_context()) == {"done": [True, None]}


@pytest.mark.parametrize(
    ("payload", "left", "timeout"),
    [
        ({}, MINUTE, 30 * SECOND),
        ({"timeout": 45}, MINUTE, 45 * SECOND),
        ({"timeout": 45}, 20 * SECOND, 20 * SECOND),
        ({"timeout": 1}, SECOND, SECOND),
    ],
)
def test_the_timeout_is_the_shorter_of_payload_and_lease(
    payload: dict[str, Any], left: timedelta, timeout: timedelta
) -> None:
    functions = Functions()
    mutate(functions, a_context(left=left, **payload))
    assert functions.call[2] == timeout


def test_without_remaining_time_no_function_is_called() -> None:
    functions = Functions()
    with pytest.raises(LeaseLostError):
        mutate(functions, a_context(left=0.9 * SECOND))
    assert functions.calls == []


def test_a_function_that_is_no_longer_allowed_is_not_called() -> None:
    functions = Functions()
    with pytest.raises(
        NotConfiguredError, match="the function wipe is not configured in this deployment"
    ):
        mutate(functions, a_context(function="wipe"))
    assert functions.calls == []


def test_an_error_is_raised_unchanged() -> None:
    error = FailedError()
    with pytest.raises(FailedError) as failed:
        mutate(Functions(error=error), a_context())
    assert failed.value is error


@pytest.mark.parametrize(
    ("payload", "policy"),
    [
        ({}, IndeterminatePolicy.ASK_PERSON),
        ({"idempotent": True}, IndeterminatePolicy.REPEAT),
    ],
)
def test_a_lost_call_is_repeated_only_if_idempotent(
    payload: dict[str, Any], policy: IndeterminatePolicy
) -> None:
    capabilities = capabilities_of(a_handler(Functions()), a_context(**payload).task)
    assert capabilities == HandlerCapabilities(indeterminate_policy=policy)


# A type of its own, phase by phase


def remote(functions: Functions, **options: Any) -> RemoteHandler:
    return remote_handler("bill", functions, ManualClock(NOW), **options)


def test_secrets_in_a_response_are_not_stored() -> None:
    functions = Functions({"id": 7, "login": {"password": "hunter22"}, "log": ["token=hunter22"]})
    expected = {"id": 7, "login": {"password": "[redacted]"}, "log": ["token=[redacted]"]}
    assert mutate(functions, a_context()) == expected


@pytest.mark.parametrize("phase", ["prepare", "mutate", "emit", "reconcile"])
def test_each_phase_is_sent_with_the_full_context(phase: str) -> None:
    functions = Functions({"applied": None})
    work = a_context()
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


def test_a_phase_gets_the_secrets_of_the_payload_unmasked() -> None:
    functions, work = Functions(), a_context(password="hunter22")
    assert task_to_json(work.task)["payload"]["password"] == "[redacted]"
    remote(functions).mutate(work)
    assert functions.call[1]["task"]["payload"]["password"] == "hunter22"


@pytest.mark.parametrize("phase", ["prepare", "mutate"])
def test_the_response_of_a_phase_is_its_result(phase: str) -> None:
    assert getattr(remote(Functions([1])), phase)(a_context()) == [1]


@pytest.mark.parametrize(
    ("answer", "finding"),
    [
        ({"applied": True, "result": {"id": 1}}, Applied({"id": 1})),
        ({"applied": True}, Applied(None)),
        ({"applied": False}, NotApplied()),
        ({"applied": None}, Unknown()),
    ],
)
def test_a_function_can_reconcile(answer: Any, finding: Any) -> None:
    assert remote(Functions(answer)).reconcile(a_context()) == finding


@pytest.mark.parametrize(
    "answer", [None, {}, {"applied": "yes"}, {"applied": 1}, {"applied": 0}, []]
)
def test_an_invalid_reconcile_result_is_an_error_of_the_function(answer: Any) -> None:
    with pytest.raises(InvalidReconcileResultError, match="bill must answer") as failed:
        remote(Functions(answer)).reconcile(a_context())
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
def test_the_capabilities_follow_from_the_phases(
    phases: set[str], capabilities: HandlerCapabilities
) -> None:
    handler = remote(Functions(), phases=frozenset(phases))
    assert capabilities_of(handler, a_context().task) == capabilities


def test_all_phases_are_enabled_by_default() -> None:
    handler = remote(Functions())
    every = HandlerCapabilities(
        has_prepare=True, has_emit=True, indeterminate_policy=IndeterminatePolicy.RECONCILE
    )
    assert capabilities_of(handler, a_context().task) == every


def test_a_disabled_phase_calls_no_function() -> None:
    functions = Functions()
    handler: Handler = remote(functions, phases=frozenset({"mutate"}))
    assert (handler.prepare(a_context()), handler.reconcile(a_context())) == (None, Unknown())
    assert functions.calls == []


def test_two_handlers_do_not_share_their_phases() -> None:
    first = remote(Functions(), phases=frozenset({"mutate", "emit"}))
    second = remote(Functions(), phases=frozenset({"mutate"}))
    task = a_context().task
    assert (capabilities_of(first, task).has_emit, capabilities_of(second, task).has_emit) == (
        True,
        False,
    )


@pytest.mark.parametrize("phases", [set(), {"prepare"}, {"mutate", "check"}])
def test_invalid_phases_are_rejected(phases: set[str]) -> None:
    with pytest.raises(ValueError, match="phases: must be mutate"):
        remote(Functions(), phases=frozenset(phases))


def test_a_type_can_be_declared_idempotent() -> None:
    handler = remote(Functions(), phases=frozenset({"mutate"}), idempotent=True)
    assert (
        capabilities_of(handler, a_context().task).indeterminate_policy
        is IndeterminatePolicy.REPEAT
    )


def test_the_timeout_of_a_phase_is_bounded_by_its_type() -> None:
    functions = Functions()
    remote(functions, timeout=5 * SECOND).mutate(a_context())
    assert functions.call[2] == 5 * SECOND
