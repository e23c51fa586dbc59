"""Puts the use cases together, each on first use, once per container."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from duecourse.adapters.runtime.backoff import jittered_pause
from duecourse.adapters.runtime.learning_errors import log_unread
from duecourse.app import registry, stores

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

    return Desk(stores.task_store(), stores.work_queue(), stores.budgets(), registry.offer())


def chat_desk() -> ChatDesk:
    from duecourse.domain.chat.notification_kind import Notify
    from duecourse.usecases.chat.context import ChatDesk

    # A provider that was added to those that ship was added to be used.
    providers = sorted(registry.providers(), key=lambda name: name in registry.shipped_providers())
    return ChatDesk(
        desk=desk(),
        book=verdict_book(),
        profiles=stores.profiles(),
        quiet_hours=stores.quiet_hours(),
        audit_log=stores.journal(),
        recorder=recorder,
        providers=providers,
        operators=stores.operators(),
        notify=Notify(stores.settings().notify),
    )


def crier() -> Crier:
    from duecourse.domain.chat.notification_kind import Notify
    from duecourse.usecases.chat.deliver_notification import Crier

    return Crier(
        channels=registry.channels(),
        profiles=stores.profiles(),
        quiet_hours=stores.quiet_hours(),
        store=stores.task_store(),
        notify=Notify(stores.settings().notify),
    )


@cache
def verdict_book() -> VerdictBook:
    from duecourse.usecases.runs.approve_reject import VerdictBook

    return VerdictBook(stores.task_store(), stores.subjects(), stores.work_queue(), jittered_pause)


@cache
def court() -> Court:
    from duecourse.domain.tasks.handler import LONGEST_ATTEMPT
    from duecourse.handlers.provider_verifier import ProviderVerifier
    from duecourse.usecases.runs.verify_task import Court

    return Court(
        book=verdict_book(),
        failures=stores.failure_queue(),
        verifier=ProviderVerifier(registry.providers(), stores.budgets(), stores.clock()),
        clock=stores.clock(),
        lease=stores.settings().lease,
        time_limit=LONGEST_ATTEMPT,
    )


@cache
def worker() -> Worker:
    from duecourse.domain.tasks.handler import LONGEST_ATTEMPT
    from duecourse.usecases.runs.execute_task import Worker

    return Worker(
        store=stores.task_store(),
        subjects=stores.subjects(),
        queue=stores.work_queue(),
        slow_queue=stores.slow_work_queue(),
        failures=stores.failure_queue(),
        breakers=stores.breakers(),
        quiet_hours=stores.quiet_hours(),
        handlers=registry.handlers(),
        court=court(),
        clock=stores.clock(),
        new_id=stores.new_id,
        lease=stores.settings().lease,
        time_limit=LONGEST_ATTEMPT,
        verify_within=stores.settings().verify_within,
        version=registry.version(),
        pause=jittered_pause,
    )


@cache
def recorder() -> Recorder:
    from duecourse.usecases.failures.diagnose import Memory
    from duecourse.usecases.failures.record_failure import Recorder

    return Recorder(
        store=stores.task_store(),
        subjects=stores.subjects(),
        queue=stores.work_queue(),
        breakers=stores.breakers(),
        policies=stores.policies(),
        clock=stores.clock(),
        pending_retries_limit=stores.settings().pending_retries_limit,
        memory=Memory(stores.patterns(), stores.settings().adapts_delays, log_unread),
        pause=jittered_pause,
    )


def audience() -> Audience:
    from duecourse.usecases.events.broadcast import Audience

    return Audience(
        connections=stores.connections(),
        tokens=stores.api_tokens(),
        pusher=registry.pusher(),
        fan_out=stores.fan_out(),
        clock=stores.clock(),
    )


@cache
def clerk() -> Clerk:
    from duecourse.usecases.journal.project_change import Clerk

    late_after = stores.settings().late_after
    return Clerk(
        stores.journal(), stores.error_log(), stores.patterns(), stores.operators(), late_after
    )


@cache
def follower() -> Follower:
    from duecourse.usecases.runs.sync_spec_review import Follower

    return Follower(stores.task_store(), stores.work_queue(), stores.clock())


def undertaker() -> Undertaker:
    from duecourse.usecases.dead_letters.handle import Undertaker

    return Undertaker(recorder(), stores.dead_letters(), stores.notices())


def instruments() -> Instruments:
    from duecourse.usecases.alerts.collect import Instruments

    return Instruments(
        stats=stores.stats(),
        budgets=stores.budgets(),
        breakers=stores.breakers(),
        letters=stores.dead_letters(),
        unreadable=stores.unreadable_notes(),
        retention=stores.settings().retention,
    )


def alert_limits() -> Limits:
    from duecourse.domain.alerts.rules import Limits

    settings = stores.settings()
    return Limits(
        error_rate_percent=settings.error_rate_percent,
        late_after=settings.late_after,
        cooldown=settings.alert_cooldown,
    )


def herald() -> Herald:
    from duecourse.usecases.alerts.send import Herald

    return Herald(stores.operators(), stores.alert_memory(), stores.notices())


def forget() -> None:
    """Let go of everything built: what is wired next is built from the environment anew."""
    for part in [*vars(stores).values(), *vars(registry).values(), *globals().values()]:
        if hasattr(part, "cache_clear"):
            part.cache_clear()
    registry.forget()
