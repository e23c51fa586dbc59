"""An edit of a module's source text, for the containers' copies of it: how a bug is planted."""

from __future__ import annotations

from dataclasses import dataclass

_edits: dict[str, SourceEdit] = {}


class SourceEditError(Exception):
    """The text to replace does not occur exactly once."""


@dataclass(frozen=True)
class SourceEdit:
    """Replaces `old`, which must occur exactly once in the module, by `new`."""

    module: str
    old: str
    new: str

    def apply(self, source: str) -> str:
        count = source.count(self.old)
        if count != 1:
            raise SourceEditError(f"{self.module}: {self.old!r} occurs {count} times, not once")
        return source.replace(self.old, self.new)


def plant(edit: SourceEdit) -> None:
    """Edit the module in every copy that is loaded after this. It must precede all containers."""
    _edits[edit.module] = edit


def planted_in(module: str) -> SourceEdit | None:
    return _edits.get(module)
