"""The quiet hours of each sender, with the times at which they were stored."""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

from local.testing.lean_aws.values import Item

_OWNER_PREFIX = "of#"


class QuietLog:
    """`writes` of each owner: the time, and the hours as they are stored, or None.

    Hours are in force when the item of their shard is listed, which is written last.
    """

    def __init__(self) -> None:
        self.writes: defaultdict[str, list[tuple[datetime, str | None]]] = defaultdict(list)
        self._listed_at: dict[str, datetime] = {}
        self._shards: dict[str, str] = {}

    def note_write(self, old: Item | None, new: Item | None, at: datetime) -> None:
        before, after = old or {}, new or {}
        for shard in after.get("shards", {}).get("NS", ()):
            self._listed_at.setdefault(shard, at)
        for name in sorted({*before, *after}):
            if name.startswith(_OWNER_PREFIX) and before.get(name) != after.get(name):
                self._shards[name] = (new or old or {})["key"]["S"].partition("#")[2]
                self.writes[name].append((at, after[name]["S"] if name in after else None))

    def list_hours(self, sender: str, since: datetime, until: datetime) -> list[str | None]:
        """Return the quiet hours that the sender had at some time between the two."""
        for name, writes in self.writes.items():
            listed_at = self._listed_at.get(self._shards[name])
            if name.endswith(f"#{sender}") and listed_at is not None and listed_at <= since:
                found = [hours for at, hours in writes if at <= since][-1:] or [None]
                return found + [hours for at, hours in writes if since < at <= until]
        return [None]
