"""Describe in words why a task waits."""

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
            return "its message was dead-lettered before a worker claimed it: it was requeued"
        case WaitReason.RETRY_THROTTLE:
            return f"{_fact(wait, 'limit')} other retries are pending: it runs after them"
        case WaitReason.SPEC_REVIEW:
            review = (wait.task_id or "unknown")[:SHORT_ID_LENGTH]
            return f"the review of its specification, task {review}"
        case WaitReason.VERIFICATION:
            return "a person to approve or reject its work"
        case WaitReason.VERIFIER:
            return "its verifier to approve or reject its work"
    return _describe_outside(wait)


def _describe_outside(wait: Wait) -> str:
    """Describe a wait for a provider, subject or budget, or one that has its own message."""
    until = to_text(wait.until) if wait.until else None
    match wait.reason:
        case WaitReason.CIRCUIT_BREAKER:
            next_try = f": next try at {until}" if until else ""
            if wait.channel is not None:
                return f"channel {wait.channel} has no valid bot token{next_try}"
            problem = "refuses its key" if wait.is_key_refused else "is down"
            return f"provider {_fact(wait, 'provider')} {problem}{next_try}"
        case WaitReason.SUBJECT_COOLDOWN:
            next_try = f": next try at {until}" if until else ""
            return f"subject {_fact(wait, 'subject')} cools down{next_try}"
        case WaitReason.BUDGET if "message" not in wait.detail:
            reset = f": it resets at {until}" if until else ""
            return f"budget {_fact(wait, 'budget')} is used up for today{reset}"
    return str(_fact(wait, "message"))


def _fact(wait: Wait, name: str) -> object:
    return wait.detail.get(name, "unknown")
