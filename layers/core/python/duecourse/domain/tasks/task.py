"""A task as a frozen value. It changes only by `move_to`, which refuses illegal moves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from duecourse.domain.errors import IllegalTransitionError
from duecourse.domain.tasks.ids import SHORT_ID_LENGTH
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.status import CLOSED_STATUSES, TRANSITIONS, Status
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.time.recurrence import RecurrenceRule, Series
from duecourse.domain.time.timezones import load_timezone

DEFAULT_MAX_RETRIES = 3
REMINDER, ACTION = "reminder", "action"
DESCRIPTION_LIMIT = 4_000
API_CHANNEL = "api"  # the channel of tasks that only programs ask about


@dataclass(frozen=True, slots=True)
class SkippedOccurrences:
    """Occurrences that never ran, and why."""

    count: int
    reason: str


@dataclass(frozen=True, slots=True)
class ReviewLink:
    """Which task a review of a specification is of. `after_attempts` is how often that task had
    been tried; `spec` is its whole specification where the review's description has only a part.
    """

    of: str
    after_attempts: int = 0
    spec: Any = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """`nominal_at` is the occurrence's own time; `due_at` is when it runs next.

    `anchor` is the series' first time on the wall clock of its zone (naive on purpose): every
    occurrence is computed from it, so that a series cannot drift. `closed_at` is when it was
    called off; a task that ran to its end was closed when its run ended. `blocked_at` is since when
    it is blocked. `wait` says what keeps it from running at its time. `reviewed_at` is
    when the review of its specification brought it back; None once it failed again. `created_by` is
    the API token's name, or the operator's; who else asked is its sender. `asked_at` is when
    somebody last said when this occurrence is to come, `owner_asked_at` when its owner did in chat.
    `snooze_of` is the id of the reminder that was snoozed first, on the reminder that rings again
    for it. Only the system sets `snooze_of` and `review`.
    """

    id: str
    type: str
    channel: str
    sender_id: str
    reply_target: str
    description: str
    due_at: datetime
    nominal_at: datetime
    created_at: datetime
    anchor: datetime
    timezone: str = "UTC"
    repeat: str | None = None
    status: Status = Status.PENDING
    paused: bool = False
    delivered_at: datetime | None = None
    retry_count: int = 0
    max_retries: int = DEFAULT_MAX_RETRIES
    failed_occurrences: int = 0
    last_error: str | None = None
    last_error_category: str | None = None
    next_retry_at: datetime | None = None
    recovery_action: Action | None = None
    guidance: tuple[str, ...] = ()
    policy: str = "omega"
    subject: str | None = None
    payload: Mapping[str, Any] = field(default_factory=dict)
    verify: bool = False
    run: Run | None = None
    skipped: SkippedOccurrences | None = None
    wait: Wait | None = None
    reviewed_at: datetime | None = None
    closed_at: datetime | None = None
    blocked_at: datetime | None = None
    request_hash: str | None = None
    created_by: str | None = None
    rescheduled_at: datetime | None = None
    owner_rescheduled_at: datetime | None = None
    snooze_of: str | None = None
    review: ReviewLink | None = None
    version: int = 1

    @property
    def short_id(self) -> str:
        return self.id[:SHORT_ID_LENGTH]

    @property
    def run_id(self) -> str | None:
        return self.run.id if self.run else None

    @property
    def review_of(self) -> str | None:
        return self.review.of if self.review else None

    @property
    def owner(self) -> Owner:
        return Owner(self.channel, self.sender_id)

    @property
    def is_open(self) -> bool:
        return self.status not in CLOSED_STATUSES

    @property
    def is_waiting(self) -> bool:
        """It waits for its time, and nothing but its time."""
        return self.status is Status.PENDING and not self.paused

    @property
    def wait_reason(self) -> WaitReason | None:
        return self.wait.reason if self.wait else None

    @property
    def blocked_since(self) -> datetime:
        """Of a blocked task. Those from before this was kept are so since their run ended."""
        ended_at = self.run.ended_at if self.run else None
        return self.blocked_at or ended_at or self.due_at

    @property
    def is_reminder(self) -> bool:
        """A message and no more. It takes a moment: others may wait behind it."""
        return self.type == REMINDER

    @property
    def is_scheduled(self) -> bool:
        """Something happens at `due_at`: it runs, or the time for a verdict on its work is up."""
        return self.is_waiting or self.status is Status.PENDING_VERIFICATION

    @property
    def provider(self) -> str | None:
        """Who carries it out, where somebody does: nobody is asked for a reminder."""
        named = None if self.is_reminder else self.payload.get("provider")
        return named if isinstance(named, str) else None

    @property
    def owner_requested_at(self) -> datetime | None:
        """When its owner asked for what runs next; None where a series brings it by itself, or a
        program or an operator had the last word: neither speaks for an owner who sleeps."""
        if self.rescheduled_at not in (None, self.owner_rescheduled_at):
            return None
        is_made_for_it = self.repeat is None and self.created_by is None
        return self.owner_rescheduled_at or (self.created_at if is_made_for_it else None)

    @property
    def series(self) -> Series | None:
        if self.repeat is None:
            return None
        return Series(RecurrenceRule.parse(self.repeat), self.anchor, load_timezone(self.timezone))

    def move_to(self, to: Status, *, blocked_at: datetime | None = None) -> Task:
        """Return the next version of the task, in that status. Raises IllegalMoveError.

        What else a transition changes is replaced before: `replace(task, wait=None).move_to(…)`.
        `blocked_at` is given by whoever blocks it; every other move ends that.
        """
        if to not in TRANSITIONS[self.status]:
            raise IllegalTransitionError(self.short_id, self.status, to)
        return replace(self, status=to, version=self.version + 1, blocked_at=blocked_at)
