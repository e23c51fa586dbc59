"""Strict JSON parsing for untrusted input."""

from __future__ import annotations

import json
import math
from typing import Any, NoReturn


def parse_strict_json(text: str) -> Any:
    """Parse JSON. Raises ValueError if `text` is invalid or nested too deeply.

    Unlike `json.loads`, it rejects NaN, infinities, numbers that overflow a float, and duplicate
    names.
    """
    try:
        return json.loads(
            text,
            parse_constant=_raise_not_json,
            parse_float=_parse_finite_float,
            object_pairs_hook=_reject_duplicate_names,
        )
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None


def _reject_duplicate_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("an object has the same name twice")
    return found


def _parse_finite_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        _raise_not_json(text)
    return number


def _raise_not_json(name: str) -> NoReturn:
    raise ValueError(f"{name[:40]} is not valid JSON")
