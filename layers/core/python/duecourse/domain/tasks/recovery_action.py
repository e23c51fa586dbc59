"""What Duecourse does after a failure."""

from __future__ import annotations

from enum import StrEnum


class Action(StrEnum):
    """The next step after a failure. A policy's ladder is made of the first four."""

    RETRY_WITH_GUIDANCE = "retry_with_guidance"
    RETRY_WITH_SPEC_REFRESH = "retry_with_spec_refresh"
    ESCALATE_TO_HUMAN = "escalate_to_human"
    MARK_AS_BLOCKED = "mark_as_blocked"
    RETRY = "retry"
    WAIT_FOR_BUDGET = "wait_for_budget"
    GIVE_UP = "give_up"
    AWAIT_FIX = "await_fix"  # wait for a deployment that fixes the handler's code
    ASK_PERSON = "ask_person"  # a person must say whether the effect happened
