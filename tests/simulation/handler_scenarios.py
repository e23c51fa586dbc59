"""A task of each built-in handler with an external effect, and the calls its worker makes.

The effect is counted where it arrives: on a loopback web server that ignores idempotency keys. A
reminder arrives in the console's outbox.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from enum import Flag, auto
from typing import Any

import pytest

from tests.support.receiver import Receiver
from tests.support.stack_client import StackClient, running_stack

FUNCTION = "lights"
INDETERMINATE_TEXT = "may or may not have happened. Check, then answer"
_TICK = timedelta(minutes=5)


class Progress(Flag):
    """What a call of the worker has achieved once it returns."""

    NONE = 0
    CLAIMED = auto()  # the run is stored
    IN_FLIGHT = auto()  # and that its effect may happen from now on
    BEFORE_SENDING = auto()  # made inside the call that has the effect, before anything is sent
    EFFECT = auto()
    RECORDED = auto()  # the effect is stored as applied
    COMMITTED = auto()


Steps = tuple[tuple[str, Progress], ...]
Behaviour = Callable[[Receiver], None]

_NO_PROGRESS = Progress.NONE
_LOAD: Steps = (("dynamodb.GetItem", _NO_PROGRESS),)
_CLAIM_AND_RESERVE: Steps = (
    ("dynamodb.GetItem", _NO_PROGRESS),  # the subject
    ("dynamodb.GetItem", _NO_PROGRESS),  # the breaker
    ("dynamodb.PutItem", Progress.CLAIMED),
    ("dynamodb.UpdateItem", _NO_PROGRESS),  # creates the budget's entry of today
    ("dynamodb.GetItem", _NO_PROGRESS),
    ("dynamodb.GetItem", _NO_PROGRESS),
    ("dynamodb.GetItem", _NO_PROGRESS),
    ("dynamodb.UpdateItem", _NO_PROGRESS),  # lists the budget among those of today
    ("dynamodb.PutItem", _NO_PROGRESS),
    ("dynamodb.GetItem", _NO_PROGRESS),
    ("dynamodb.GetItem", _NO_PROGRESS),
    ("dynamodb.UpdateItem", _NO_PROGRESS),  # reserves the cost
    ("dynamodb.PutItem", Progress.IN_FLIGHT),
)
_CALL_AND_SETTLE: Steps = (
    ("provider.call", Progress.EFFECT),
    ("secretsmanager.GetSecretValue", Progress.BEFORE_SENDING),
    ("dynamodb.GetItem", _NO_PROGRESS),  # the budget
    ("dynamodb.UpdateItem", _NO_PROGRESS),
)
_SUBJECT: Steps = (("dynamodb.GetItem", _NO_PROGRESS),)
_CLAIMED_IN_FLIGHT = Progress.CLAIMED | Progress.IN_FLIGHT
_RECORDED_AND_COMMITTED = Progress.RECORDED | Progress.COMMITTED


@dataclass(frozen=True)
class Scenario:
    type: str
    steps: Steps
    fields: Callable[[Receiver], Mapping[str, Any]]
    answer: bytes = b""
    is_idempotent: bool = False

    @property
    def calls(self) -> list[str]:
        return [call for call, _ in self.steps]

    def configure(self, receiver: Receiver) -> None:
        receiver.answer(200, self.answer)

    def index_of(self, progress: Progress) -> int:
        return next(index for index, (_, achieved) in enumerate(self.steps) if progress in achieved)

    @property
    def final_status(self) -> str:
        return "delivered" if self.type == "reminder" else "completed"


def _completion(text: str) -> bytes:
    """Return a response of OpenAI's chat completions."""
    choice = {"message": {"content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    return json.dumps({"model": "gpt-5-mini", "choices": [choice], "usage": usage}).encode()


def _provider_fields(receiver: Receiver, **more: Any) -> dict[str, Any]:
    payload = {"provider": "openai", "endpoint": receiver.url(""), "budget": "llm", **more}
    return {"subject": "story-1", "policy": "enrichment", "payload": payload}


REMINDER = Scenario(
    "reminder",
    (
        ("dynamodb.GetItem", _NO_PROGRESS),  # the quiet hours
        ("dynamodb.UpdateItem", _CLAIMED_IN_FLIGHT),
        ("channel.send", Progress.EFFECT),
        ("dynamodb.PutItem", _RECORDED_AND_COMMITTED),
    ),
    lambda _: {},
    is_idempotent=True,
)
WEBHOOK = Scenario(
    "webhook",
    (
        *_LOAD,
        ("dynamodb.PutItem", _CLAIMED_IN_FLIGHT),
        ("secretsmanager.GetSecretValue", _NO_PROGRESS),
        ("http.post", Progress.EFFECT),
        ("dynamodb.PutItem", _RECORDED_AND_COMMITTED),
    ),
    lambda receiver: {"payload": {"url": receiver.url("/hook")}},
)
LAMBDA = Scenario(
    "lambda",
    (
        *_LOAD,
        ("dynamodb.PutItem", _CLAIMED_IN_FLIGHT),
        ("lambda.Invoke", Progress.EFFECT),
        ("dynamodb.PutItem", _RECORDED_AND_COMMITTED),
    ),
    lambda _: {"payload": {"function": FUNCTION, "input": {"lamp": "hall"}}},
    answer=b'"on"',
)
ACTION = Scenario(
    "action",
    (
        *_LOAD,
        *_CLAIM_AND_RESERVE,
        *_CALL_AND_SETTLE,
        *_SUBJECT,
        ("dynamodb.TransactWriteItems", _RECORDED_AND_COMMITTED),
    ),
    _provider_fields,
    answer=_completion("I did it.\nACTION_OUTCOME: success"),
)
ENRICH = Scenario(
    "enrich",
    (
        *_LOAD,
        *_CLAIM_AND_RESERVE,
        *_CALL_AND_SETTLE,
        ("dynamodb.PutItem", Progress.RECORDED),
        ("channel.send", _NO_PROGRESS),  # sends the answer
        *_SUBJECT,
        ("dynamodb.TransactWriteItems", Progress.COMMITTED),
    ),
    lambda receiver: _provider_fields(receiver, tell=True, schema={"type": "object"}),
    answer=_completion('{"city": "Paris"}'),
    is_idempotent=True,
)
SCENARIOS = (REMINDER, WEBHOOK, LAMBDA, ACTION, ENRICH)
# Repeating these is harmful: if the outcome is unknown, a person is asked.
NOT_IDEMPOTENT = (WEBHOOK, LAMBDA, ACTION)


@dataclass(frozen=True)
class CallPoint:
    """A point before or after one call of the worker."""

    scenario: Scenario
    index: int
    when: str

    def __str__(self) -> str:
        return f"{self.scenario.type}-{self.when}-{self.call}-{self.nth}"

    @property
    def call(self) -> str:
        return self.scenario.calls[self.index]

    @property
    def nth(self) -> int:
        return self.scenario.calls[: self.index + 1].count(self.call)

    def has_passed(self, progress: Progress) -> bool:
        """Whether the call that achieves this lies before the point."""
        index = self.scenario.index_of(progress)
        return self.index > index or (self.index == index and self.when == "after")

    @property
    def has_sent(self) -> bool:
        """Whether the effect happened: it comes at the end of its call, after all inner calls."""
        is_inside = Progress.BEFORE_SENDING in self.scenario.steps[self.index][1]
        return self.has_passed(Progress.EFFECT) and not is_inside

    @property
    def is_indeterminate(self) -> bool:
        return self.has_passed(Progress.IN_FLIGHT) and not self.has_passed(Progress.RECORDED)


def list_points(scenario: Scenario) -> list[CallPoint]:
    """Return the points before and after each call, in order."""
    indexes = range(len(scenario.steps))
    return [CallPoint(scenario, index, when) for index in indexes for when in ("before", "after")]


def point_after_effect(scenario: Scenario) -> CallPoint:
    return CallPoint(scenario, scenario.index_of(Progress.EFFECT), "after")


class Harness:
    """One scenario in an empty system: creates the task, plants faults, reads the results."""

    def __init__(self, client: StackClient, scenario: Scenario, receiver: Receiver) -> None:
        self.client = client
        self.scenario = scenario
        self.receiver = receiver
        self.task_id = ""

    def create(self) -> None:
        """Create the task, due in ten seconds, at a fixed distance from the scheduled ticks."""
        now = self.client.stack.clock.now()
        since_tick = now - now.replace(minute=now.minute // 5 * 5, second=0, microsecond=0)
        self.client.stack.advance(_TICK - since_tick + timedelta(seconds=5))
        fields = {"type": self.scenario.type, "in": "10s", **self.scenario.fields(self.receiver)}
        self.task_id = str(self.client.create(**fields)["id"])

    def crash_at(self, point: CallPoint) -> None:
        self.fault(point.call, nth=point.nth, when=point.when)

    def fault(self, call: str, *, function: str = "worker", **how: Any) -> None:
        self.client.add_fault(function=function, call=call, **how)

    def resolve(self, outcome: str) -> None:
        target = f"/tasks/{self.task_id}/resolve"
        answer = self.client.call("POST", target, {"outcome": outcome})
        assert answer.status == 200, answer.body

    @property
    def effects(self) -> int:
        if self.scenario is REMINDER:
            return sum(text.startswith("Reminder: ") for text in self.texts)
        return len(self.receiver.requests)

    @property
    def task(self) -> dict[str, Any]:
        return self.client.task(self.task_id)

    @property
    def status(self) -> str:
        return str(self.task["status"])

    @property
    def runs(self) -> list[dict[str, Any]]:
        return self.client.items(f"/tasks/{self.task_id}/runs")

    @property
    def history(self) -> list[str]:
        return [event["type"] for event in self.client.items(f"/tasks/{self.task_id}/history")]

    @property
    def texts(self) -> list[str]:
        return [sent["text"] for sent in self.client.outbox()]

    @property
    def prompt_count(self) -> int:
        """How often the owner was asked for the outcome.

        The operators get the same question below a line of their own.
        """
        return sum(INDETERMINATE_TEXT in text.partition("\n")[0] for text in self.texts)


def outcomes_of(runs: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    return [(run["status"], run["mutation"]["status"]) for run in runs]


def assert_one_chain(runs: list[dict[str, Any]], *reasons: str) -> None:
    """Check that each run retries the one before it, all with the key of the first."""
    assert [run["attempt"] for run in runs] == list(range(1, len(runs) + 1))
    assert [run["retry_of"] for run in runs] == [None, *(run["id"] for run in runs[:-1])]
    assert [run["reason"] for run in runs] == list(reasons)
    assert {run["mutation"]["key"] for run in runs} == {runs[0]["id"]}


@contextmanager
def running_stack_with_lambda() -> Iterator[StackClient]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAMBDA_FUNCTIONS", FUNCTION)
        with running_stack() as client:
            yield client


@contextmanager
def start_scenario(
    client: StackClient, scenario: Scenario, *, behaves: Behaviour | None = None
) -> Iterator[Harness]:
    """Start the scenario. `behaves` replaces the receiver's normal response."""
    with pytest.MonkeyPatch.context() as patch, Receiver() as receiver:
        (behaves or scenario.configure)(receiver)
        patch.setenv("AWS_ENDPOINT_URL_LAMBDA", receiver.url(""))
        assert client.call("POST", "/_local/reset").status == 200
        harness = Harness(client, scenario, receiver)
        harness.create()
        yield harness
        client.stack.calls.before_call = None
        client.stack.calls.latency = 0.0
