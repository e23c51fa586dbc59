"""Puts the use cases together, each on first use, once per container."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from duecourse import offered, parts
from duecourse.adapters.pauses import jittered_pause
from duecourse.adapters.unread_learning import log_unread

if TYPE_CHECKING:
    from duecourse.domain.alerts.rules import Limits
    from duecourse.usecases.alerts.collect import Instruments
    from duecourse.usecases.alerts.send import Herald
    from duecourse.usecases.chat.context import ChatDesk
    from duecourse.usecases.chat.deliver_notification import Crier
    from duecourse.usecases.dead_letters.handle import Undertaker
    from duecourse.usecases.events.broadcast import Audience
    from duecourse.usecases.failures.record_failure import Recorder
    from duecourse.usecases.journal.project_change import Clerk
    from duecourse.usecases.runs.approve_reject import VerdictBook
    from duecourse.usecases.runs.execute_task import Worker
    from duecourse.usecases.runs.sync_spec_review import Follower
    from duecourse.usecases.runs.verify_task import Court
    from duecourse.usecases.tasks.create_task import Desk


def desk() -> Desk:
    from duecourse.usecases.tasks.create_task import Desk

    return Desk(parts.task_store(), parts.work_queue(), parts.budgets(), offered.offer())


def chat_desk() -> ChatDesk:
    from duecourse.domain.chat.notification_kind import Notify
    from duecourse.usecases.chat.context import ChatDesk

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
    from duecourse.usecases.chat.deliver_notification import Crier

    return Crier(
        channels=offered.channels(),
        profiles=parts.profiles(),
        quiet_hours=parts.quiet_hours(),
        store=parts.task_store(),
        notify=Notify(parts.settings().notify),
    )


@cache
def verdict_book() -> VerdictBook:
    from duecourse.usecases.runs.approve_reject import VerdictBook

    return VerdictBook(parts.task_store(), parts.subjects(), parts.work_queue(), jittered_pause)


@cache
def court() -> Court:
    from duecourse.domain.tasks.handler import LONGEST_ATTEMPT
    from duecourse.handlers.provider_verifier import ProviderVerifier
    from duecourse.usecases.runs.verify_task import Court

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
    from duecourse.usecases.runs.execute_task import Worker

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
    from duecourse.usecases.failures.diagnose import Memory
    from duecourse.usecases.failures.record_failure import Recorder

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
    from duecourse.usecases.events.broadcast import Audience

    return Audience(
        connections=parts.connections(),
        tokens=parts.api_tokens(),
        pusher=offered.pusher(),
        fan_out=parts.fan_out(),
        clock=parts.clock(),
    )


@cache
def clerk() -> Clerk:
    from duecourse.usecases.journal.project_change import Clerk

    late_after = parts.settings().late_after
    return Clerk(
        parts.journal(), parts.error_log(), parts.patterns(), parts.operators(), late_after
    )


@cache
def follower() -> Follower:
    from duecourse.usecases.runs.sync_spec_review import Follower

    return Follower(parts.task_store(), parts.work_queue(), parts.clock())


def undertaker() -> Undertaker:
    from duecourse.usecases.dead_letters.handle import Undertaker

    return Undertaker(recorder(), parts.dead_letters(), parts.notices())


def instruments() -> Instruments:
    from duecourse.usecases.alerts.collect import Instruments

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
    from duecourse.usecases.alerts.send import Herald

    return Herald(parts.operators(), parts.alert_memory(), parts.notices())


def forget() -> None:
    """Let go of everything built: what is wired next is built from the environment anew."""
    for part in [*vars(parts).values(), *vars(offered).values(), *globals().values()]:
        if hasattr(part, "cache_clear"):
            part.cache_clear()
    offered.forget()
