"""Reads the keys of a task's payload. Every error message starts with the key."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

PayloadCheck = Callable[[Mapping[str, Any]], None]
Keys = Collection[str]
FindKeys = Callable[[Mapping[str, Any]], Keys | None]
T = TypeVar("T")
IDEMPOTENT = "idempotent"
IDEMPOTENT_IN_0_1 = "repeat_is_harmless"  # still read, because callers and stored tasks use it
# Allowed in the payload of every task type.
COMMON_KEYS = (IDEMPOTENT, "verifier", "spec", "review")
# Links between tasks. Earlier versions stored them in the payload; now they are fields of a task.
LINKS = ("snooze_of", "spec_review")


def read_key(payload: Mapping[str, Any], key: str, parse: Callable[[Any], T], default: T) -> T:
    """Return the parsed value, or `default` if `key` is missing.

    Raises ValueError with a message that starts with the key.
    """
    return parse_named(key, payload[key], parse) if key in payload else default


def parse_named(key: str, value: Any, parse: Callable[[Any], T]) -> T:
    try:
        return parse(value)
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None


def reject_unknown_keys(payload: Mapping[str, Any], allowed: Collection[str] | None) -> None:
    """Raise ValueError naming the first key that is not in `allowed`. None allows every key.

    The old name of `idempotent` is always allowed.
    """
    if allowed is None:
        return
    if unknown := [key for key in payload if key not in (*allowed, IDEMPOTENT_IN_0_1)]:
        raise ValueError(f"{unknown[0][:100]}: unknown key; allowed keys: {', '.join(allowed)}")


def is_declared_idempotent(payload: Mapping[str, Any]) -> bool:
    """Return whether the payload declares that repeating the side effect is safe."""
    return payload.get(IDEMPOTENT, payload.get(IDEMPOTENT_IN_0_1)) is True


def check_idempotent(payload: Mapping[str, Any]) -> None:
    """Raise ValueError naming the key if its value is neither true nor false."""
    for key in (IDEMPOTENT, IDEMPOTENT_IN_0_1):
        read_key(payload, key, parse_bool, False)


def refuse_links(payload: Mapping[str, Any]) -> None:
    """Raise ValueError if the payload contains a link. Only the system links tasks."""
    if found := [key for key in LINKS if key in payload]:
        raise ValueError(f"{found[0]}: is set by Duecourse; remove it from the payload")


def parse_bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value
