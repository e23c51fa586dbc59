"""Direct access to moto's tables, without API calls."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import wraps
from typing import Any

from duecourse.adapters.aws.dynamodb.models import StateItem
from moto.dynamodb.models import dynamodb_backends

from local.runtime.template import ACCOUNT, REGION

ALWAYS = datetime.min.replace(tzinfo=UTC)  # from this moment on, every tick is needed


def get_table(name: str) -> Any:
    return dynamodb_backends[ACCOUNT][REGION].tables[name]


def every_tick_if_unreadable(
    needed_from: Callable[[], datetime | None],
) -> Callable[[], datetime | None]:
    """Need every tick while a stored item is unreadable: the function has to record it."""

    @wraps(needed_from)
    def checked() -> datetime | None:
        try:
            return needed_from()
        except (AttributeError, KeyError, TypeError, ValueError):
            return ALWAYS

    return checked


def state_value(attributes: dict[str, Any]) -> Any:
    """Return the value of a state item. Raises ValueError if newer code wrote it."""
    if "schema_version" in attributes:
        StateItem.schema_version.deserialize(attributes["schema_version"].value)
    return json.loads(attributes["value"].value)
