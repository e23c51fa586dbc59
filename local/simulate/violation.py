"""What a simulation reports when an invariant does not hold."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Violation:
    invariant: str
    text: str


class ViolationError(BaseException):
    """Ends the simulation at the step that violates an invariant. The product cannot catch it."""

    def __init__(self, violation: Violation) -> None:
        super().__init__(f"{violation.invariant}: {violation.text}")
        self.violation = violation
