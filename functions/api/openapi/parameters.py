"""Descriptions of path, query and header parameters."""

from __future__ import annotations

from collections.abc import Mapping

from duecourse.adapters.channels.registry import PLATFORMS
from duecourse.domain.failures.classifier.fingerprint import FINGERPRINT_PATTERN
from duecourse.domain.limits.budget import NAME_PATTERN as BUDGET_NAME
from duecourse.domain.requests.task_fields import NAME_FIELD
from duecourse.domain.tasks.ids import ID_OR_PREFIX
from duecourse.domain.validation.fields import Schema

from .examples import EXAMPLES
from .schemas.types import with_description

PATH_PARAMETERS: Mapping[str, Schema] = {
    "task_id": {
        "type": "string",
        "pattern": f"^{ID_OR_PREFIX.pattern}$",
        "description": "The task's id, or a prefix of at least 8 characters that matches one task.",
        "examples": [EXAMPLES["Task"]["short_id"]],
    },
    "name": {
        "type": "string",
        "pattern": r"^[a-z][a-z0-9_-]*\.(js|css|svg)$",
        "description": "The name of the file.",
        "examples": ["main.js"],
    },
    "budget": {
        "type": "string",
        "pattern": f"^{BUDGET_NAME.pattern}$",
        "description": "The name of the budget.",
        "examples": ["default"],
    },
    "platform": {
        "type": "string",
        "description": "The chat platform.",
        "examples": [*PLATFORMS],
    },
    "fingerprint": {
        "type": "string",
        "pattern": f"^{FINGERPRINT_PATTERN.pattern}$",
        "description": "The fingerprint of the pattern, as `GET /patterns` returns it.",
        "examples": [EXAMPLES["Pattern"]["fingerprint"]],
    },
    "policy": {"type": "string", "description": "The policy's name.", "examples": ["agent"]},
    "provider": {
        "type": "string",
        "description": "The provider's name.",
        "examples": ["anthropic"],
    },
    "subject": {
        **NAME_FIELD.schema,
        "description": "The subject, as tasks name it. Slashes need not be escaped.",
        "examples": ["octo/garden"],
    },
}
_DESCRIPTIONS = {
    "Idempotency-Key": "A key that you choose, to repeat the request safely.",
    "category": "A category of failures.",
    "channel": "The task's channel.",
    "cursor": "The `next_cursor` of the previous page. Use it with the same filters.",
    "day": "A UTC day. Defaults to today.",
    "days": "The number of UTC days, including today.",
    "limit": "The most items to return.",
    "policy": "The name of a policy.",
    "search": "A part of the description, or the start of the id or the subject, in any case.",
    "sender_id": "The owner of the task on its channel.",
    "status": "The task's status.",
    "subject": "What the tasks work on.",
    "type": "The type of work.",
}


def describe_parameter(name: str, schema: Schema) -> Schema:
    """Return the schema of a query or header parameter with a description."""
    return with_description(schema, _DESCRIPTIONS[name])
