"""Increments as they are stored: compressed JSON."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Sequence

from duecourse.domain.journal.increment import (
    Increment,
    increments_from_stored,
    increments_to_stored,
)


def encode_increments(increments: Iterable[Increment]) -> bytes:
    stored = json.dumps(increments_to_stored(increments), separators=(",", ":"))
    return zlib.compress(stored.encode(), 9)


def decode_increments(counted: bytes) -> Sequence[Increment]:
    return increments_from_stored(json.loads(zlib.decompress(counted)))
