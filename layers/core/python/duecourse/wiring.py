"""Puts the use cases together, each on first use, once per container."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from duecourse import offered, parts
from duecourse.adapters.pauses import jittered_pause
from duecourse.adapters.unread_learning import log_unread

if TYPE_CHECKING:
    from duecourse.domain.alerts.rules import Limits
    from duecourse.usecases.chat_desk import ChatDesk
    from duecourse.usecases.create_task import Desk
    from duecourse.usecases.follow_review import Follower
    from duecourse.usecases.give_notice import Crier
    from duecourse.usecases.give_verdict import VerdictBook
    from duecourse.usecases.push_live import Audience
    from duecourse.usecases.raise_alerts import Herald
    from duecourse.usecases.read_signals import Instruments
    from duecourse.usecases.record_failure import Recorder
    from duecourse.usecases.record_history import Clerk
    from duecourse.usecases.run_task import Worker
    from duecourse.usecases.take_dead_letter import Undertaker
    from duecourse.usecases.verify_task import Court


def desk() -> Desk:
    from duecourse.usecases.create_task import Desk

    return Desk(parts.task_store(), parts.work_queue(), parts.budgets(), offered.offer())


def chat_desk() -> ChatDesk:
    from duecourse.domain.chat.notification_kind import Notify
    from duecourse.usecases.chat_desk import ChatDesk

    # A provider that was added to those that ship was added to be used.
    providers = sorted(offered.providers(), key=lambda name: name in offered.shipped_providers())
    return ChatDesk(
        desk=desk(),
        book=verdict_book(),
        profiles=parts.profiles(),
        quiet_hours=parts.quiet_hours(),
        audit_log=parts.journal(),
        recorder=recorder,
        providers=providers,
        operators=parts.operators(),
        notify=Notify(parts.settings().notify),
    )


def crier() -> Crier:
    from duecourse.domain.chat.notification_kind import Notify
    from duecourse.usecases.give_notice import Crier

    return Crier(
        channels=offered.channels(),
        profiles=parts.profiles(),
        quiet_hours=parts.quiet_hours(),
        store=parts.task_store(),
        notify=Notify(parts.settings().notify),
    )


@cache
def verdict_book() -> VerdictBook:
    from duecourse.usecases.give_verdict import VerdictBook

    return VerdictBook(parts.task_store(), parts.subjects(), parts.work_queue(), jittered_pause)


@cache
def court() -> Court:
    from duecourse.domain.tasks.handler import LONGEST_ATTEMPT
    from duecourse.handlers.verifying import ProviderVerifier
    from duecourse.usecases.verify_task import Court

    return Court(
        book=verdict_book(),
        failures=parts.failure_queue(),
        verifier=ProviderVerifier(offered.providers(), parts.budgets(), parts.clock()),
        clock=parts.clock(),
        lease=parts.settings().lease,
        time_limit=LONGEST_ATTEMPT,
    )


@cache
def worker() -> Worker:
    from duecourse.domain.tasks.handler import LONGEST_ATTEMPT
    from duecourse.usecases.run_task import Worker

    return Worker(
        store=parts.task_store(),
        subjects=parts.subjects(),
        queue=parts.work_queue(),
        slow_queue=parts.slow_work_queue(),
        failures=parts.failure_queue(),
        breakers=parts.breakers(),
        quiet_hours=parts.quiet_hours(),
        handlers=offered.handlers(),
        court=court(),
        clock=parts.clock(),
        new_id=parts.new_id,
        lease=parts.settings().lease,
        time_limit=LONGEST_ATTEMPT,
        verify_within=parts.settings().verify_within,
        version=offered.version(),
        pause=jittered_pause,
    )


@cache
def recorder() -> Recorder:
    from duecourse.usecases.recall import Memory
    from duecourse.usecases.record_failure import Recorder

    return Recorder(
        store=parts.task_store(),
        subjects=parts.subjects(),
        queue=parts.work_queue(),
        breakers=parts.breakers(),
        policies=parts.policies(),
        clock=parts.clock(),
        pending_retries_limit=parts.settings().pending_retries_limit,
        memory=Memory(parts.patterns(), parts.settings().adapts_delays, log_unread),
        pause=jittered_pause,
    )


def audience() -> Audience:
    from duecourse.usecases.push_live import Audience

    return Audience(
        connections=parts.connections(),
        tokens=parts.api_tokens(),
        pusher=offered.pusher(),
        fan_out=parts.fan_out(),
        clock=parts.clock(),
    )


@cache
def clerk() -> Clerk:
    from duecourse.usecases.record_history import Clerk

    late_after = parts.settings().late_after
    return Clerk(
        parts.journal(), parts.error_log(), parts.patterns(), parts.operators(), late_after
    )


@cache
def follower() -> Follower:
    from duecourse.usecases.follow_review import Follower

    return Follower(parts.task_store(), parts.work_queue(), parts.clock())


def undertaker() -> Undertaker:
    from duecourse.usecases.take_dead_letter import Undertaker

    return Undertaker(recorder(), parts.dead_letters(), parts.notices())


def instruments() -> Instruments:
    from duecourse.usecases.read_signals import Instruments

    return Instruments(
        stats=parts.stats(),
        budgets=parts.budgets(),
        breakers=parts.breakers(),
        letters=parts.dead_letters(),
        unreadable=parts.unreadable_notes(),
        retention=parts.settings().retention,
    )


def alert_limits() -> Limits:
    from duecourse.domain.alerts.rules import Limits

    settings = parts.settings()
    return Limits(
        error_rate_percent=settings.error_rate_percent,
        late_after=settings.late_after,
        cooldown=settings.alert_cooldown,
    )


def herald() -> Herald:
    from duecourse.usecases.raise_alerts import Herald

    return Herald(parts.operators(), parts.alert_memory(), parts.notices())


def forget() -> None:
    """Let go of everything built: what is wired next is built from the environment anew."""
    for part in [*vars(parts).values(), *vars(offered).values(), *globals().values()]:
        if hasattr(part, "cache_clear"):
            part.cache_clear()
    offered.forget()
