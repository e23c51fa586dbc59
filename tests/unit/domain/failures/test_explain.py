"""The dry run: the decision on a failure, as the JSON of the contract."""

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

from tests.support.builders.failures import builtin_policies, share_of
from tests.support.builders.moments import HOUR, NOW

KEYS = """policy category kind clears_by likely confidence pattern location suggested_fix
counts action status delay_seconds retry_count max_retries guidance"""
DECISION_FIELDS = (
    "category",
    "action",
    "status",
    "delay_seconds",
    "retry_count",
    "max_retries",
    "counts",
)
scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9)
json_values = (
    scalars | st.lists(scalars, max_size=2) | st.dictionaries(st.text(), scalars, max_size=2)
)
NAMES = ("policy", "attempt", "code", "status", "type", "retry_after", "message", "spec")
requests = st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, json_values))


def explain(*, now: datetime = NOW, **raw: Any) -> dict[str, Any]:
    request = {"policy": "agent", "message": "boom", **raw}
    return explain_failure(
        parse_explain_request(request, builtin_policies()),
        now=now,
        budget_resets_at=next_reset(now),
    )


def explain_decision(**raw: Any) -> tuple[Any, ...]:
    response = explain(**raw)
    return tuple(response[name] for name in DECISION_FIELDS)


def invalid_fields(**raw: Any) -> list[str]:
    with pytest.raises(InvalidFieldsError) as error:
        parse_explain_request(raw, builtin_policies())
    return [field_error.field for field_error in error.value.errors]


# The response


def test_the_response_has_the_keys_of_the_contract() -> None:
    assert list(explain()) == KEYS.split()


def test_the_response_is_plain_json() -> None:
    assert json.loads(json.dumps(explain())) == explain()


def test_an_unknown_failure_has_a_complete_response() -> None:
    assert explain(policy="agent", message="boom") == {
        "policy": "agent",
        "category": "unknown",
        "kind": "unknown",
        "clears_by": None,
        "likely": None,
        "confidence": share_of("unknown"),
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
    ("attempt", "expected"),
    [
        (0, ("unknown", "retry", "pending", 120, 1, 3, True)),
        (1, ("unknown", "retry", "pending", 120, 2, 3, True)),
        (2, ("unknown", "give_up", "failed", None, 3, 3, True)),
    ],
)
def test_omega_is_explained_by_attempt(attempt: int, expected: tuple[Any, ...]) -> None:
    assert explain_decision(policy="omega", attempt=attempt) == expected


@pytest.mark.parametrize(
    ("attempt", "expected"),
    [
        (0, ("timeout", "retry_with_guidance", "pending", 300, 1, 3, True)),
        (1, ("timeout", "retry_with_guidance", "pending", 900, 2, 3, True)),
        (2, ("timeout", "retry_with_guidance", "pending", 1800, 3, 3, True)),
        (3, ("timeout", "mark_as_blocked", "blocked", None, 4, 3, True)),
    ],
)
def test_agent_is_explained_by_attempt(attempt: int, expected: tuple[Any, ...]) -> None:
    assert explain_decision(policy="agent", attempt=attempt, code="function_timeout") == expected


@pytest.mark.parametrize(
    ("attempt", "expected"),
    [
        (0, ("unknown", "retry", "pending", 12 * 3600, 1, 3, True)),
        (1, ("unknown", "retry", "pending", 12 * 3600, 2, 3, True)),
        (2, ("unknown", "give_up", "failed", None, 3, 3, True)),
    ],
)
def test_enrichment_is_explained_by_attempt(attempt: int, expected: tuple[Any, ...]) -> None:
    assert explain_decision(policy="enrichment", attempt=attempt) == expected


@pytest.mark.parametrize(
    ("attempt", "expected"),
    [
        (0, ("transient", "retry", "pending", 10, 1, 7, True)),
        (6, ("transient", "retry", "pending", 8 * 3600, 7, 7, True)),
        (7, ("transient", "mark_as_blocked", "blocked", None, 8, 7, True)),
    ],
)
def test_standard_is_explained_for_a_task_without_a_subject(
    attempt: int, expected: tuple[Any, ...]
) -> None:
    decision = explain_decision(policy="standard", attempt=attempt, code="ECONNREFUSED")
    assert decision == expected


@pytest.mark.parametrize("policy", ["omega", "agent", "enrichment", "standard"])
def test_a_budget_failure_waits_until_midnight(policy: str) -> None:
    response = explain(policy=policy, code="budget_exceeded", attempt=7, now=NOW + HOUR)
    assert (response["category"], response["action"], response["delay_seconds"]) == (
        *("budget_exceeded", "wait_for_budget", 11 * 3600),
    )
    assert (response["counts"], response["retry_count"]) == (False, 7)


@pytest.mark.parametrize(("retry_after", "delay"), [(7, 120), (600, 600), (1e6, 86_400), (0, 120)])
def test_retry_after_lengthens_the_delay(retry_after: float, delay: int) -> None:
    assert explain(retry_after=retry_after)["delay_seconds"] == delay


def test_the_delay_excludes_jitter() -> None:
    assert explain(attempt=1)["delay_seconds"] == 300


def test_omega_gives_no_guidance() -> None:
    assert explain(policy="omega")["guidance"] is None


@pytest.mark.parametrize(
    ("spec", "action"), [(True, "retry_with_spec_refresh"), (False, "retry_with_guidance")]
)
def test_a_specification_changes_the_action(spec: bool, action: str) -> None:
    response = explain(
        attempt=2, spec=spec, message="SyntaxError: invalid syntax", type="SyntaxError"
    )
    assert (response["category"], response["action"]) == ("code_error", action)


def test_a_secret_in_the_request_is_not_in_the_response() -> None:
    assert "hunter22" not in json.dumps(explain(message="token=hunter22"))


# The request


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
def test_an_invalid_field_is_named(field: str, value: Any) -> None:
    assert invalid_fields(**{"policy": "agent", "message": "boom", field: value}) == [field]


def test_a_message_can_be_empty() -> None:
    assert explain(message="", code="function_timeout")["category"] == "timeout"


def test_policy_and_message_are_required() -> None:
    assert invalid_fields() == ["policy", "message"]


def test_all_invalid_fields_are_reported_together() -> None:
    assert invalid_fields(policy="none", attempt=-1, status=1, colour="blue", message="x") == [
        *("colour", "status", "policy", "attempt"),
    ]


def test_null_equals_a_missing_field() -> None:
    nulls: dict[str, Any] = dict.fromkeys(
        ("code", "status", "type", "retry_after", "attempt", "spec")
    )
    assert explain(**nulls) == explain()


@given(raw=requests | st.dictionaries(st.text(), json_values))
def test_any_json_is_explained_or_rejected_by_field(raw: dict[str, Any]) -> None:
    with suppress(InvalidFieldsError):
        explain_failure(
            parse_explain_request(raw, builtin_policies()), now=NOW, budget_resets_at=NOW
        )
