"""A task as a frozen value. Its status changes only through `move_to`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from duecourse.domain.errors import IllegalTransitionError
from duecourse.domain.tasks.failure_kind import ClearsBy, Kind
from duecourse.domain.tasks.ids import SHORT_ID_LENGTH
from duecourse.domain.tasks.late_report import LateReport
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.recent_errors import NO_ERRORS, RecentErrors
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import Run
from duecourse.domain.tasks.skipped import SkippedOccurrences
from duecourse.domain.tasks.status import CLOSED_STATUSES, TRANSITIONS, Status
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.domain.time.recurrence import RecurrenceRule, Series
from duecourse.domain.time.timezones import load_timezone

DEFAULT_MAX_RETRIES = 3
REMINDER, ACTION = "reminder", "action"
DESCRIPTION_LIMIT = 4_000
API_CHANNEL = "api"  # for tasks that no chat user owns
CHANNEL_PREFIX = "channel:"  # of the name of a channel's circuit breaker


@dataclass(frozen=True, slots=True)
class ReviewLink:
    """Links a spec review to the task `of` whose specification it reviews.

    `after_attempts`: how often that task had been tried. `spec`: the whole specification, if the
    review's description holds only a part of it.
    """

    of: str
    after_attempts: int = 0
    spec: Any = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """A one-off task, or the current occurrence of a series.

    `nominal_at`: the scheduled time of the occurrence. `due_at`: when it runs next.
    `anchor`: the first time of the series on the wall clock of its zone, without tzinfo. Every
    occurrence is computed from it, so a series cannot drift.
    `closed_at`: when the task was cancelled. Otherwise it closed when its run ended.
    `wait`: why the task does not run at its scheduled time.
    `waiting_since`: since when it waits for a budget, a provider, a channel or a subject.
    `reviewed_at`: when the review of its specification requeued it; None after the next failure.
    `created_by`: the name of the API token or operator; None if its sender created it.
    `rescheduled_at`: when somebody last set the time of this occurrence.
    `owner_rescheduled_at`: the same, if the owner did it in chat.
    `snooze_of`: on a snoozed reminder, the id of the reminder that was snoozed first.
    `recent_errors`: only counted for a task without a subject; a subject counts its own.
    `late_report`: carries a late report about an earlier run to the journal. It changes nothing
    about the task, so a write of it keeps the version: a running worker can still commit.
    Only the system sets `snooze_of`, `review` and `late_report`.
    `unknown_attributes`: what newer code stored with the task, in its stored form. Nothing reads
    it, and every write stores it again.
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
    last_error_kind: Kind | None = None
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
    waiting_since: datetime | None = None
    reviewed_at: datetime | None = None
    closed_at: datetime | None = None
    blocked_at: datetime | None = None
    request_hash: str | None = None
    created_by: str | None = None
    rescheduled_at: datetime | None = None
    owner_rescheduled_at: datetime | None = None
    snooze_of: str | None = None
    review: ReviewLink | None = None
    recent_errors: RecentErrors = NO_ERRORS
    late_report: LateReport | None = field(default=None, compare=False)
    version: int = 1
    unknown_attributes: Mapping[str, Any] = field(default_factory=dict, compare=False, repr=False)

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
    def last_error_clears_by(self) -> ClearsBy | None:
        """Return what makes the last error go away; None if unknown, or without an error."""
        return self.last_error_kind.clears_by if self.last_error_kind else None

    @property
    def owner(self) -> Owner:
        return Owner(self.channel, self.sender_id)

    @property
    def is_open(self) -> bool:
        return self.status not in CLOSED_STATUSES

    @property
    def is_waiting(self) -> bool:
        """Return whether the task is pending and not paused."""
        return self.status is Status.PENDING and not self.paused

    @property
    def wait_reason(self) -> WaitReason | None:
        return self.wait.reason if self.wait else None

    @property
    def blocked_since(self) -> datetime:
        """Return since when the task is blocked. Only meaningful for a blocked task.

        Items stored before `blocked_at` existed fall back to the end of their run.
        """
        ended_at = self.run.ended_at if self.run else None
        return self.blocked_at or ended_at or self.due_at

    @property
    def is_reminder(self) -> bool:
        """Return whether the task only sends a message. All other tasks run in the slow queue."""
        return self.type == REMINDER

    @property
    def is_scheduled(self) -> bool:
        """Return whether something happens at `due_at`: a run, or the verification time-out."""
        return self.is_waiting or self.status is Status.PENDING_VERIFICATION

    @property
    def provider(self) -> str | None:
        """Return the provider that the payload names, else None. A reminder has none.

        A name that starts with CHANNEL_PREFIX is none: such a circuit breaker is a channel's.
        """
        provider = None if self.is_reminder else self.payload.get("provider")
        is_name = isinstance(provider, str) and not provider.startswith(CHANNEL_PREFIX)
        return provider if is_name else None

    @property
    def owner_requested_at(self) -> datetime | None:
        """Return when the owner asked for the next run, else None.

        None if the run comes from a series, or if a program or an operator set its time last:
        their requests do not override the owner's quiet hours.
        """
        if self.rescheduled_at not in (None, self.owner_rescheduled_at):
            return None
        is_requested_by_owner = self.repeat is None and self.created_by is None
        return self.owner_rescheduled_at or (self.created_at if is_requested_by_owner else None)

    @property
    def series(self) -> Series | None:
        if self.repeat is None:
            return None
        return Series(RecurrenceRule.parse(self.repeat), self.anchor, load_timezone(self.timezone))

    def with_corrected_run(self, run: Run) -> Task:
        """Return the next version of the task with a correction of its run, in the same status."""
        return replace(self, run=run, skipped=None, version=self.version + 1)

    def move_to(self, to: Status, *, blocked_at: datetime | None = None) -> Task:
        """Return the next version of the task in status `to`. Raises IllegalTransitionError.

        Replace other fields first: `replace(task, wait=None).move_to(…)`. Pass `blocked_at` when
        the task becomes or stays blocked; every other transition clears it.
        """
        if to not in TRANSITIONS[self.status]:
            raise IllegalTransitionError(self.short_id, self.status, to)
        return replace(self, status=to, version=self.version + 1, blocked_at=blocked_at)
