"""The shapes of what the API answers with, as JSON Schema by name.

Each is closed: a field that is answered but not described here breaks a test.
"""

from __future__ import annotations

from collections.abc import Mapping

from duecourse.domain.validation.fields import Schema, object_schema

from .failures import FAILURES
from .operations import OPERATIONS
from .policies import POLICIES
from .stats import STATS
from .tasks import TASKS
from .types import TEXT, WHOLE, closed, enum, list_of

# RFC 9457.
_OF_EVERY_PROBLEM = {"type": TEXT, "title": TEXT, "status": WHOLE, "detail": TEXT}
_ERRORS = list_of(closed(field=TEXT, message=TEXT))
SHAPES: Mapping[str, Schema] = {
    **TASKS,
    **FAILURES,
    **POLICIES,
    **OPERATIONS,
    "Stats": STATS,
    "Health": closed(status=enum(["ok"]), version=TEXT),
    "Problem": object_schema({**_OF_EVERY_PROBLEM, "errors": _ERRORS}, required=_OF_EVERY_PROBLEM),
}
