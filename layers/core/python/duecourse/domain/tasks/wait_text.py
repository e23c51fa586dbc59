"""Describes in words why a task waits."""

from __future__ import annotations

from duecourse.domain.tasks.ids import SHORT_ID_LENGTH
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.time.instant import to_text


def describe_wait(wait: Wait | None) -> str | None:
    """Return the text that follows "waits for:", or None if the task does not wait."""
    if wait is None:
        return None
    match wait.reason:
        case WaitReason.QUIET_HOURS:
            return f"quiet hours until {_fact(wait, 'end')} ({_fact(wait, 'zone')})"
        case WaitReason.REQUEUED:
            return "its message died before a worker took it: it was sent again"
        case WaitReason.RETRY_THROTTLE:
            return f"{_fact(wait, 'limit')} other retries wait: it comes after them"
        case WaitReason.SPEC_REVIEW:
            review = (wait.task_id or "unknown")[:SHORT_ID_LENGTH]
            return f"the review of its specification, task {review}"
        case WaitReason.VERIFICATION:
            return "somebody to say whether it was done well"
        case WaitReason.VERIFIER:
            return "its verifier to say whether it was done well"
    return _describe_outside(wait)


def _describe_outside(wait: Wait) -> str:
    """Describe a wait for a provider, subject or budget, or one that has its own message."""
    until = to_text(wait.until) if wait.until else None
    match wait.reason:
        case WaitReason.CIRCUIT_BREAKER:
            next_try = f": tried again from {until} on" if until else ""
            return f"provider {_fact(wait, 'provider')} is down{next_try}"
        case WaitReason.SUBJECT_COOLDOWN:
            next_try = f": not again before {until}" if until else ""
            return f"subject {_fact(wait, 'subject')} was tried in vain{next_try}"
        case WaitReason.BUDGET if "message" not in wait.detail:
            next_try = f": it is whole again at {until}" if until else ""
            return f"budget {_fact(wait, 'budget')} is used up for today{next_try}"
    return str(_fact(wait, "message"))


def _fact(wait: Wait, name: str) -> object:
    return wait.detail.get(name, "unknown")
