"""Which keys a payload may have, by the type of its task: a typo is refused by its name."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.adapters.providers.options import OPTION_KEYS, Options
from duecourse.domain.errors import InvalidFieldsError
from duecourse.domain.requests.task_changes import parse_changes
from duecourse.domain.tasks.task_edit import TaskEdit
from duecourse.domain.validation.payload_keys import (
    COMMON_KEYS,
    is_declared_idempotent,
    reject_unknown_keys,
)

from tests.support.builders.moments import NOW
from tests.support.builders.tasks import a_task, task_from_json
from tests.support.payload_cases import (
    ALL_CAPABILITIES,
    FULL_PAYLOADS,
    MODEL_KEYS,
    PROVIDER_PAYLOADS,
    SCRIPT_KEYS,
    SHARED_KEYS,
)

SCRIPTED = {"provider": "scripted"}


def request(kind: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"type": kind, "description": "x", "in": "5m", "payload": payload}


def refusal(kind: str, payload: dict[str, Any]) -> str:
    """The same for a new task and for a change."""
    with pytest.raises(InvalidFieldsError) as made:
        task_from_json(request(kind, payload), capabilities=ALL_CAPABILITIES)
    with pytest.raises(InvalidFieldsError) as changed:
        parse_changes(
            a_task(type=kind), {"payload": payload}, capabilities=ALL_CAPABILITIES, now=NOW
        )
    [error] = made.value.errors
    assert list(changed.value.errors) == [error]
    assert error.field == "payload"
    return error.message


@pytest.mark.parametrize(("kind", "payload"), FULL_PAYLOADS)
def test_every_key_of_a_type_is_taken(kind: str, payload: dict[str, Any]) -> None:
    payload = {**payload, **SHARED_KEYS}
    task = task_from_json(request(kind, payload), capabilities=ALL_CAPABILITIES)
    assert task.payload == payload
    changes = parse_changes(
        a_task(type=kind), {"payload": payload}, capabilities=ALL_CAPABILITIES, now=NOW
    )
    assert changes == TaskEdit(payload=payload)


@pytest.mark.parametrize(
    ("kind", "payload", "message"),
    [
        ("reminder", {"budget": "x"}, "budget: unknown key; allowed keys: idempotent, "),
        (
            "action",
            {**SCRIPTED, "budgt": "x"},
            "budgt: unknown key; allowed keys: provider, budget,",
        ),
        ("action", {**SCRIPTED, "model": "x"}, "model: unknown key; allowed keys: "),
        (
            "action",
            {**PROVIDER_PAYLOADS["openai"], **SCRIPT_KEYS},
            "script: unknown key; allowed keys: ",
        ),
        ("action", {**SCRIPTED, "schema": {}}, "schema: unknown key; allowed keys: "),
        ("enrich", {**SCRIPTED, "schma": {}}, "schma: unknown key; allowed keys: provider, "),
        ("lamps", {"lmap": "hall"}, "lmap: unknown key; allowed keys: lamp, idempotent, "),
        # Whose keys they would be is not known before the provider is.
        ("action", {"provider": "openia", "modle": "x"}, "provider: must be one of: "),
        ("action", {"provider": [], "modle": "x"}, "provider: must be one of: "),
    ],
)
def test_a_key_of_no_use_is_refused(kind: str, payload: dict[str, Any], message: str) -> None:
    assert refusal(kind, payload).startswith(message)


@pytest.mark.parametrize("kind", ["action", "webhook", "lights"])
def test_the_keys_of_a_verifier_are_those_of_its_provider(kind: str) -> None:
    payload = {"action": SCRIPTED, "webhook": {"url": "https://a.example/"}}.get(kind, {})
    verifier = {"provider": "openai", **MODEL_KEYS, "modle": "x"}
    assert refusal(kind, {**payload, "verifier": verifier}) == (
        "verifier.modle: unknown key; allowed keys: "
        "provider, budget, max_cost, model, endpoint, max_tokens, timeout"
    )


@pytest.mark.parametrize("spec", [{"spec": "x"}, {}])
@pytest.mark.parametrize(
    ("review", "known"),
    [
        ({}, "script"),
        ({"provider": "openai"}, "model, endpoint, max_tokens, timeout"),
    ],
)
def test_the_keys_of_a_review_are_those_of_whoever_does_it(
    spec: dict[str, Any], review: dict[str, Any], known: str
) -> None:
    payload = {**SCRIPTED, **spec, "review": {**review, "modle": "x"}}
    assert refusal("action", payload) == (
        f"review.modle: unknown key; allowed keys: provider, budget, max_cost, {known}"
    )


def test_a_review_of_an_enrichment_has_keys_of_its_own_only() -> None:
    payload = {**SCRIPTED, "schema": {}, "spec": "x", "review": SCRIPT_KEYS}
    assert task_from_json(request("enrich", payload), capabilities=ALL_CAPABILITIES)
    assert refusal("enrich", {**payload, "review": {"schema": {}}}).startswith("review.schema: ")


@pytest.mark.parametrize("payload", [{}, {"lamp": "hall", "budgt": None}, {"review": "of 2026"}])
def test_a_handler_that_names_no_keys_takes_any(payload: dict[str, Any]) -> None:
    task = task_from_json(request("lights", payload), capabilities=ALL_CAPABILITIES)
    assert task.payload == payload


def test_a_change_of_something_else_leaves_a_payload_alone_that_would_not_be_taken() -> None:
    task = a_task(payload={"note": "stored by earlier code"})
    changes = parse_changes(task, {"description": "y"}, capabilities=ALL_CAPABILITIES, now=NOW)
    assert changes == TaskEdit(description="y")


def test_each_option_of_a_provider_is_a_key() -> None:
    assert set(OPTION_KEYS) == set(Options.__dataclass_fields__)


@pytest.mark.parametrize("key", ["idempotent", "repeat_is_harmless"])
def test_the_name_of_version_0_1_still_declares_a_task_idempotent(key: str) -> None:
    reject_unknown_keys({key: True}, COMMON_KEYS)
    assert is_declared_idempotent({key: True})
    assert not is_declared_idempotent({key: False})


def test_the_new_name_wins_over_the_old_one() -> None:
    assert not is_declared_idempotent({"idempotent": False, "repeat_is_harmless": True})
