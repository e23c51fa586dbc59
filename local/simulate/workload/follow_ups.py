"""Operations that fit what an earlier operation of the plan leads to, with their times.

Drawn alone, most operations about a task meet it in a state that refuses them.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FollowUp:
    """`earliest` and `latest` are seconds after the task is due, or after the operation.

    `gap` is how many seconds there are at least between the two operations.
    """

    name: str
    earliest: float = 2.0
    latest: float = 20.0
    gap: float = 0.5


def _each(*names: str, earliest: float = 2.0, latest: float = 20.0) -> tuple[FollowUp, ...]:
    return tuple(FollowUp(name, earliest, latest) for name in names)


AT_END = _each("press-button", "say-task", "delete", "read-task") + _each(
    "dead-letter", "dead-letter", earliest=-20.0, latest=-1.0
)
# Until then there is a message, and it is stored.
AFTER_DEAD_LETTER = _each("redrive", "redrive", "drop-letter", earliest=30.0, latest=90.0)
AFTER_REMINDER = _each("say-snooze", "press-button", "say-done", "delete") + _each(
    *("pause", "say-pause", "say-cancel", "cancel", "say-quiet", "edit", "edit"),
    earliest=-40.0,
    latest=-1.0,
)
TO_FORGET = _each("forget-sender", "forget-sender", "say-forget", earliest=-40.0, latest=20.0)
BEFORE_REMINDER = _each("edit", earliest=-120.0, latest=-60.0)
# Requests that change a task while another request changes it.
AFTER_EDIT = tuple(FollowUp(name, 0.0, 0.002, gap=0.0) for name in ("edit", "edit", "pause"))
AFTER_SERIES = _each("pause", "run", "say-snooze", "edit", "retry", "cancel", latest=60.0)
AFTER_FAILURE = (
    *_each("retry", "say-retry", "reclassify", "reclassify", "press-button"),
    *_each("unblock", "read-logs", "reclassify", "retry", latest=8.0),
)
# A task with one retry is blocked after half a minute.
AFTER_BLOCK = _each(
    *("unblock", "unblock", "retry", "reclassify", "press-button", "say-retry"),
    earliest=36.0,
    latest=60.0,
)
AFTER_UNKNOWN = _each(
    *("resolve", "resolve-applied", "resolve-applied", "say-resolve", "press-button"),
    earliest=4.0,
    latest=30.0,
)
AFTER_WORK = _each("approve", "reject", "reject", "say-approve", "say-reject", "press-button")
AFTER_BUG = _each("redeploy", "redeploy", "redeploy", "unblock", "retry", latest=40.0)
AFTER_PAUSE = _each("resume", "say-resume", earliest=1.0)
AFTER_RECLASSIFICATION = _each("forget-pattern", earliest=130.0, latest=200.0)
# The retries of a task with a code error take seven minutes until its specification is reviewed.
AFTER_CODE_ERROR = _each("end-review", earliest=440.0, latest=600.0) + _each("reclassify", "retry")
BEFORE_PAYMENT = _each("set-limit", earliest=-30.0, latest=-1.0)
AFTER_SUBJECT = _each("reset-subject", "read-learned")
AFTER_LIMIT = _each("set-limit", earliest=20.0, latest=60.0)
# A message that cannot be read becomes a dead letter after three deliveries, six minutes each.
AFTER_POISON = _each("redrive", "drop-letter", earliest=1200.0, latest=1500.0)
