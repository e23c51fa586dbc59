"""Why a task that is due may not run yet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from duecourse.domain.failures.decision import fraction
from duecourse.domain.failures.subject import Subject
from duecourse.domain.limits.circuit_breaker import Parked
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.ports.chat import QuietHours
from duecourse.ports.limits import Breakers
from duecourse.usecases.limits.circuit_breaker import admit
from duecourse.usecases.limits.quiet_hours import hold_back

SPREAD = 0.1
MOMENT = timedelta(minutes=1)


@dataclass(frozen=True)
class Obstacle:
    until: datetime
    wait: Wait


def find_obstacle(
    task: Task,
    subject: Subject | None,
    *,
    breakers: Breakers,
    quiet_hours: QuietHours,
    now: datetime,
) -> Obstacle | None:
    if task.is_reminder and (quiet := _quiet_now(task, quiet_hours, now=now)) is not None:
        return quiet
    until = _cooling_down_until(subject, task.id, now=now)
    if subject is not None and until is not None:
        wait = Wait(WaitReason.SUBJECT_COOLDOWN, until=until, detail={"subject": subject.id})
        return Obstacle(until, wait)
    if task.provider is None or (subject is not None and subject.was_given_up):
        return None
    answer = admit(task.provider, task.id, breakers=breakers, now=now)
    if isinstance(answer, Parked):
        detail = {"provider": task.provider}
        wait = Wait(WaitReason.CIRCUIT_BREAKER, until=answer.until, detail=detail)
        return Obstacle(answer.until, wait)
    return None


def _quiet_now(task: Task, quiet_hours: QuietHours, *, now: datetime) -> Obstacle | None:
    """Its owner is not to be disturbed. What is only a moment late comes as if it were not."""
    moment = task.due_at if now - task.due_at < MOMENT else now
    hold = hold_back(task.owner, quiet_hours, at=moment, wanted_at=task.wanted_at)
    return Obstacle(hold.until, hold.wait) if hold and hold.until > now else None


def _cooling_down_until(subject: Subject | None, task_id: str, *, now: datetime) -> datetime | None:
    """A subject that was given up is not waited for: its task fails at once.

    Tasks put off together come one after the other: the first to fail puts the others off again.
    """
    if subject is None or subject.was_given_up or not subject.cools_down_at(now):
        return None
    until = subject.cooldown_until or now
    return until + (until - now) * SPREAD * fraction(task_id)
