"""Redacts secrets in JSON values. Keys, lists and nesting stay as they are."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from duecourse.domain.text.redaction import REDACTED, redact_whole

_MAX_NAME_LENGTH = 100
_MAX_ARGUMENTS = 12  # of a command, that are searched for its name and its options
_MAX_COMMAND_LENGTH = 2_000
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
        return _redact_list(value, key)
    if value is None or isinstance(value, bool):
        return value
    if key and _names_secret(key[-_MAX_NAME_LENGTH:]):
        return REDACTED
    return redact_whole(value) if isinstance(value, str) else value


def _redact_list(values: list[Any], key: str) -> list[Any]:
    """Redact each value; in the arguments of a command, also what follows an option."""
    redacted: list[Any] = []
    for value in values:
        before = redacted[-_MAX_ARGUMENTS:]
        is_argument = isinstance(value, str) and any(_is_option(part) for part in (*before, value))
        is_argument = is_argument and all(isinstance(part, str) for part in before)
        part = _redact(value, key)
        redacted.append(_redact_argument(" ".join(before), part) if is_argument else part)
    return redacted


def _is_option(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("-")


def _redact_argument(before: str, argument: str) -> str:
    """Return `argument` without the secret that it is, or contains, after `before`."""
    if len(before) > _MAX_COMMAND_LENGTH:
        return argument
    if not argument.startswith("-") and _PROBE not in redact_whole(f"{before} {_PROBE}"):
        return REDACTED
    command = redact_whole(f"{before} {argument}")
    return command.removeprefix(f"{before} ") if command.startswith(f"{before} ") else argument


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
    texts = (f"{key}={_PROBE}", f'"{key}": "{_PROBE}"')
    return any(_PROBE not in redact_whole(text) for text in texts)
