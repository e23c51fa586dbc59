"""Let an index show an item as it was, for some seconds after a write, as DynamoDB may."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from local.testing.lean_aws.indexes import Index
from local.testing.lean_aws.key_schema import Key
from local.testing.lean_aws.values import Item


@dataclass(frozen=True)
class IndexLag:
    """`draw` returns how many seconds an index takes to show a write. `now`: since the epoch."""

    now: Callable[[], float]
    draw: Callable[[Index], float]

    def change(self, index: Index, key: Key, old: Item | None, new: Item | None) -> None:
        if key in index.outdated:
            visible, until = index.outdated[key]
            if until > self.now():
                return  # an outdated item shows all its writes at once
            del index.outdated[key]
            index.change(key, visible, old)
        if not index.shows_change(old, new):
            return
        if seconds := self.draw(index):
            index.outdated[key] = old, self.now() + seconds
        else:
            index.change(key, old, new)

    def catch_up(self, index: Index, items: dict[Key, Item]) -> None:
        """Show the items whose time has come as they are in the table."""
        now = self.now()
        for key, (visible, until) in list(index.outdated.items()):
            if until <= now:
                del index.outdated[key]
                index.change(key, visible, items.get(key))
