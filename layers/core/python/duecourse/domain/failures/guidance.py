"""The hint that the next attempt gets about a failure."""

from __future__ import annotations

import re

from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure_context import FailureContext
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run_diagnosis import Location

# A path and nothing else. The error chooses the file name, and prompts show hints as our own words.
_PLAIN_PATH = re.compile(r"(?:[A-Za-z]:(?=[\\/]))?[A-Za-z0-9_.@~+/\\-]{1,120}")
_ORDINALS = ("First", "Second", "Third")


def format_guidance(
    action: Action,
    diagnosis: Diagnosis,
    limit: int,
    context: FailureContext,
    *,
    is_past_deadline: bool = False,
) -> str | None:
    """Return the hint for the next attempt, or None if `action` is not a step of a ladder.

    `is_past_deadline`: retries are left, but the next one would be too late.
    """
    fix, failures = diagnosis.fix, context.retry_count + 1
    if diagnosis.location is not None:
        fix += _format_location(diagnosis.location)
    match action:
        case Action.RETRY_WITH_GUIDANCE if context.retry_count == 0:
            return fix
        case Action.RETRY_WITH_GUIDANCE:
            ordinal = _ORDINALS[min(context.retry_count, len(_ORDINALS) - 1)]
            new_approach = (
                " Take an entirely different approach." if context.retry_count >= 2 else ""
            )
            return f"{ordinal} retry. {fix}{new_approach}"
        case Action.RETRY_WITH_SPEC_REFRESH:
            return f"It failed {failures} times: the specification may be unclear. {fix}"
        case Action.ESCALATE_TO_HUMAN:
            count = "once" if failures == 1 else f"{failures} times"
            return f"It failed {count} and needs a person to look at it. {fix}"
        case Action.MARK_AS_BLOCKED:
            reason = _why_blocked(diagnosis, limit, context, is_past_deadline=is_past_deadline)
            return f"{reason} {fix}"
    return None


def _why_blocked(
    diagnosis: Diagnosis, limit: int, context: FailureContext, *, is_past_deadline: bool
) -> str:
    if context.is_wait_expired:
        return "It waited too long and was not tried."
    if is_past_deadline:
        return "The next retry would come too long after the first failure."
    return f"No retry is left ({limit} for {diagnosis.category})."


def _format_location(location: Location) -> str:
    """Return where the error is, or nothing if the file is not a plain path."""
    if not _PLAIN_PATH.fullmatch(location.file):
        return ""
    line = f", line {location.line}" if location.line else ""
    return f" It points to {location.file}{line}."
