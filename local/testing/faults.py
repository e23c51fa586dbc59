"""Injected faults: the nth call of a kind fails, before or after it took effect."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from duecourse.domain.origin import Effect
from duecourse.domain.validation.fields import Fields, choice_field, integer_field, text_field

_MAX_COUNT = 1_000_000
# Calls other than AWS's. Functions that run on a schedule make none of them.
EXTERNAL_CALLS = frozenset(
    {"channel.send", "provider.call", "http.post", "live.push"}
    | {f"handler.{one}" for one in ("prepare", "release", "mutate", "emit", "reconcile")}
)
_ERROR_FIELDS = {"message", "type", "code", "status", "retry_after"}
_DEFAULT_ERRORS: dict[str, dict[str, Any]] = {
    "throttle": {"message": "Too Many Requests", "status": 429},
    "timeout": {"message": "the call timed out without an answer", "code": "ETIMEDOUT"},
}
_KNOWN_FIELDS = {"function", "when", "call", "nth", "times", "kind", "error"}


class SimulatedCrash(BaseException):
    """Ends an invocation like a killed Lambda. A BaseException, so handlers do not catch it."""


@dataclass
class Fault:
    call: str
    function: str | None = None
    when: str = "before"
    nth: int = 1
    times: int = 1
    kind: str = "crash"
    error: Mapping[str, Any] = field(default_factory=dict)
    seen_count: int = 0

    @property
    def is_pending(self) -> bool:
        return self.seen_count < self.nth + self.times - 1

    def count_and_match(self, function: str | None, call: str, when: str) -> bool:
        if call != self.call or when != self.when or self.function not in (None, function):
            return False
        self.seen_count += 1
        return self.nth <= self.seen_count < self.nth + self.times


class InjectedError(Exception):
    """The error of an external call, as its client would raise it."""

    effect: Effect = Effect.NONE

    def __init__(self, fault: Fault) -> None:
        error = {**_DEFAULT_ERRORS.get(fault.kind, {}), **fault.error}
        super().__init__(str(error.get("message", f"injected {fault.kind}")))
        self.type = error.get("type")
        self.code = error.get("code")
        self.status = error.get("status")
        self.retry_after = error.get("retry_after")


def fault_from_request(raw: Mapping[str, Any]) -> Fault:
    """Return the fault. Raises InvalidFieldsError naming every invalid field."""
    fields = Fields(raw, allowed=_KNOWN_FIELDS)
    if not fields.has("call"):
        fields.add_error("call", "is required, for example dynamodb.PutItem or channel.send")
    fault = Fault(
        call=fields.read("call", text_field(100), ""),
        function=fields.read("function", lambda value: short_name(text_field(100)(value)), None),
        when=fields.read("when", choice_field({"before", "after"}), "before"),
        nth=fields.read("nth", integer_field(1, _MAX_COUNT), 1),
        times=fields.read("times", integer_field(1, _MAX_COUNT), 1),
        kind=fields.read("kind", choice_field({"crash", "throttle", "timeout", "error"}), "crash"),
        error=fields.read("error", _parse_error, {}),
    )
    fields.raise_if_invalid()
    return fault


def short_name(function: str) -> str:
    """Return the short name: `WorkerFunction` and `worker` are the same function."""
    return function.removesuffix("Function").lower()


class Faults:
    """The faults that are still pending."""

    def __init__(self) -> None:
        self._pending: list[Fault] = []

    def add(self, fault: Fault) -> None:
        self._pending.append(fault)

    def clear(self) -> None:
        self._pending.clear()

    def has_pending_for(self, function: str) -> bool:
        """Return whether an AWS call of `function` can still fail.

        Such a function's ticks must not be skipped, since every call counts.
        """
        name = short_name(function)
        return any(
            fault.function in (None, name) and fault.is_pending and fault.call not in EXTERNAL_CALLS
            for fault in self._pending
        )

    def match(self, function: str | None, call: str, when: str) -> Fault | None:
        """Return the fault for this call, or None; every matching fault counts the call.

        The runtime's own calls (`function` is None) never fail.
        """
        if function is None:
            return None
        met = [fault for fault in self._pending if fault.count_and_match(function, call, when)]
        return met[0] if met else None


def _parse_error(value: Any) -> dict[str, Any]:
    if not isinstance(value, dict) or not value.keys() <= _ERROR_FIELDS:
        raise ValueError(f"must be an object of: {', '.join(sorted(_ERROR_FIELDS))}")
    if value.get("status") is not None:
        integer_field(400, 599)(value["status"])
    return value
