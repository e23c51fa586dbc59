"""The shapes of what the API answers with, as JSON Schema by name.

Each is closed: a field that is answered but not described here breaks a test.
"""

from __future__ import annotations

from typing import Any

from duecourse.domain.fields import object_schema

from .failures import of_failures
from .kinds import TEXT, WHOLE, Schema, closed, enum, list_of
from .operations import of_operations
from .policies import of_policies
from .stats import stats
from .tasks import of_tasks


def shapes() -> dict[str, Schema]:
    return {
        **of_tasks(),
        **of_failures(),
        **of_policies(),
        **of_operations(),
        "Stats": stats(),
        "Health": closed(status=enum(["ok"]), version=TEXT),
        "Problem": _problem(),
    }


def _problem() -> dict[str, Any]:
    """RFC 9457."""
    fields = {"type": TEXT, "title": TEXT, "status": WHOLE, "detail": TEXT}
    errors = list_of(closed(field=TEXT, message=TEXT))
    return object_schema({**fields, "errors": errors}, required=fields)
