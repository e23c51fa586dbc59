"""What a reminder, an action and a retry may cost. `make bench-cost` exits with 1 above it."""

from __future__ import annotations

from dataclasses import dataclass

REMINDER = "a reminder"
ACTION = "a successful action"
RETRY = "one retry of it"
UNIT_TARGETS = {
    REMINDER: {"write_units": 7.5, "read_units": 1.3},
    ACTION: {"write_units": 10.0, "read_units": 4.0, "sqs_requests": 6.0},
    RETRY: {"write_units": 7.0, "read_units": 4.0, "sqs_requests": 7.0},
}
DOLLAR_TARGETS = {"whole minutes": 8.0, "random seconds": 10.0}
# The price of each of ten failures in one batch, as a part of that of a single failure.
BATCHED_FAILURE_TARGET = 0.8


@dataclass(frozen=True)
class Comparison:
    """A measured figure and its target."""

    label: str
    figure: float
    target: float

    @property
    def is_met(self) -> bool:
        return self.figure <= self.target
