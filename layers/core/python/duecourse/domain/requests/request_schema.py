"""JSON Schema of the requests for a new task and for an edit."""

from __future__ import annotations

from typing import Any

from duecourse.domain.requests.capabilities import Capabilities
from duecourse.domain.requests.new_task import field_schemas
from duecourse.domain.requests.task_changes import EDITABLE_FIELDS
from duecourse.domain.validation.fields import nullable, object_schema


def new_task_schema(capabilities: Capabilities) -> dict[str, Any]:
    """Return the schema of a new task. Null equals absent, except for `description`."""
    schemas = field_schemas(capabilities)
    fields = {name: nullable(schema) for name, schema in schemas.items()}
    required = {"description": schemas["description"]}
    return object_schema(fields | required, required=required)


def changes_schema(capabilities: Capabilities) -> dict[str, Any]:
    """Return the schema of an edit. Only `repeat` may be null: the task then runs once."""
    schemas = field_schemas(capabilities)
    fields = {name: schema for name, schema in schemas.items() if name in EDITABLE_FIELDS}
    fields["repeat"] = nullable(schemas["repeat"])
    return {**object_schema(fields, required=()), "minProperties": 1}
