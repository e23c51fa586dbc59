"""Tasks as an older or a newer release stores them.

During a deployment, and after a rollback, some functions are of another release. So a task that a
person's request writes may have been written by such a function.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from duecourse.adapters.aws.dynamodb.packed_attributes import unpack
from duecourse.domain.dispatch.lanes import LANE_SIZE
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import REMINDER

from local.simulate.fault_rates import Strike
from local.simulate.functions import current_invocation
from local.testing.lean_aws.values import Item

NEWER_SCHEMA = {"N": "99"}
UNKNOWN_ATTRIBUTE = "colour"
# They write a task once for each request. What a worker writes, it writes again.
_WRITERS = frozenset({"api", "chat"})
# What version 0.1 did not know, or stored in a form that cannot be derived from today's.
_NOT_IN_OLDER = ("wait", "reviewed_at", "late_report", "run", "recovery_action")
_LINKS = {"snooze_of": "snooze_of", "review": "spec_review"}  # by their keys in the payload
# Version 0.1 stored them always, code before it never.
_DEFAULTS = {"type": {"S": REMINDER}, "timezone": {"S": "UTC"}, "version": {"N": "1"}}


class ItemVersions:
    """`newer`: the tasks that nobody could read for a time, with the schema that they had."""

    def __init__(self, strike: Strike) -> None:
        self._strike = strike
        self._writes = 0
        self.newer: dict[str, dict[str, Any]] = {}

    def rewrite(self, old: Item | None, new: Item) -> Item:
        """Return the task as it is stored in place of `new`."""
        invocation = current_invocation()
        if invocation is None or invocation.function not in _WRITERS:
            return new
        self._writes += 1
        point = f"{invocation.function} task {self._writes}"
        older = to_older(new, is_new=old is None)
        if older is not None and (part := self._strike("older-item", point)) is not None:
            return older if part < 0.5 else without_defaults(older, is_new=old is None)
        if self._strike("unknown-attribute", point) is not None:
            return {**new, UNKNOWN_ATTRIBUTE: {"S": "blue"}}
        if self._strike("newer-item", point) is not None:
            self.newer.setdefault(new["id"]["S"], new["schema_version"])
            return {**new, "schema_version": NEWER_SCHEMA}
        return new

    def upgrade(self, items: list[Item], put: Callable[[Item], Any]) -> None:
        """Store the newer tasks in a form that can be read, as if newer code were deployed."""
        for item in items:
            if item.get("schema_version") == NEWER_SCHEMA:
                put({**item, "schema_version": self.newer[item["id"]["S"]]})


def to_older(item: Item, *, is_new: bool) -> Item | None:
    """Return the task as version 0.1 stored it, or None if it would lose something."""
    is_open = item["status"]["S"] == Status.PENDING and "paused" not in item
    if not is_open or any(name in item for name in _NOT_IN_OLDER):
        return None
    older = {name: value for name, value in unpack(item).items() if name != "schema_version"}
    if not is_new and older.keys() & _LINKS.keys():
        return None  # its payload may have changed since
    links = {key: older.pop(name) for name, key in _LINKS.items() if name in older}
    if links:
        payload = json.loads(older["payload"]["S"]) if "payload" in older else {}
        older["payload"] = {"S": json.dumps({**payload, **_read_links(links)})}
    # It had no lanes: a shard alone.
    older["due_shard"] = {"N": str(int(older["due_shard"]["N"]) % LANE_SIZE)}
    return older


def without_defaults(item: Item, *, is_new: bool) -> Item:
    """Return the older task as code before version 0.1 stored it."""
    dropped = {name for name, value in _DEFAULTS.items() if item.get(name) == value}
    if item.get("nominal_at") == item["due_at"]:
        dropped.add("nominal_at")
    if not is_new:
        dropped.discard("version")  # whoever reads it knows the versions before
    return {name: value for name, value in item.items() if name not in dropped}


def _read_links(links: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """Return the links as they were in a payload: an id, or an object."""
    return {
        key: json.loads(value["S"]) if key == "spec_review" else value["S"]
        for key, value in links.items()
    }
