"""What a token of the HTTP API may do."""

from __future__ import annotations

from enum import StrEnum


class Scope(StrEnum):
    """Each may do what those before it may."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def covers(self, needed: Scope) -> bool:
        ranks = list(Scope)
        return ranks.index(self) >= ranks.index(needed)
