"""The payload keys that each task type allows; an unknown key is rejected by name."""

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


def task_request(task_type: str, payload: dict[str, Any]) -> dict[str, Any]:
    return {"type": task_type, "description": "x", "in": "5m", "payload": payload}


def rejection(task_type: str, payload: dict[str, Any]) -> str:
    """Return the error, which is the same for a new task and for a change."""
    with pytest.raises(InvalidFieldsError) as create_error:
        task_from_json(task_request(task_type, payload), capabilities=ALL_CAPABILITIES)
    with pytest.raises(InvalidFieldsError) as change_error:
        parse_changes(
            a_task(type=task_type), {"payload": payload}, capabilities=ALL_CAPABILITIES, now=NOW
        )
    [error] = create_error.value.errors
    assert list(change_error.value.errors) == [error]
    assert error.field == "payload"
    return error.message


@pytest.mark.parametrize(("task_type", "payload"), FULL_PAYLOADS)
def test_every_key_of_a_type_is_accepted(task_type: str, payload: dict[str, Any]) -> None:
    payload = {**payload, **SHARED_KEYS}
    task = task_from_json(task_request(task_type, payload), capabilities=ALL_CAPABILITIES)
    assert task.payload == payload
    changes = parse_changes(
        a_task(type=task_type), {"payload": payload}, capabilities=ALL_CAPABILITIES, now=NOW
    )
    assert changes == TaskEdit(payload=payload)


@pytest.mark.parametrize(
    ("task_type", "payload", "message"),
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
        # The allowed keys depend on the provider, so its error comes first.
        ("action", {"provider": "openia", "modle": "x"}, "provider: must be one of: "),
        ("action", {"provider": [], "modle": "x"}, "provider: must be one of: "),
    ],
)
def test_an_unknown_key_is_rejected(task_type: str, payload: dict[str, Any], message: str) -> None:
    assert rejection(task_type, payload).startswith(message)


@pytest.mark.parametrize("task_type", ["action", "webhook", "lights"])
def test_the_keys_of_a_verifier_are_those_of_its_provider(task_type: str) -> None:
    payload = {"action": SCRIPTED, "webhook": {"url": "https://a.example/"}}.get(task_type, {})
    verifier = {"provider": "openai", **MODEL_KEYS, "modle": "x"}
    assert rejection(task_type, {**payload, "verifier": verifier}) == (
        "verifier.modle: unknown key; allowed keys: "
        "provider, budget, max_cost, model, endpoint, max_tokens, timeout"
    )


@pytest.mark.parametrize("spec", [{"spec": "x"}, {}])
@pytest.mark.parametrize(
    ("review", "provider_keys"),
    [
        ({}, "script"),
        ({"provider": "openai"}, "model, endpoint, max_tokens, timeout"),
    ],
)
def test_the_keys_of_a_review_are_those_of_its_provider(
    spec: dict[str, Any], review: dict[str, Any], provider_keys: str
) -> None:
    payload = {**SCRIPTED, **spec, "review": {**review, "modle": "x"}}
    assert rejection("action", payload) == (
        f"review.modle: unknown key; allowed keys: provider, budget, max_cost, {provider_keys}"
    )


def test_a_review_of_an_enrichment_rejects_the_keys_of_the_enrichment() -> None:
    payload = {**SCRIPTED, "schema": {}, "spec": "x", "review": SCRIPT_KEYS}
    assert task_from_json(task_request("enrich", payload), capabilities=ALL_CAPABILITIES)
    assert rejection("enrich", {**payload, "review": {"schema": {}}}).startswith("review.schema: ")


@pytest.mark.parametrize("payload", [{}, {"lamp": "hall", "budgt": None}, {"review": "of 2026"}])
def test_a_handler_without_declared_keys_accepts_any(payload: dict[str, Any]) -> None:
    task = task_from_json(task_request("lights", payload), capabilities=ALL_CAPABILITIES)
    assert task.payload == payload


def test_a_change_of_another_field_does_not_validate_the_stored_payload() -> None:
    task = a_task(payload={"note": "stored by earlier code"})
    changes = parse_changes(task, {"description": "y"}, capabilities=ALL_CAPABILITIES, now=NOW)
    assert changes == TaskEdit(description="y")


def test_every_provider_option_is_a_key() -> None:
    assert set(OPTION_KEYS) == set(Options.__dataclass_fields__)


@pytest.mark.parametrize("key", ["idempotent", "repeat_is_harmless"])
def test_the_name_of_version_0_1_still_declares_a_task_idempotent(key: str) -> None:
    reject_unknown_keys({key: True}, COMMON_KEYS)
    assert is_declared_idempotent({key: True})
    assert not is_declared_idempotent({key: False})


def test_the_new_name_wins_over_the_old_one() -> None:
    assert not is_declared_idempotent({"idempotent": False, "repeat_is_harmless": True})
