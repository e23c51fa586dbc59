"""Pause a chat channel that has no valid token, and resume it as soon as it has one.

Nothing is read or written for a channel that works: only work that was refused before asks.
"""

from __future__ import annotations

from datetime import datetime

from duecourse.domain.limits.breaker_results import record_failure, record_success
from duecourse.domain.limits.channel_breaker import CHANNEL_RULES, channel_breaker_name
from duecourse.domain.limits.circuit_breaker import Admission, CircuitBreaker, reject
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.usecases.limits.circuit_breaker import BreakerDeps, admit, update_breaker


def admit_to_channel(
    channel: str, work_id: str, *, breakers: BreakerDeps, now: datetime
) -> Admission:
    """Return whether work that was refused before may try the channel now, perhaps as the probe."""
    name = channel_breaker_name(channel)
    return admit(name, work_id, breakers=breakers, now=now, rules=CHANNEL_RULES)


def pause_channel(
    channel: str, work_id: str, *, started_at: datetime, breakers: BreakerDeps, now: datetime
) -> datetime:
    """Record that the channel has no valid token; return when the work may try again."""
    name = channel_breaker_name(channel)

    def decide(breaker: CircuitBreaker) -> tuple[CircuitBreaker, CircuitBreaker]:
        after = record_failure(breaker, started_at=started_at, now=now, rules=CHANNEL_RULES)
        return after, after

    cached = breakers.store.get_cached(name).breaker
    after = decide(cached)[0]
    if after != cached:
        after = update_breaker(name, decide, breakers=breakers, now=now) or after
    return reject(work_id, not_before=max(after.state_until or now, now)).retry_at


def resume_channel(
    channel: str, work_id: str, *, started_at: datetime, breakers: BreakerDeps, now: datetime
) -> None:
    """Record that the work reached the channel, if it was the probe."""
    name = channel_breaker_name(channel)
    if breakers.store.get_last_read(name).breaker.probe_task_id != work_id:
        return

    def decide(breaker: CircuitBreaker) -> tuple[CircuitBreaker, None]:
        after = record_success(breaker, started_at=started_at, now=now, rules=CHANNEL_RULES)
        return after, None

    update_breaker(name, decide, breakers=breakers, now=now)


def channel_wait(channel: str, until: datetime) -> Wait:
    # `provider` is what older versions show.
    detail = {"provider": channel_breaker_name(channel), "channel": channel}
    return Wait(WaitReason.CIRCUIT_BREAKER, until=until, detail=detail)
