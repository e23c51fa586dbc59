"""What tasks of the types `lambda`, `lamp` and `remote-lamp` do outside the stack, counted.

The team's system switches lamps. It keeps each command under its idempotency key, so that a handler
can look it up. It does not refuse a second command with the same key: that would hide a double.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

LAMBDA_NAME = "lights"
OUTCOMES = ("success", "refused", "fails-before", "fails-after", "unreadable")


class RefusedCommandError(Exception):
    """The system did nothing, and said so."""


@dataclass(frozen=True)
class Performed:
    """One effect."""

    key: str
    at: datetime


@dataclass
class OutsideWork:
    """`acquired`: by key, how often `prepare` got something that was neither used nor released.

    `emitted`: the keys of results that were told to others.
    """

    now: Callable[[], datetime]
    performed: list[Performed] = field(default_factory=list)
    emitted: list[str] = field(default_factory=list)
    acquired: Counter[str] = field(default_factory=Counter)
    _first_allowed: dict[str, int] = field(default_factory=dict)

    def acquire(self, key: str) -> dict[str, str]:
        self.acquired[key] += 1
        return {"lamp": key[:8]}

    def release(self, key: str) -> None:
        self.acquired[key] -= 1

    def perform(self, key: str, attempt: int) -> str:
        """Switch the lamp. Raises RefusedCommandError for an attempt that was looked up as lost."""
        if attempt < self._first_allowed.get(key, 0):
            raise RefusedCommandError("a later attempt has begun")
        self.acquired[key] -= 1
        self.performed.append(Performed(key, self.now()))
        return "on"

    def emit(self, key: str) -> None:
        self.emitted.append(key)

    def is_performed(self, key: str, attempt: int) -> bool:
        """Return whether the effect happened. If not, no attempt before `attempt` has it later."""
        self._first_allowed[key] = max(attempt, self._first_allowed.get(key, 0))
        return any(one.key == key for one in self.performed)

    def invoke(self, _function: str, payload: bytes) -> tuple[bytes, str | None]:
        """Return the response of the Lambda function, and `Unhandled` if it raised an error."""
        request = json.loads(payload)
        try:
            return _to_response(self._answer(request)), None
        except RefusedCommandError as error:
            return _to_error("NotAppliedError", str(error)), "Unhandled"
        except RuntimeError as error:
            return _to_error("RuntimeError", str(error)), "Unhandled"

    def _answer(self, request: Mapping[str, Any]) -> Any:
        key, attempt = request["key"], request["attempt"]
        match request.get("phase"):
            case "prepare":
                return self.acquire(key)
            case "emit":
                self.emit(key)
                return "told"
            case "reconcile":
                return {"applied": self.is_performed(key, attempt), "result": "on"}
        payload = request.get("input") or request["task"]["payload"]
        return self.perform_as(choose_outcome(payload.get("outcomes", ()), attempt), key, attempt)

    def perform_as(self, outcome: str, key: str, attempt: int) -> Any:
        """Do the work, or fail before or after it. Raises RuntimeError where that is unknown."""
        if outcome == "refused":
            raise RefusedCommandError("the lamp is locked")
        if outcome == "fails-before":
            raise RuntimeError("the bridge is down")
        result = self.perform(key, attempt)
        if outcome == "fails-after":
            raise RuntimeError("the bridge broke")
        return None if outcome == "unreadable" else result


def choose_outcome(outcomes: Any, attempt: int) -> str:
    """Return the outcome of an attempt: the one with its number, or the last."""
    return str(outcomes[min(attempt, len(outcomes)) - 1]) if outcomes else OUTCOMES[0]


def _to_response(answer: Any) -> bytes:
    return b"not JSON" if answer is None else json.dumps(answer).encode()


def _to_error(name: str, message: str) -> bytes:
    return json.dumps({"errorType": name, "errorMessage": message}).encode()
