"""The scopes of API tokens."""

from __future__ import annotations

from enum import StrEnum


class Scope(StrEnum):
    """Each scope includes the ones before it."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"

    def covers(self, needed: Scope) -> bool:
        ranks = list(Scope)
        return ranks.index(self) >= ranks.index(needed)
