"""The scripted provider: each attempt uses the next entry of the task's own script."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from duecourse.domain.limits.budget import parse_micros
from duecourse.ports.integrations import ProviderReply, ProviderRequest

from local.runtime.call_interceptor import CallInterceptor

_ERROR_FIELDS = frozenset({"message", "type", "code", "status", "retry_after"})
_ENTRY_FIELDS = ({"error"}, {"reply"}, {"reply", "cost"})
# Actions requested in chat have no script; locally they just succeed.
_DEFAULT_SCRIPT: list[dict[str, Any]] = [
    {"reply": "The scripted provider did nothing.\nACTION_OUTCOME: success"}
]


class ScriptedError(Exception):
    """The error in the script, as a real provider's client would raise it."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error.get("message", "scripted error")))
        self.type = error.get("type")
        self.code = error.get("code")
        self.status = error.get("status")
        self.retry_after = error.get("retry_after")


# Gets the payload, the entry of the script and its cost for each call that reached the provider.
OnCall = Callable[[Mapping[str, Any], Mapping[str, Any], int | None], None]


class ScriptedProvider:
    payload_keys = ("script",)

    def __init__(self, calls: CallInterceptor, on_call: OnCall | None = None) -> None:
        self._calls = calls
        self._on_call = on_call

    def call(self, request: ProviderRequest) -> ProviderReply:
        script = request.payload.get("script", _DEFAULT_SCRIPT)
        entry = script[min(_entry_number(request), len(script)) - 1]
        with self._calls.intercept("provider.call"):
            cost = parse_micros(entry["cost"]) if "cost" in entry else None
            if self._on_call is not None:
                self._on_call(request.payload, entry, cost)
            if "error" in entry:
                raise ScriptedError(entry["error"])
            return ProviderReply(str(entry["reply"]), cost)

    def estimate_max_cost(self, request: ProviderRequest) -> int | None:  # noqa: ARG002 - a script has no prices
        return None

    def check(self, payload: Mapping[str, Any]) -> None:
        script = payload.get("script", _DEFAULT_SCRIPT)
        if not isinstance(script, list) or not script:
            raise ValueError("script: must be a list of replies and errors")
        for number, entry in enumerate(script, start=1):
            _check_entry(number, entry)


def _entry_number(request: ProviderRequest) -> int:
    """Return the entry's number. A spec review continues the script of the task it reviews."""
    return request.attempt + request.earlier_attempts


def _check_entry(number: int, entry: Any) -> None:
    if not isinstance(entry, dict) or set(entry) not in _ENTRY_FIELDS:
        raise ValueError(f"script: entry {number} must hold either an error or a reply")
    error = entry.get("error", {})
    if not isinstance(error, dict) or not set(error) <= _ERROR_FIELDS:
        known = ", ".join(sorted(_ERROR_FIELDS))
        raise ValueError(f"script: the error of entry {number} may hold {known}")
    if not isinstance(entry.get("reply", ""), str):
        raise ValueError(f"script: the reply of entry {number} must be a text")
    if "cost" in entry:
        parse_micros(entry["cost"])
