"""What is known about a task and its run when a failure is decided."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from duecourse.domain.failures.adaptive_backoff import RetryOutcomesByDelay
from duecourse.domain.failures.subject import Subject
from duecourse.domain.origin import Origin

UNCOUNTED_ATTEMPTS = 5  # about half an hour of retries; later ones count like any failure


@dataclass(frozen=True, kw_only=True, slots=True)
class FailureContext:
    """What is known when the failure is recorded.

    `retry_count`: the count before this failure.
    `first_failed_at`: the first counted failure since somebody last reset the count; None if this
    is it.
    `jitter_seed`: spreads retries; the same seed gives the same decision again.
    `is_indeterminate`: the effect may have happened, and repeating it could do harm.
    `is_human_required`: only a person can still tell whether the effect happened.
    `is_access_paused`: the task's channel has no valid token, or its provider no valid key, and the
    task waits for one.
    `budget`: the name of the budget that pays for the task's calls.
    `is_over_budget`: a budget of Duecourse is used up, or a person says so. Nothing else may make a
    failure use up no retry, whatever its category is.
    `is_wait_expired`: the task waited too long without an attempt.
    `retry_outcomes`: how retries of this category went, by delay; if empty, the policy's delay is
    kept.
    """

    retry_count: int
    max_retries: int
    failed_at: datetime
    budget_resets_at: datetime
    first_failed_at: datetime | None = None
    attempt: int = 1
    jitter_seed: str = ""
    has_spec: bool = False
    subject: Subject | None = None
    origin: Origin = Origin.WORK
    is_human_required: bool = False
    is_indeterminate: bool = False
    is_access_paused: bool = False
    budget: str | None = None
    is_over_budget: bool = False
    is_wait_expired: bool = False
    retry_outcomes: RetryOutcomesByDelay = field(default_factory=dict)

    @property
    def is_uncounted(self) -> bool:
        """Return whether Duecourse itself failed, and not too often to leave it uncounted.

        A wait for a token or a key is bounded by time and not by attempts.
        """
        return self.is_access_paused or (
            self.origin is Origin.NOT_ATTEMPTED and self.attempt <= UNCOUNTED_ATTEMPTS
        )

    @property
    def is_attempted(self) -> bool:
        is_tried = self.origin is not Origin.SUBJECT and not self.is_wait_expired
        return is_tried and not self.is_uncounted

    @property
    def applies_to_subject(self) -> bool:
        """Return whether the subject records this failure.

        A bug in the handler or a missed verification says nothing about the subject.
        """
        return self.is_attempted and self.origin not in (Origin.LOGIC, Origin.UNVERIFIED)
