"""All response schemas of the API, as JSON Schema by name.

Each is closed: a test fails if a response has a field that its schema does not describe.
"""

from __future__ import annotations

from collections.abc import Mapping

from duecourse.domain.validation.fields import Schema, object_schema

from .failures import FAILURES
from .operations import OPERATIONS
from .policies import POLICIES
from .stats import STATS
from .tasks import TASKS
from .types import INTEGER, TEXT, enum, list_of, strict_object, with_description

# RFC 9457.
_PROBLEM_FIELDS = {
    "type": TEXT,
    "title": with_description(TEXT, "The name of the HTTP status."),
    "status": with_description(INTEGER, "The HTTP status."),
    "detail": with_description(TEXT, "What went wrong, as a sentence for people."),
}
_FIELD_ERRORS = with_description(
    list_of(strict_object(field=TEXT, message=TEXT)), "Every wrong field of the request."
)
SCHEMAS: Mapping[str, Schema] = {
    **TASKS,
    **FAILURES,
    **POLICIES,
    **OPERATIONS,
    "Stats": STATS,
    "Health": strict_object(status=enum(["ok"]), version=TEXT),
    "Problem": object_schema(
        {**_PROBLEM_FIELDS, "errors": _FIELD_ERRORS}, required=_PROBLEM_FIELDS
    ),
}
