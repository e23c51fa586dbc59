"""Compare the clocks of this machine, of the API and of the functions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from local.cli.client.times import format_span
from local.cli.doctor.result import CheckResult, failed, ok, warning

TOLERANCE = timedelta(seconds=5)
MAX_DIFFERENCE = timedelta(seconds=60)
_DATE_STEP = timedelta(seconds=1)  # the Date header has whole seconds


@dataclass(frozen=True, slots=True)
class Reading:
    """One request: when it began and ended here, its Date header, and when the task was made."""

    began_at: datetime
    ended_at: datetime
    server_time: datetime
    task_created_at: datetime


def compare_clocks(reading: Reading, *, is_local: bool) -> CheckResult:
    """Judge the differences. The clock of a local stack may have been moved on purpose."""
    functions = reading.task_created_at - reading.server_time
    if abs(functions) > TOLERANCE:
        found = f"tasks are {_difference(functions)} the API's Date header"
        return failed("clock", found, "Check what answers at this address: a proxy, or a cache?")
    machine = _outside(reading.server_time, reading.began_at - _DATE_STEP, reading.ended_at)
    if abs(machine) <= TOLERANCE:
        return ok("clock", f"within {TOLERANCE.seconds} s of this machine")
    found = f"the stack is {_difference(machine)} this machine"
    if is_local:
        return warning("clock", found, "Restart the local stack to return to the real time.")
    advice = "Set the clock of this machine (NTP): times that you give are read by the stack's."
    judge = failed if abs(machine) > MAX_DIFFERENCE else warning
    return judge("clock", found, advice)


def _outside(instant: datetime, start: datetime, end: datetime) -> timedelta:
    """Return how far the instant lies after the end, or (negative) before the start."""
    if instant > end:
        return instant - end
    return min(instant - start, timedelta(0))


def _difference(by: timedelta) -> str:
    span = format_span(abs(by.total_seconds()))
    return f"{span} {'ahead of' if by > timedelta(0) else 'behind'}"
