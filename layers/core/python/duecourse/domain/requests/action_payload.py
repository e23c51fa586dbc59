"""The payload of an action: its provider, budget and maximal cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from duecourse.domain.limits.budget import parse_budget_name, parse_micros
from duecourse.domain.validation.payload_keys import Keys, PayloadCheck, read_key

DEFAULT_CALL_COST = 3_000  # micro-dollars
CALL_KEYS = ("provider", "budget", "max_cost")


def max_call_cost(payload: Mapping[str, Any], *, default: int | None = None) -> int:
    """Return the micro-dollars to reserve from the budget during the call."""
    if "max_cost" in payload:
        return parse_micros(payload["max_cost"])
    return DEFAULT_CALL_COST if default is None else default


def check_action(payload: Mapping[str, Any], providers: Mapping[str, PayloadCheck]) -> None:
    """Validate an action's payload. Raises ValueError naming the wrong key."""
    provider = payload.get("provider")
    if not isinstance(provider, str) or provider not in providers:
        raise ValueError(f"provider: must be one of: {_join_names(providers)}")
    read_key(payload, "budget", _parse_budget_name, None)
    read_key(payload, "max_cost", parse_micros, None)
    providers[provider](payload)


def list_call_keys(payload: Mapping[str, Any], providers: Mapping[str, Keys]) -> list[str] | None:
    """Return the payload keys that the provider of the payload reads, or None if it is unknown.

    `providers` maps each provider to its own keys.
    """
    provider = payload.get("provider")
    if not isinstance(provider, str) or provider not in providers:
        return None
    return [*CALL_KEYS, *providers[provider]]


def _parse_budget_name(value: Any) -> str:
    return parse_budget_name(value if isinstance(value, str) else "")


def _join_names(providers: Mapping[str, PayloadCheck]) -> str:
    return ", ".join(sorted(providers)) or "none is configured"
