"""Everything that the tables hold, as a search for somebody's data would find it."""

from __future__ import annotations

import zlib
from typing import Any

import boto3
from duecourse.adapters.aws.dynamodb.packed_attributes import decompress_json
from duecourse.app import stores


def all_items() -> list[dict[str, Any]]:
    """Return the items of all tables, with compressed attributes in plain."""
    settings, client = stores.settings(), boto3.client("dynamodb")
    tables = (
        settings.tasks_table,
        settings.journal_table,
        settings.state_table,
        settings.subjects_table,
        settings.stats_table,
    )
    pages = (client.scan(TableName=table)["Items"] for table in tables)
    return [_read(item) for page in pages for item in page]


def _read(item: dict[str, Any]) -> dict[str, Any]:
    return {name: _read_value(value) for name, held in item.items() for value in held.values()}


def _read_value(value: Any) -> Any:
    if not isinstance(value, bytes):
        return value
    try:
        return decompress_json(value)
    except (ValueError, zlib.error):
        return zlib.decompress(value).decode()
