"""Reads the keys of a task's payload; what is wrong with one is said with its name."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

PayloadCheck = Callable[[Mapping[str, Any]], None]


Keys = Collection[str]


FindKeys = Callable[[Mapping[str, Any]], Keys | None]


T = TypeVar("T")
IDEMPOTENT = "idempotent"
IDEMPOTENT_IN_0_1 = "repeat_is_harmless"  # still read: callers and stored tasks have it
# Every payload may have these keys, whatever the type of its task.
COMMON_KEYS = (IDEMPOTENT, "verifier", "spec", "review")
# Links between tasks, which earlier versions stored in the payload. They are fields of a task now.
LINKS = ("snooze_of", "spec_review")


def read_key(payload: Mapping[str, Any], key: str, parse: Callable[[Any], T], default: T) -> T:
    """Raises ValueError beginning with the key."""
    return parse_named(key, payload[key], parse) if key in payload else default


def parse_named(key: str, value: Any, parse: Callable[[Any], T]) -> T:
    try:
        return parse(value)
    except ValueError as error:
        raise ValueError(f"{key}: {error}") from None


def reject_unknown_keys(payload: Mapping[str, Any], known: Collection[str] | None) -> None:
    """Raise ValueError naming the first key that is not known; None: every key is."""
    if known is None:
        return
    if unknown := [key for key in payload if key not in (*known, IDEMPOTENT_IN_0_1)]:
        raise ValueError(f"{unknown[0][:100]}: is not known; these are: {', '.join(known)}")


def is_declared_idempotent(payload: Mapping[str, Any]) -> bool:
    """Whether the payload says that repeating the side effect does no harm."""
    return payload.get(IDEMPOTENT, payload.get(IDEMPOTENT_IN_0_1)) is True


def check_idempotent(payload: Mapping[str, Any]) -> None:
    """Raise ValueError naming the key if its value is neither true nor false."""
    for key in (IDEMPOTENT, IDEMPOTENT_IN_0_1):
        read_key(payload, key, parse_bool, False)


def refuse_links(payload: Mapping[str, Any]) -> None:
    """Raise ValueError for a payload that names a link: only the system links tasks."""
    if found := [key for key in LINKS if key in payload]:
        raise ValueError(f"{found[0]}: is set by the system alone, and not in a payload")


def parse_bool(value: Any) -> bool:
    if not isinstance(value, bool):
        raise ValueError("must be true or false")
    return value
