"""Decide whether a due task may run now or has to be deferred."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from duecourse.domain.failures.retry_delay import MAX_JITTER, stable_fraction
from duecourse.domain.failures.subject import Subject
from duecourse.domain.limits.channel_breaker import MAX_CHANNEL_WAIT
from duecourse.domain.limits.circuit_breaker import Rejected
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.usecases.limits.channel_pause import admit_to_channel, channel_wait
from duecourse.usecases.limits.circuit_breaker import BreakerDeps, admit
from duecourse.usecases.limits.key_pause import breaker_wait
from duecourse.usecases.limits.quiet_hours import check_quiet_hours

if TYPE_CHECKING:
    from duecourse.ports.chat import QuietHoursStore

LATENESS_GRACE = timedelta(minutes=1)


@dataclass(frozen=True)
class Deferral:
    until: datetime
    wait: Wait


def check_admission(
    task: Task,
    subject: Subject | None,
    *,
    breakers: BreakerDeps,
    quiet_hours: QuietHoursStore,
    now: datetime,
) -> Deferral | None:
    """Return a deferral for quiet hours, a subject's cooldown, a channel or a breaker, else None.

    Returning None may use up a probe of the breaker: a recovering provider admits a limited number
    of tasks.
    """
    if (
        task.is_reminder
        and (deferral := _quiet_hours_deferral(task, quiet_hours, now=now)) is not None
    ):
        return deferral
    until = _subject_cooldown_until(subject, task.id, now=now)
    if subject is not None and until is not None:
        wait = Wait(WaitReason.SUBJECT_COOLDOWN, until=until, detail={"subject": subject.id})
        return Deferral(until, wait)
    if (deferral := _channel_deferral(task, breakers, now=now)) is not None:
        return deferral
    if task.provider is None or (subject is not None and subject.is_given_up):
        return None
    admission = admit(task.provider, task.id, breakers=breakers, now=now)
    if isinstance(admission, Rejected):
        breaker = breakers.store.get_last_read(task.provider).breaker
        wait = breaker_wait(
            task.provider, admission.retry_at, is_key_refused=breaker.is_key_refused
        )
        return Deferral(admission.retry_at, wait)
    return None


def _channel_deferral(task: Task, breakers: BreakerDeps, *, now: datetime) -> Deferral | None:
    """Return the deferral if the task waits for its channel, and the channel is still paused."""
    channel = task.wait.channel if task.wait else None
    if channel is None or now - task.nominal_at > MAX_CHANNEL_WAIT:
        return None
    admission = admit_to_channel(channel, task.id, breakers=breakers, now=now)
    if isinstance(admission, Rejected):
        return Deferral(admission.retry_at, channel_wait(channel, admission.retry_at))
    return None


def _quiet_hours_deferral(
    task: Task, quiet_hours: QuietHoursStore, *, now: datetime
) -> Deferral | None:
    """Return the deferral if the owner's quiet hours apply, else None.

    A reminder that is less than LATENESS_GRACE late is judged by its due time, not by `now`.
    """
    moment = task.due_at if now - task.due_at < LATENESS_GRACE else now
    deferral = check_quiet_hours(
        task.owner, quiet_hours, at=moment, owner_requested_at=task.owner_requested_at
    )
    return Deferral(deferral.until, deferral.wait) if deferral and deferral.until > now else None


def _subject_cooldown_until(
    subject: Subject | None, task_id: str, *, now: datetime
) -> datetime | None:
    """Return when to try again if the subject is cooling down, else None.

    A subject that was given up does not defer its tasks: they fail at once. The jitter spreads the
    tasks of one subject, so the first to fail can defer the others again.
    """
    if subject is None or subject.is_given_up or not subject.is_cooling_down(now):
        return None
    until = subject.cooldown_until or now
    return until + (until - now) * MAX_JITTER * stable_fraction(task_id)
