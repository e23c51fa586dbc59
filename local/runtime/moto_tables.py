"""What lies in moto's tables, seen without asking the service."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from moto.dynamodb.models import dynamodb_backends

from local.runtime.template import ACCOUNT, REGION

ALWAYS = datetime.min.replace(tzinfo=UTC)  # a tick matters from here on: at any time


def get_table(name: str) -> Any:
    return dynamodb_backends[ACCOUNT][REGION].tables[name]
