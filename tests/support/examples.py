"""How many examples a property test runs: `make quick` runs a quarter of what `make test` runs."""

from __future__ import annotations

from hypothesis import settings

FULL_COUNT = 100  # Hypothesis's own default
QUICK_COUNT = FULL_COUNT // 4


def scale_examples(count: int) -> int:
    """Return `count` in proportion to the loaded profile. `make test` runs all of them."""
    return count * settings().max_examples // FULL_COUNT
