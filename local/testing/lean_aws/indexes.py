"""Global secondary indexes."""

from __future__ import annotations

from dataclasses import dataclass, field

from local.testing.lean_aws.key_schema import Key, SortedEntries
from local.testing.lean_aws.values import Item


@dataclass
class Index:
    """`projected` is None if it has all attributes.

    `outdated`: items that it shows as they were, or not at all, until a time (see index_lag).
    """

    name: str
    entries: SortedEntries
    projected: frozenset[str] | None
    outdated: dict[Key, tuple[Item | None, float]] = field(default_factory=dict)

    def project(self, item: Item) -> Item:
        if self.projected is None:
            return item
        return {name: value for name, value in item.items() if name in self.projected}

    def change(self, key: Key, old: Item | None, new: Item | None) -> None:
        """Replace the entry of the old item, if it has one, by that of the new one."""
        schema = self.entries.schema
        if old is not None and schema.is_indexed(old):
            self.entries.remove(old, key)
        if new is not None and schema.is_indexed(new):
            self.entries.add(new, key)

    def shows_change(self, old: Item | None, new: Item | None) -> bool:
        return self._entry(old) != self._entry(new)

    def _entry(self, item: Item | None) -> Item | None:
        is_indexed = item is not None and self.entries.schema.is_indexed(item)
        return self.project(item) if item is not None and is_indexed else None

    def read(self, key: Key, items: dict[Key, Item]) -> Item:
        """Return an item that has an entry, as the index shows it."""
        visible, _until = self.outdated.get(key, (None, 0.0))
        return self.project(items[key] if visible is None else visible)
