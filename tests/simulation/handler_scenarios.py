"""A task of each shipped handler whose effect lands outside, and the calls that its worker makes.

The effect is counted where it lands: on a web server on the loopback, which honours no key. A
reminder lands in the console's outbox.
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
IN_DOUBT = "It may or may not have happened"
_TICK = timedelta(minutes=5)


class Mark(Flag):
    """What is so once a call has been made."""

    NOTHING = 0
    CLAIMED = auto()  # the run is written down
    IN_FLIGHT = auto()  # and that its effect may happen from now on
    BEFORE_SENDING = auto()  # made inside the call that has the effect, before anything is sent
    EFFECT = auto()
    KNOWN = auto()  # the effect is written down as applied
    COMMITTED = auto()


Steps = tuple[tuple[str, Mark], ...]
Behaviour = Callable[[Receiver], None]

_PLAIN = Mark.NOTHING
_ON_THE_WAY: Steps = (
    ("dynamodb.GetItem", _PLAIN),  # the task
    ("sqs.SendMessageBatch", _PLAIN),  # what may take long goes to the slow lane
    ("dynamodb.GetItem", _PLAIN),
)
_CLAIMED_AND_RESERVED: Steps = (
    ("dynamodb.GetItem", _PLAIN),  # the subject
    ("dynamodb.GetItem", _PLAIN),  # the breakers
    ("dynamodb.PutItem", Mark.CLAIMED),
    ("dynamodb.UpdateItem", _PLAIN),  # the budget has no entry for today yet: one is made
    ("dynamodb.GetItem", _PLAIN),
    ("dynamodb.GetItem", _PLAIN),
    ("dynamodb.GetItem", _PLAIN),
    ("dynamodb.UpdateItem", _PLAIN),  # its name is among those of the day
    ("dynamodb.PutItem", _PLAIN),
    ("dynamodb.GetItem", _PLAIN),
    ("dynamodb.GetItem", _PLAIN),
    ("dynamodb.UpdateItem", _PLAIN),  # the money is held
    ("dynamodb.PutItem", Mark.IN_FLIGHT),
)
_ASKED_AND_PAID: Steps = (
    ("provider.call", Mark.EFFECT),
    ("secretsmanager.GetSecretValue", Mark.BEFORE_SENDING),
    ("dynamodb.GetItem", _PLAIN),  # the budget
    ("dynamodb.UpdateItem", _PLAIN),
)
_SUBJECT: Steps = (("dynamodb.GetItem", _PLAIN),)
_BREAKERS: Steps = (("dynamodb.GetItem", _PLAIN),)
_AT_ONCE = Mark.CLAIMED | Mark.IN_FLIGHT
_AT_LAST = Mark.KNOWN | Mark.COMMITTED


@dataclass(frozen=True)
class Scenario:
    type: str
    steps: Steps
    fields: Callable[[Receiver], Mapping[str, Any]]
    answer: bytes = b""
    is_harmless: bool = False

    @property
    def calls(self) -> list[str]:
        return [call for call, _ in self.steps]

    def answers(self, receiver: Receiver) -> None:
        receiver.answer(200, self.answer)

    def place_of(self, mark: Mark) -> int:
        return next(place for place, (_, marks) in enumerate(self.steps) if mark in marks)

    @property
    def done(self) -> str:
        return "delivered" if self.type == "reminder" else "completed"


def _said(text: str) -> bytes:
    """An answer of OpenAI's chat completions."""
    choice = {"message": {"content": text}, "finish_reason": "stop"}
    usage = {"prompt_tokens": 3, "completion_tokens": 4}
    return json.dumps({"model": "gpt-5-mini", "choices": [choice], "usage": usage}).encode()


def _asks(receiver: Receiver, **more: Any) -> dict[str, Any]:
    payload = {"provider": "openai", "endpoint": receiver.url(""), "budget": "llm", **more}
    return {"subject": "story-1", "payload": payload}


REMINDER = Scenario(
    "reminder",
    (
        ("dynamodb.GetItem", _PLAIN),
        ("dynamodb.GetItem", _PLAIN),  # who has quiet hours
        ("dynamodb.PutItem", _AT_ONCE),
        ("channel.send", Mark.EFFECT),
        ("dynamodb.PutItem", _AT_LAST),
    ),
    lambda _: {},
    is_harmless=True,
)
WEBHOOK = Scenario(
    "webhook",
    (
        *_ON_THE_WAY,
        ("dynamodb.PutItem", _AT_ONCE),
        ("secretsmanager.GetSecretValue", _PLAIN),
        ("http.post", Mark.EFFECT),
        ("dynamodb.PutItem", _AT_LAST),
    ),
    lambda receiver: {"payload": {"url": receiver.url("/hook")}},
)
LAMBDA = Scenario(
    "lambda",
    (
        *_ON_THE_WAY,
        ("dynamodb.PutItem", _AT_ONCE),
        ("lambda.Invoke", Mark.EFFECT),
        ("dynamodb.PutItem", _AT_LAST),
    ),
    lambda _: {"payload": {"function": FUNCTION, "input": {"lamp": "hall"}}},
    answer=b'"on"',
)
ACTION = Scenario(
    "action",
    (
        *_ON_THE_WAY,
        *_CLAIMED_AND_RESERVED,
        *_ASKED_AND_PAID,
        *_SUBJECT,
        ("dynamodb.TransactWriteItems", _AT_LAST),
        *_BREAKERS,
    ),
    _asks,
    answer=_said("I did it.\nACTION_OUTCOME: success"),
)
ENRICH = Scenario(
    "enrich",
    (
        *_ON_THE_WAY,
        *_CLAIMED_AND_RESERVED,
        *_ASKED_AND_PAID,
        ("dynamodb.PutItem", Mark.KNOWN),
        ("channel.send", _PLAIN),  # the answer is told
        *_SUBJECT,
        ("dynamodb.TransactWriteItems", Mark.COMMITTED),
        *_BREAKERS,
    ),
    lambda receiver: _asks(receiver, tell=True, schema={"type": "object"}),
    answer=_said('{"city": "Paris"}'),
    is_harmless=True,
)
SCENARIOS = (REMINDER, WEBHOOK, LAMBDA, ACTION, ENRICH)
# Once more would do harm: where nobody can tell, a person is asked.
HARMFUL = (WEBHOOK, LAMBDA, ACTION)


@dataclass(frozen=True)
class Point:
    """Before or after one call of the worker."""

    scenario: Scenario
    place: int
    when: str

    def __str__(self) -> str:
        return f"{self.scenario.type}-{self.when}-{self.call}-{self.nth}"

    @property
    def call(self) -> str:
        return self.scenario.calls[self.place]

    @property
    def nth(self) -> int:
        return self.scenario.calls[: self.place + 1].count(self.call)

    def is_behind(self, mark: Mark) -> bool:
        """What the mark says is so by now."""
        place = self.scenario.place_of(mark)
        return self.place > place or (self.place == place and self.when == "after")

    @property
    def has_sent(self) -> bool:
        """The effect comes at the end of its call, behind all that is called inside."""
        is_inside = Mark.BEFORE_SENDING in self.scenario.steps[self.place][1]
        return self.is_behind(Mark.EFFECT) and not is_inside

    @property
    def leaves_doubt(self) -> bool:
        return self.is_behind(Mark.IN_FLIGHT) and not self.is_behind(Mark.KNOWN)


def points(scenario: Scenario) -> list[Point]:
    """Before and after each call, in order."""
    places = range(len(scenario.steps))
    return [Point(scenario, place, when) for place in places for when in ("before", "after")]


def right_after_the_effect(scenario: Scenario) -> Point:
    return Point(scenario, scenario.place_of(Mark.EFFECT), "after")


class Stage:
    """One scenario in an empty system: the task, what is told of it, and what came of it."""

    def __init__(self, client: StackClient, scenario: Scenario, receiver: Receiver) -> None:
        self.client = client
        self.scenario = scenario
        self.receiver = receiver
        self.task_id = ""

    def create(self) -> None:
        """Due in ten seconds, and always at the same distance from the schedules' ticks."""
        now = self.client.stack.clock.now()
        since_tick = now - now.replace(minute=now.minute // 5 * 5, second=0, microsecond=0)
        self.client.stack.advance(_TICK - since_tick + timedelta(seconds=5))
        fields = {"type": self.scenario.type, "in": "10s", **self.scenario.fields(self.receiver)}
        self.task_id = str(self.client.create(**fields)["id"])

    def crash_at(self, point: Point) -> None:
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
    def questions(self) -> int:
        """How often a person was asked what became of it."""
        return sum(text.startswith(IN_DOUBT) for text in self.texts)


def told_of(runs: list[dict[str, Any]]) -> list[tuple[str, str | None]]:
    return [(run["status"], run["mutation"]["status"]) for run in runs]


def assert_a_chain(runs: list[dict[str, Any]], *reasons: str) -> None:
    """Oldest first, each made for the one before it, all with the key of the first."""
    assert [run["attempt"] for run in runs] == list(range(1, len(runs) + 1))
    assert [run["retry_of"] for run in runs] == [None, *(run["id"] for run in runs[:-1])]
    assert [run["reason"] for run in runs] == list(reasons)
    assert {run["mutation"]["key"] for run in runs} == {runs[0]["id"]}


@contextmanager
def stack_that_may_call_a_function() -> Iterator[StackClient]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LAMBDA_FUNCTIONS", FUNCTION)
        with running_stack() as client:
            yield client


@contextmanager
def a_stage(
    client: StackClient, scenario: Scenario, *, behaves: Behaviour | None = None
) -> Iterator[Stage]:
    """The receiver answers as the scenario needs it, unless it is told to behave otherwise."""
    with pytest.MonkeyPatch.context() as patch, Receiver() as receiver:
        (behaves or scenario.answers)(receiver)
        patch.setenv("AWS_ENDPOINT_URL_LAMBDA", receiver.url(""))
        assert client.call("POST", "/_local/reset").status == 200
        stage = Stage(client, scenario, receiver)
        stage.create()
        yield stage
        client.stack.calls.before_call = None
        client.stack.calls.latency = 0.0
