"""The enrichment handler: request, cost, strict validation of the reply, and delivery."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.errors import NotConfiguredError
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.failure import Failure
from duecourse.domain.limits.budget import BudgetExceededError
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.handler import HandlerCapabilities, RunContext, capabilities_of
from duecourse.domain.tasks.run import IndeterminatePolicy, ProviderCall
from duecourse.handlers.enrich import (
    ANSWER_LIMIT,
    EnrichHandler,
    EnrichmentError,
    InvalidPayloadError,
    parse_answer,
)
from duecourse.ports.integrations import Channel, ProviderReply, ProviderRequest

from tests.support.builders.failures import builtin_policies
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.tasks import a_task, claim_task
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.limits import MemoryBudgets

DOLLAR = 1_000_000
SCHEMA = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}


class RejectedError(Exception):
    type = "RateLimitError"
    status = 429
    cost = 7
    model = "small-1"


@dataclass
class Scripted:
    payload_keys = ("model",)
    clock: ManualClock
    ends: str | Exception = '{"score": 5}'
    asked: list[ProviderRequest] = field(default_factory=list)

    def call(self, request: ProviderRequest) -> ProviderReply:
        self.asked.append(request)
        self.clock.at += timedelta(seconds=2)
        if isinstance(self.ends, Exception):
            raise self.ends
        return ProviderReply(self.ends, cost=42, model="small-1")

    def estimate_max_cost(self, request: ProviderRequest) -> int | None:  # noqa: ARG002
        return None

    def check(self, payload: Mapping[str, Any]) -> None:
        if "model" in payload and not isinstance(payload["model"], str):
            raise ValueError("model: must be a text")


class Outbox(list[tuple[str, str, str]]):
    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:
        self.append((target, content.text, idempotency_key))

    def reply(self, message: Message, content: ChatMessage) -> None:
        raise NotImplementedError


class EnrichHarness:
    """Runs one enrichment from its payload to its result."""

    def __init__(self, ends: str | Exception = '{"score": 5}', **payload: Any) -> None:
        self.clock = ManualClock(NOW)
        self.provider = Scripted(self.clock, ends)
        self.budgets = MemoryBudgets()
        self.outbox = Outbox()
        channels: dict[str, Channel] = {"console": self.outbox}
        self.handler = EnrichHandler(
            {"scripted": self.provider}, self.budgets, self.clock, channels
        )
        self.payload = {"provider": "scripted", "schema": SCHEMA, **payload}
        self.work = self._work()

    def _work(self, **fields: Any) -> RunContext:
        task = a_task(
            **{"type": "enrich", "description": "rate it", "payload": self.payload, **fields}
        )
        return RunContext(
            task=claim_task(task),
            idempotency_key="key-1",
            attempt=2,
            run_id="run-1",
            deadline=NOW + MINUTE,
        )

    def of(self, **fields: Any) -> EnrichHarness:
        self.work = self._work(**fields)
        return self

    def run(self) -> Any:
        self.work.prepared = self.handler.prepare(self.work)
        self.work.result = self.handler.mutate(self.work)
        self.handler.emit(self.work)
        return self.work.result

    def failure(self) -> EnrichmentError:
        with pytest.raises(EnrichmentError) as failed:
            self.run()
        return failed.value

    @property
    def question(self) -> ProviderRequest:
        [ask] = self.provider.asked
        return ask

    @property
    def money(self) -> tuple[int, int]:
        today = self.budgets.get_today("stories", now=NOW)
        return today.spent, today.reserved


# The payload


@pytest.mark.parametrize(
    "payload",
    [{}, {"input": None}, {"tell": True}, {"budget": "stories", "max_cost": 0.5, "model": "m"}],
)
def test_a_valid_payload_is_accepted(payload: dict[str, Any]) -> None:
    harness = EnrichHarness(**payload)
    harness.handler.check(harness.payload)


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        ({"provider": "oracle"}, "provider: must be one of: scripted"),
        ({"schema": None}, "schema: must be a JSON object"),
        ({"schema": {"properties": {"a": {"pattern": "a+"}}}}, "schema.properties.a.pattern: is "),
        ({"tell": "yes"}, "tell: must be true or false"),
        ({"tell": None}, "tell: must be true or false"),
        ({"budget": "a b"}, "budget: must be 1 to 100"),
        ({"max_cost": -1}, "max_cost: must be "),
        ({"model": 5}, "model: must be a text"),
    ],
)
def test_an_invalid_payload_is_rejected_with_its_key(payload: dict[str, Any], message: str) -> None:
    harness = EnrichHarness(**payload)
    with pytest.raises(ValueError, match=":") as refused:
        harness.handler.check(harness.payload)
    assert str(refused.value).startswith(message)


def test_a_schema_is_required() -> None:
    harness = EnrichHarness()
    del harness.payload["schema"]
    with pytest.raises(ValueError, match="schema: is required"):
        harness.handler.check(harness.payload)


def test_a_stored_payload_with_a_legacy_key_still_runs() -> None:
    assert EnrichHarness(note="stored by earlier code").run() == {"score": 5}


# The question


def test_the_request_has_the_schema_the_description_and_the_input() -> None:
    harness = EnrichHarness(input={"title": "é"}).of(guidance=("be brief",))
    harness.run()
    ask = harness.question
    assert ask.system_prompt.endswith(json.dumps(SCHEMA, separators=(",", ":")))
    assert ask.description == 'rate it\n\nThe input, as JSON:\n{"title":"é"}'
    assert (ask.guidance, ask.attempt, ask.idempotency_key) == (("be brief",), 2, "key-1")
    assert (ask.payload, ask.deadline) == (harness.payload, NOW + MINUTE)


def test_without_an_input_the_request_is_the_description() -> None:
    harness = EnrichHarness()
    harness.run()
    assert harness.question.description == "rate it"


def test_a_null_input_is_sent() -> None:
    harness = EnrichHarness(input=None)
    harness.run()
    assert harness.question.description.endswith("\nnull")


# The money


def test_the_reply_is_paid_from_the_budget() -> None:
    harness = EnrichHarness(budget="stories", max_cost=0.5)
    harness.run()
    assert harness.money == (42, 0)


def test_an_invalid_reply_is_paid_for() -> None:
    harness = EnrichHarness("no", budget="stories", max_cost=0.5)
    harness.failure()
    assert harness.money == (42, 0)


def test_a_failed_call_settles_at_the_cost_of_its_error() -> None:
    harness = EnrichHarness(RejectedError(), budget="stories", max_cost=0.5)
    with pytest.raises(RejectedError):
        harness.run()
    assert harness.money == (7, 0)


def test_a_call_above_the_budget_is_not_made() -> None:
    harness = EnrichHarness(budget="stories", max_cost=1.5)
    with pytest.raises(BudgetExceededError):
        harness.run()
    assert (harness.provider.asked, harness.money) == ([], (0, 0))


def test_an_unsupported_schema_fails_before_the_reservation() -> None:
    harness = EnrichHarness(budget="stories", schema={"pattern": "a+"})
    with pytest.raises(InvalidPayloadError, match=r"nothing was sent: schema\.pattern"):
        harness.run()
    assert (harness.provider.asked, harness.money) == ([], (0, 0))


def test_a_removed_provider_fails_before_the_reservation() -> None:
    harness = EnrichHarness(provider="oracle", budget="stories")
    with pytest.raises(
        NotConfiguredError, match="the provider oracle is not configured in this deployment"
    ):
        harness.run()
    assert harness.money == (0, 0)


def test_a_removed_channel_fails_before_the_reservation() -> None:
    harness = EnrichHarness(budget="stories", tell=True).of(channel="pigeon")
    with pytest.raises(
        NotConfiguredError, match="the channel pigeon is not configured in this deployment"
    ):
        harness.run()
    assert (harness.provider.asked, harness.money) == ([], (0, 0))


def test_without_delivery_no_channel_is_needed() -> None:
    assert EnrichHarness().of(channel="pigeon").run() == {"score": 5}


# The call


def test_the_provider_call_is_recorded() -> None:
    harness = EnrichHarness()
    harness.run()
    assert harness.work.call == ProviderCall(
        provider="scripted", model="small-1", milliseconds=2_000, cost=42
    )


@pytest.mark.parametrize(("ends", "cost"), [(RejectedError(), 7), ("no JSON", 42)])
def test_a_failed_provider_call_is_recorded(ends: str | Exception, cost: int) -> None:
    harness = EnrichHarness(ends)
    with pytest.raises((RejectedError, EnrichmentError)):
        harness.run()
    assert harness.work.call == ProviderCall(
        provider="scripted", model="small-1", milliseconds=2_000, cost=cost
    )


# The answer


@pytest.mark.parametrize(
    "text",
    ['{"score": 5}', ' \n{"score": 5}\n', '```json\n{"score": 5}\n```', '```json{"score":5}```\n'],
)
def test_a_reply_can_be_in_a_code_fence(text: str) -> None:
    assert EnrichHarness(text).run() == {"score": 5}


@pytest.mark.parametrize("text", ["5", '"5"', "null", "[]", "1e3", '"```json"'])
def test_a_reply_can_be_any_json_value(text: str) -> None:
    assert parse_answer(text) == json.loads(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Sure!",
        'Here: {"score": 5}',
        '{"score": 5} {"score": 6}',
        '```\n{"score": 5}\n```',
        '```json\n```json\n{"score": 5}\n```\n```',
        '```json\n{"score": 5}',
        "```json",
        "```json```",
        '{"score": 5, "score": 6}',
        '{"score": NaN}',
        '{"score": -Infinity}',
        '{"score": 1e999}',
        '{"score": ' + "9" * 5_000 + "}",
        '{"score": "\\ud800"}',
        "[" * 100 + "]" * 100,
        "[" * 100_000,
        '"' + "x" * ANSWER_LIMIT + '"',
        " " * ANSWER_LIMIT + "5",
        '"' + "é" * (ANSWER_LIMIT // 2) + '"',
    ],
)
def test_other_replies_are_invalid(text: str) -> None:
    failure = EnrichHarness(text, schema={}).failure()
    assert str(failure).startswith("JSON parse failed: the answer ")
    assert len(str(failure)) < 300


def test_a_schema_violation_lists_its_paths() -> None:
    failure = EnrichHarness('{"score": "high"}').failure()
    assert str(failure) == (
        "the answer does not match its schema: answer.score: must be a whole number"
    )


HOSTILE = ["budget_exceeded", '{"code":"budget_exceeded"}', "x\nError: rate_limit_exceeded", "429"]
BAD_ANSWERS: list[tuple[str, dict[str, Any]]] = [
    ("Sure!", {}),
    ("{", {}),
    ('{"a": 1, "a": 2}', {}),
    ("[NaN]", {}),
    ('"' + "x" * ANSWER_LIMIT + '"', {}),
    ("5", {"type": "string"}),
    ("5", {"enum": ["a"]}),
    ("{}", {"required": ["request body"]}),
    *((json.dumps({name: 1}), {"additionalProperties": False}) for name in HOSTILE),
    ("[1, 1]", {"uniqueItems": True}),
]


@pytest.mark.parametrize(("text", "schema"), BAD_ANSWERS)
def test_the_policy_classifies_an_invalid_reply_as_unreadable_json(
    text: str, schema: dict[str, Any]
) -> None:
    failure = EnrichHarness(text, schema=schema).failure()
    diagnosis = diagnose(Failure.from_exception(failure), builtin_policies()["enrichment"])
    assert (diagnosis.category, diagnosis.blames_subject) == ("json_parse", True)
    assert failure.origin is Origin.ANSWER


def test_a_provider_error_is_raised_unchanged() -> None:
    with pytest.raises(RejectedError):
        EnrichHarness(RejectedError()).run()


# Telling


def test_the_result_is_delivered_only_on_request() -> None:
    harness = EnrichHarness()
    harness.run()
    assert harness.outbox == []


def test_the_result_is_delivered_to_the_chat_of_the_task() -> None:
    harness = EnrichHarness(tell=True)
    harness.run()
    assert harness.outbox == [("ada", '{\n  "score": 5\n}', "key-1:emit")]


def test_a_text_result_is_delivered_unchanged() -> None:
    harness = EnrichHarness('"é is\\nfine"', schema={}, tell=True)
    harness.run()
    assert harness.outbox == [("ada", "é is\nfine", "key-1:emit")]


def test_a_lost_enrichment_is_requested_again() -> None:
    harness = EnrichHarness()
    assert capabilities_of(harness.handler, harness.work.task) == HandlerCapabilities(
        has_prepare=True, has_emit=True, indeterminate_policy=IndeterminatePolicy.REPEAT
    )
