"""An unknown payload key is refused by name, whatever it is called."""

from __future__ import annotations

from typing import Any

import pytest
from duecourse.domain.errors import InvalidFieldsError
from duecourse.domain.requests.task_changes import parse_changes
from duecourse.domain.validation.payload_keys import IDEMPOTENT_IN_0_1, LINKS
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.builders.moments import NOW
from tests.support.builders.tasks import ID, a_task, task_from_json
from tests.support.examples import scale_examples
from tests.support.payload_cases import (
    ALL_CAPABILITIES,
    FULL_PAYLOADS,
    PROVIDER_PAYLOADS,
    SHARED_KEYS,
)

KNOWN_KEYS = {name for _, payload in FULL_PAYLOADS for name in payload} | SHARED_KEYS.keys()
few_examples = settings(max_examples=scale_examples(40), deadline=None)
names = st.text(min_size=1, max_size=100) | st.sampled_from(sorted(KNOWN_KEYS)).map(str.upper)
names |= st.sampled_from(sorted(KNOWN_KEYS)).map(lambda name: name[:-1])
names |= st.sampled_from(sorted(KNOWN_KEYS)).map(lambda name: f"{name} ")
values = st.none() | st.booleans() | st.integers() | st.text(max_size=9) | st.just({"of": ID})


def refusal(task_type: str, payload: dict[str, Any]) -> str:
    raw = {"type": task_type, "description": "x", "in": "5m", "payload": payload}
    with pytest.raises(InvalidFieldsError) as create_error:
        task_from_json(raw, capabilities=ALL_CAPABILITIES)
    with pytest.raises(InvalidFieldsError) as change_error:
        parse_changes(
            a_task(type=task_type), {"payload": payload}, capabilities=ALL_CAPABILITIES, now=NOW
        )
    [error] = create_error.value.errors
    assert [
        (field_error.field, field_error.message) for field_error in change_error.value.errors
    ] == [("payload", error.message)]
    return error.message


@few_examples
@pytest.mark.parametrize(("task_type", "payload"), FULL_PAYLOADS)
@given(name=names, value=values, before=st.booleans())
def test_an_unknown_key_is_named(
    task_type: str, payload: dict[str, Any], name: str, value: Any, before: bool
) -> None:
    payload = {**payload, **SHARED_KEYS}
    assume(name not in (*payload, IDEMPOTENT_IN_0_1))
    unknown = {name: value}
    message = refusal(task_type, {**unknown, **payload} if before else {**payload, **unknown})
    reason = "is set by Duecourse" if name in LINKS else "unknown key"
    assert message.startswith(f"{name}: {reason}; ")


@few_examples
@pytest.mark.parametrize("part", ["verifier", "review"])
@pytest.mark.parametrize("called", PROVIDER_PAYLOADS.values(), ids=PROVIDER_PAYLOADS)
@given(name=names, value=values)
def test_an_unknown_nested_key_is_named_with_its_path(
    part: str, called: dict[str, Any], name: str, value: Any
) -> None:
    assume(name not in called)
    payload = {"spec": "x", part: {**called, name: value}}
    assert refusal("reminder", payload).startswith(f"{part}.{name}: unknown key; ")
