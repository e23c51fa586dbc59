"""Where a failure came from, and whether the failed run had its outside effect."""

from __future__ import annotations

from enum import StrEnum


class Origin(StrEnum):
    WORK = "work"  # the handler raised an error
    ANSWER = "answer"  # the provider replied that it did not succeed
    NOT_ATTEMPTED = "not_attempted"  # Duecourse failed before the effect began
    SUBJECT = "subject"  # the subject had already failed permanently
    CRASH = "crash"  # the worker did not report before its lease expired
    LOGIC = "logic"  # a bug in the handler's code
    INDETERMINATE = "in_doubt"  # `reconcile` could not tell if the effect happened
    REJECTED = "rejected"  # a verifier rejected the work
    UNVERIFIED = "unverified"  # nobody verified the work before the deadline

    @property
    def is_learnable(self) -> bool:
        """Return whether a correction of this failure's category may be learned for later failures.

        For the other origins, the origin alone decides what happens next.
        """
        return self in (Origin.WORK, Origin.ANSWER, Origin.CRASH)


class Effect(StrEnum):
    """Whether a failed run had its outside effect."""

    NONE = "none"
    UNKNOWN = "unknown"
    APPLIED = "applied"
