"""The dry run: what would happen to a failure, in the words of the contract."""

from __future__ import annotations

import json
from contextlib import suppress
from datetime import datetime
from typing import Any

import pytest
from duecourse.domain.errors import InvalidFieldsError
from duecourse.domain.failures.explain import MAX_ATTEMPTS, explain_failure, parse_explain_request
from duecourse.domain.limits.budget import next_reset
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders.failures import builtin_policies
from tests.support.builders.moments import HOUR, NOW

KEYS = """policy category confidence pattern location suggested_fix counts action status
delay_seconds retry_count max_retries guidance"""
STEP = ("category", "action", "status", "delay_seconds", "retry_count", "max_retries", "counts")
plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
anything = plain | st.lists(plain, max_size=2) | st.dictionaries(st.text(), plain, max_size=2)
NAMES = ("policy", "attempt", "code", "status", "type", "retry_after", "message", "spec")
wild = st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, anything))


def explain(*, now: datetime = NOW, **raw: Any) -> dict[str, Any]:
    asked = {"policy": "agent", "message": "boom", **raw}
    return explain_failure(
        parse_explain_request(asked, builtin_policies()), now=now, budget_resets_at=next_reset(now)
    )


def step(**raw: Any) -> tuple[Any, ...]:
    answer = explain(**raw)
    return tuple(answer[name] for name in STEP)


def refused_fields(**raw: Any) -> list[str]:
    with pytest.raises(InvalidFieldsError) as refused:
        parse_explain_request(raw, builtin_policies())
    return [error.field for error in refused.value.errors]


# The answer


def test_the_answer_has_the_keys_of_the_contract() -> None:
    assert list(explain()) == KEYS.split()


def test_the_answer_is_plain_json() -> None:
    assert json.loads(json.dumps(explain())) == explain()


def test_a_failure_nobody_knows_is_explained_whole() -> None:
    assert explain(policy="agent", message="boom") == {
        "policy": "agent",
        "category": "unknown",
        "confidence": 0.3,
        "pattern": "unknown",
        "location": None,
        "suggested_fix": "Read the whole error message and try another approach.",
        "counts": True,
        "action": "retry_with_guidance",
        "status": "pending",
        "delay_seconds": 120,
        "retry_count": 1,
        "max_retries": 5,
        "guidance": "Read the whole error message and try another approach.",
    }


@pytest.mark.parametrize(
    ("attempt", "row"),
    [
        (0, ("unknown", "retry", "pending", 120, 1, 3, True)),
        (1, ("unknown", "retry", "pending", 120, 2, 3, True)),
        (2, ("unknown", "give_up", "failed", None, 3, 3, True)),
    ],
)
def test_omega_is_explained_by_attempt(attempt: int, row: tuple[Any, ...]) -> None:
    assert step(policy="omega", attempt=attempt) == row


@pytest.mark.parametrize(
    ("attempt", "row"),
    [
        (0, ("timeout", "retry_with_guidance", "pending", 300, 1, 3, True)),
        (1, ("timeout", "retry_with_guidance", "pending", 900, 2, 3, True)),
        (2, ("timeout", "retry_with_guidance", "pending", 1800, 3, 3, True)),
        (3, ("timeout", "mark_as_blocked", "blocked", None, 4, 3, True)),
    ],
)
def test_agent_is_explained_by_attempt(attempt: int, row: tuple[Any, ...]) -> None:
    assert step(policy="agent", attempt=attempt, code="function_timeout") == row


@pytest.mark.parametrize(
    ("attempt", "row"),
    [
        (0, ("unknown", "retry", "pending", 12 * 3600, 1, 3, True)),
        (1, ("unknown", "retry", "pending", 12 * 3600, 2, 3, True)),
        (2, ("unknown", "give_up", "failed", None, 3, 3, True)),
    ],
)
def test_enrichment_is_explained_by_attempt(attempt: int, row: tuple[Any, ...]) -> None:
    assert step(policy="enrichment", attempt=attempt) == row


@pytest.mark.parametrize("policy", ["omega", "agent", "enrichment"])
def test_a_budget_is_waited_for_until_midnight(policy: str) -> None:
    answer = explain(policy=policy, code="budget_exceeded", attempt=7, now=NOW + HOUR)
    assert (answer["category"], answer["action"], answer["delay_seconds"]) == (
        *("budget_exceeded", "wait_for_budget", 11 * 3600),
    )
    assert (answer["counts"], answer["retry_count"]) == (False, 7)


@pytest.mark.parametrize(("asked", "delay"), [(7, 120), (600, 600), (1e6, 86_400), (0, 120)])
def test_a_retry_after_is_heeded(asked: float, delay: int) -> None:
    assert explain(retry_after=asked)["delay_seconds"] == delay


def test_the_delay_is_told_without_its_jitter() -> None:
    assert explain(attempt=1)["delay_seconds"] == 300


def test_a_reminder_gets_no_guidance() -> None:
    assert explain(policy="omega")["guidance"] is None


@pytest.mark.parametrize(
    ("spec", "action"), [(True, "retry_with_spec_refresh"), (False, "retry_with_guidance")]
)
def test_a_specification_is_taken_into_account(spec: bool, action: str) -> None:
    answer = explain(
        attempt=2, spec=spec, message="SyntaxError: invalid syntax", type="SyntaxError"
    )
    assert (answer["category"], answer["action"]) == ("code_error", action)


def test_a_secret_in_the_question_is_not_repeated() -> None:
    assert "hunter22" not in json.dumps(explain(message="token=hunter22"))


# The question


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("policy", "none"),
        ("policy", 5),
        ("policy", []),
        ("message", 5),
        ("message", "x" * 1_000_001),
        ("attempt", -1),
        ("attempt", MAX_ATTEMPTS + 1),
        ("attempt", 1.0),
        ("attempt", True),
        ("attempt", "0"),
        ("code", 5),
        ("code", "x" * 201),
        ("type", []),
        ("status", 99),
        ("status", 600),
        ("status", "429"),
        ("retry_after", -1),
        ("retry_after", "30"),
        ("retry_after", True),
        ("retry_after", float("nan")),
        ("retry_after", 10**400),
        ("spec", "yes"),
        ("colour", "blue"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_a_refusal_names_its_field(field: str, value: Any) -> None:
    assert refused_fields(**{"policy": "agent", "message": "boom", field: value}) == [field]


def test_a_message_may_be_empty_since_some_errors_are_but_a_code() -> None:
    assert explain(message="", code="function_timeout")["category"] == "timeout"


def test_policy_and_message_are_required() -> None:
    assert refused_fields() == ["policy", "message"]


def test_all_that_is_wrong_is_said_in_one_go() -> None:
    assert refused_fields(policy="none", attempt=-1, status=1, colour="blue", message="x") == [
        *("colour", "status", "policy", "attempt"),
    ]


def test_null_is_as_good_as_left_out() -> None:
    nothing: dict[str, Any] = dict.fromkeys(
        ("code", "status", "type", "retry_after", "attempt", "spec")
    )
    assert explain(**nothing) == explain()


@given(raw=wild | st.dictionaries(st.text(), anything))
def test_any_json_is_a_question_or_refused_by_its_fields(raw: dict[str, Any]) -> None:
    with suppress(InvalidFieldsError):
        explain_failure(
            parse_explain_request(raw, builtin_policies()), now=NOW, budget_resets_at=NOW
        )
