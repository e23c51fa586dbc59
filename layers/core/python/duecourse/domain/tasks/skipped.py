"""Occurrences of a series that did not run. Code compares `reason`, never the sentence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from duecourse.domain.tasks.wait import Wait
from duecourse.domain.tasks.wait_text import describe_wait


class SkipReason(StrEnum):
    DEFERRED = "deferred"  # the run before them was deferred until after their time
    OUTAGE = "outage"  # nothing ran
    PAUSED = "paused"
    RETRY_OVERLAPPED = "retry_overlapped"
    RUN_OVERLAPPED = "run_overlapped"
    VERIFICATION_OVERLAPPED = "verification_overlapped"
    OTHER = "other"  # read from an item that other code wrote


@dataclass(frozen=True, slots=True)
class SkippedOccurrences:
    """How many occurrences of a series did not run, and why."""

    count: int
    reason: SkipReason


def describe_skip(reason: SkipReason, waited_for: Wait | None) -> str:
    """Return the reason as text. `waited_for` is what deferred the run before the occurrences."""
    match reason:
        case SkipReason.DEFERRED if waited_for is not None:
            return f"missed while it waited: {describe_wait(waited_for)}"
        case SkipReason.DEFERRED:
            return "missed while it waited"
        case SkipReason.OUTAGE:
            return "missed while nothing ran"
        case SkipReason.RETRY_OVERLAPPED:
            return "missed while it was being retried"
        case SkipReason.RUN_OVERLAPPED:
            return "missed while it ran"
        case SkipReason.VERIFICATION_OVERLAPPED:
            return "missed while its work was checked"
        case SkipReason.PAUSED | SkipReason.OTHER:
            return str(reason)
