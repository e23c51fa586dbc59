"""Where a failure came from, and whether the outside effect of its run has happened."""

from __future__ import annotations

from enum import StrEnum


class Origin(StrEnum):
    WORK = "work"  # the work itself failed
    ANSWER = "answer"  # the provider answered, and said that it did not succeed
    NOT_ATTEMPTED = "not_attempted"  # something of ours failed before the work began
    SUBJECT = "subject"  # the subject had been given up before
    CRASH = "crash"  # the worker was never heard of again
    LOGIC = "logic"  # the handler's own code is wrong
    INDETERMINATE = "in_doubt"  # the effect may have happened, and the handler could not find out
    REJECTED = "rejected"  # somebody looked at the work and said no
    UNVERIFIED = "unverified"  # nobody looked at the work in time

    @property
    def is_learnable(self) -> bool:
        """The work was tried. All else is our own doing, and settles by itself what is done."""
        return self in (Origin.WORK, Origin.ANSWER, Origin.CRASH)


class Effect(StrEnum):
    """Whether the one outside effect of a run that failed has happened."""

    NONE = "none"
    UNKNOWN = "unknown"
    APPLIED = "applied"
