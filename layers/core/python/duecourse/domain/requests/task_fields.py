"""The checks of single task fields, shared by new tasks and edits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from duecourse.domain.lifecycle.spec_review import check_review_payload
from duecourse.domain.requests.capabilities import Capabilities
from duecourse.domain.requests.masked_payload import masked_texts, refuse_masked
from duecourse.domain.tasks.task import DESCRIPTION_LIMIT
from duecourse.domain.validation.fields import Schema, integer_field, object_field, text_field
from duecourse.domain.validation.payload_keys import (
    check_idempotent,
    refuse_links,
    reject_unknown_keys,
)

NAME_LIMIT = 256
DESCRIPTION_FIELD = text_field(DESCRIPTION_LIMIT)
NAME_FIELD = text_field(NAME_LIMIT)
PAYLOAD_FIELD = object_field(32 * 1024)
MAX_RETRIES_FIELD = integer_field(1, 100)


def describe(schema: Schema, description: str) -> Schema:
    """Return the schema with a description, which comes before the schema's own."""
    texts = [description, schema.get("description")]
    return {**schema, "description": " ".join(text for text in texts if text)}


def payload_check(
    task_type: str, capabilities: Capabilities, *, replaced: Mapping[str, Any] | None = None
) -> Callable[[Any], dict[str, Any]]:
    """Return the check of a payload for tasks of this type. It raises ValueError naming the key.

    `replaced` is the payload that it is to replace: its masked texts are refused.
    """

    def check(value: Any) -> dict[str, Any]:
        payload = PAYLOAD_FIELD(value)
        refuse_links(payload)
        refuse_masked(payload, masked_texts(task_type, replaced or {}))
        check_idempotent(payload)
        if task_type in capabilities.payload_checks:
            capabilities.payload_checks[task_type](payload)
        if "verifier" in payload:
            _check_verifier(payload["verifier"], capabilities)
        check_review_payload(payload, capabilities.check_verifier, capabilities.find_call_keys)
        return payload

    return check


def _check_verifier(verifier: Any, capabilities: Capabilities) -> None:
    if not isinstance(verifier, dict):
        raise ValueError("verifier: must be a JSON object that names a provider")
    try:
        reject_unknown_keys(verifier, capabilities.find_call_keys(verifier))
        capabilities.check_verifier(verifier)
    except ValueError as error:
        raise ValueError(f"verifier.{error}") from None
