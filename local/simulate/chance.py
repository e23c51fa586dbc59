"""The only source of chance: every draw follows from the seed and a name.

A draw does not depend on the draws before it, so removing an operation or a fault from a
simulation leaves the rest as it was, as far as the same names occur.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from random import Random


@dataclass(frozen=True)
class Chance:
    seed: int

    def fraction(self, name: str) -> float:
        """Return a number from 0 up to but not including 1."""
        digest = blake2b(f"{self.seed}/{name}".encode(), digest_size=7).digest()
        return int.from_bytes(digest, "big") / 2**56

    def source(self, name: str) -> Random:
        """Return a sequence of its own, for many draws with one name."""
        return Random(f"{self.seed}/{name}")  # noqa: S311 - not for secrets
