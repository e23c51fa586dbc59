"""Direct access to moto's tables, without API calls."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from moto.dynamodb.models import dynamodb_backends

from local.runtime.template import ACCOUNT, REGION

ALWAYS = datetime.min.replace(tzinfo=UTC)  # from this moment on, every tick is needed


def get_table(name: str) -> Any:
    return dynamodb_backends[ACCOUNT][REGION].tables[name]
