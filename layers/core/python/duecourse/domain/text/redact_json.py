"""Redacts secrets in JSON values. Keys, lists and nesting stay as they are."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from duecourse.domain.text.redaction import REDACTED, redact_whole

_MAX_NAME_LENGTH = 100
_PROBE = "0aA0aA0aA0"  # any value that no pattern takes for a word of a sentence


def redact_json(value: Any, key: str = "") -> Any:
    """Return `value` without secrets: those in a text, and every value whose key names a secret.

    `key` is the key that `value` belongs to.
    """
    try:
        return _redact(value, key)
    except RecursionError:  # nested more deeply than can be searched
        return REDACTED


def _redact(value: Any, key: str) -> Any:
    if isinstance(value, dict):
        return {name: _redact(part, name) for name, part in value.items()}
    if isinstance(value, list):
        return [_redact(part, key) for part in value]
    if value is None or isinstance(value, bool):
        return value
    if key and _names_secret(key[-_MAX_NAME_LENGTH:]):
        return REDACTED
    return redact_whole(value) if isinstance(value, str) else value


def mask_leaves(value: Any) -> Any:
    """Return `value` with every text, number and boolean replaced. Null says nothing, and stays."""
    if isinstance(value, dict):
        return {name: mask_leaves(part) for name, part in value.items()}
    if isinstance(value, list):
        return [mask_leaves(part) for part in value]
    return None if value is None else REDACTED


@lru_cache(maxsize=1_000)
def _names_secret(key: str) -> bool:
    """Return True if text redaction takes what is assigned to `key` for a secret."""
    return _PROBE not in redact_whole(f"{key}={_PROBE}")
