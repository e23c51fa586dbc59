"""Restore tables to an instant, each into a new table with the settings of the template."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from local.runtime.template import resources_of_type
from local.stack_resources import TABLE, StackResources

_POLL = {"Delay": 20, "MaxAttempts": 540}  # seconds; a restore takes minutes to hours


@dataclass(frozen=True)
class RestoredTable:
    name: str
    arn: str
    stream_arn: str | None = None


def tables_to_restore(template: dict[str, Any]) -> list[str]:
    """Return the logical ids of the tables that have backups."""
    found = resources_of_type(template, TABLE).items()
    return [name for name, one in found if "PointInTimeRecoverySpecification" in one]


def restore_tables(
    template: dict[str, Any],
    resources: StackResources,
    *,
    client: Any,
    suffix: str,
    at: datetime | None,
) -> dict[str, RestoredTable]:
    """Restore all tables to the same instant, or to the latest one; return them by logical id."""
    sources = {name: resources.of_type(TABLE)[name] for name in tables_to_restore(template)}
    targets = {name: f"{source}-{suffix}" for name, source in sources.items()}
    for name, source in sources.items():
        when = {"RestoreDateTime": at} if at else {"UseLatestRestorableTime": True}
        client.restore_table_to_point_in_time(
            SourceTableName=source, TargetTableName=targets[name], **when
        )
    properties = resources_of_type(template, TABLE)
    return {
        name: _apply_settings(target, properties[name], client) for name, target in targets.items()
    }


def _apply_settings(table: str, properties: Mapping[str, Any], client: Any) -> RestoredTable:
    """Set what a restore leaves out: stream, expiry, backups and protection."""
    _wait(client, table)
    if stream := properties.get("StreamSpecification"):
        client.update_table(TableName=table, StreamSpecification={"StreamEnabled": True, **stream})
        _wait(client, table)
    if expiry := properties.get("TimeToLiveSpecification"):
        client.update_time_to_live(TableName=table, TimeToLiveSpecification=expiry)
    client.update_continuous_backups(
        TableName=table,
        PointInTimeRecoverySpecification=properties["PointInTimeRecoverySpecification"],
    )
    client.update_table(TableName=table, DeletionProtectionEnabled=True)
    described = client.describe_table(TableName=table)["Table"]
    return RestoredTable(table, described["TableArn"], described.get("LatestStreamArn"))


def _wait(client: Any, table: str) -> None:
    client.get_waiter("table_exists").wait(TableName=table, WaiterConfig=_POLL)
