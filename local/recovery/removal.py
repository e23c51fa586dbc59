"""Delete what a deleted stack leaves behind on purpose: its tables and secrets."""

from __future__ import annotations

from typing import Any

from local.stack_resources import SECRET, TABLE, StackResources

DAYS_OF_GRACE = 30


def find_leftovers(
    template: dict[str, Any], resources: StackResources
) -> dict[str, dict[str, str]]:
    """Return the names of the tables and secrets that deleting the stack does not delete."""
    retained = {
        name
        for name, one in template["Resources"].items()
        if one.get("DeletionPolicy") == "Retain" and one["Type"] in (TABLE, SECRET)
    }
    return {
        kind: {name: found for name, found in resources.of_type(kind).items() if name in retained}
        for kind in (TABLE, SECRET)
    }


def remove_leftovers(leftovers: dict[str, dict[str, str]], *, tables: Any, secrets: Any) -> None:
    """Delete them. A secret can be restored for DAYS_OF_GRACE, a table from its last backup."""
    for table in leftovers[TABLE].values():
        tables.update_table(TableName=table, DeletionProtectionEnabled=False)
        tables.get_waiter("table_exists").wait(TableName=table)
        tables.delete_table(TableName=table)
    for secret in leftovers[SECRET].values():
        secrets.delete_secret(SecretId=secret, RecoveryWindowInDays=DAYS_OF_GRACE)
