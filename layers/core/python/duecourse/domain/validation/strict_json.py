"""JSON from outside, read without the liberties that Python's own reader takes."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn


def parse_strict_json(text: str) -> Any:
    """Raises ValueError, also for what is nested too deep: NaN, a number too large to be one, and
    a name that is given twice are no JSON."""
    try:
        return json.loads(
            text,
            parse_constant=_raise_not_json,
            parse_float=_parse_finite_float,
            object_pairs_hook=_reject_duplicate_names,
        )
    except RecursionError:
        raise ValueError("it is nested too deep") from None


def _reject_duplicate_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Of a name given twice, nobody could say which value was meant."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a name is given twice")
    return found


def _parse_finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _raise_not_json(text)
    return number


def _raise_not_json(name: str) -> NoReturn:
    raise ValueError(f"{name[:40]} is not JSON")
