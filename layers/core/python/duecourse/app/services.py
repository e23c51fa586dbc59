"""Build the dependencies of the use cases, each on first use."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from duecourse.adapters.runtime.backoff import sleep_with_jitter
from duecourse.adapters.runtime.learning_errors import log_learning_unavailable
from duecourse.app import chat_access, queues, registry, secrets, stores
from duecourse.app.lazy import lazy

if TYPE_CHECKING:
    from duecourse.domain.alerts.rules import AlertThresholds
    from duecourse.domain.lifecycle.retry_throttle import RetryLimit
    from duecourse.ports.integrations import Verifier
    from duecourse.usecases.alerts.collect import AlertSources
    from duecourse.usecases.alerts.send import AlertDeps
    from duecourse.usecases.chat.context import ChatContext
    from duecourse.usecases.chat.deliver_notification import NotificationDeps
    from duecourse.usecases.dead_letters.handle import DeadLetterDeps
    from duecourse.usecases.events.broadcast import BroadcastDeps
    from duecourse.usecases.failures.record_failure import FailureDeps
    from duecourse.usecases.limits.circuit_breaker import BreakerDeps
    from duecourse.usecases.runs.approve_reject import ApprovalDeps
    from duecourse.usecases.runs.verify_task import VerificationDeps
    from duecourse.usecases.runs.worker_deps import WorkerDeps
    from duecourse.usecases.tasks.create_task import CreateTaskDeps
    from duecourse.usecases.tasks.sync_waiting_task import WaitSyncDeps


def create_task_deps() -> CreateTaskDeps:
    from duecourse.usecases.tasks.create_task import CreateTaskDeps

    return CreateTaskDeps(
        stores.task_store(), queues.work_queue(), stores.budgets(), registry.capabilities()
    )


def chat_context() -> ChatContext:
    from duecourse.domain.chat.notification_kind import NotifyLevel
    from duecourse.usecases.chat.context import ChatContext

    # Registered providers come before the built-in ones.
    providers = sorted(registry.providers(), key=lambda name: name in registry.builtin_providers())
    chat_settings = chat_access.chat_settings()
    return ChatContext(
        create_deps=create_task_deps(),
        approval_deps=approval_deps(),
        profiles=stores.profiles(),
        quiet_hours=stores.quiet_hours(),
        audit_log=stores.journal(),
        dead_letters=stores.dead_letters(),
        get_failure_deps=failure_deps,
        providers=providers,
        operator_chats=stores.operator_chats(),
        default_notify=NotifyLevel(stores.settings().notify),
        access=chat_settings.access,
        limits=chat_settings.limits,
    )


def notification_deps() -> NotificationDeps:
    from duecourse.domain.chat.notification_kind import NotifyLevel
    from duecourse.usecases.chat.deliver_notification import NotificationDeps

    return NotificationDeps(
        channels=registry.channels(),
        profiles=stores.profiles(),
        quiet_hours=stores.quiet_hours(),
        store=stores.task_store(),
        default_notify=NotifyLevel(stores.settings().notify),
        breakers=breaker_deps(),
    )


@cache
def approval_deps() -> ApprovalDeps:
    from duecourse.usecases.runs.approve_reject import ApprovalDeps

    return ApprovalDeps(
        stores.task_store(), lazy(stores.subjects), lazy(queues.work_queue), sleep_with_jitter
    )


@cache
def verification_deps() -> VerificationDeps:
    from duecourse.domain.tasks.handler import ATTEMPT_TIMEOUT
    from duecourse.usecases.runs.verify_task import VerificationDeps

    return VerificationDeps(
        approval_deps=approval_deps(),
        failure_queue=lazy(queues.failure_queue),
        verifier=lazy(_verifier),
        clock=stores.clock(),
        lease=stores.settings().lease,
        time_limit=ATTEMPT_TIMEOUT,
    )


@cache
def _verifier() -> Verifier:
    from duecourse.handlers.provider_verifier import ProviderVerifier

    return ProviderVerifier(registry.providers(), stores.budgets(), stores.clock())


@cache
def breaker_deps() -> BreakerDeps:
    from duecourse.usecases.limits.circuit_breaker import BreakerDeps

    return BreakerDeps(lazy(stores.breakers))


@cache
def worker_deps() -> WorkerDeps:
    """Return what running a task needs. A reminder that succeeds uses none of the lazy parts."""
    from duecourse.domain.tasks.handler import ATTEMPT_TIMEOUT
    from duecourse.usecases.runs.worker_deps import WorkerDeps

    return WorkerDeps(
        store=stores.task_store(),
        subjects=lazy(stores.subjects),
        queue=lazy(queues.work_queue),
        slow_queue=lazy(queues.slow_work_queue),
        failure_queue=lazy(queues.failure_queue),
        breakers=lazy(breaker_deps),
        quiet_hours=stores.quiet_hours(),
        handlers=registry.handlers(),
        verification_deps=lazy(verification_deps),
        clock=stores.clock(),
        new_id=stores.new_id,
        lease=stores.settings().lease,
        time_limit=ATTEMPT_TIMEOUT,
        verification_timeout=stores.settings().verification_timeout,
        max_uncounted_wait=stores.settings().uncounted_wait,
        version=registry.deployed_version(),
        backoff=sleep_with_jitter,
    )


@cache
def failure_deps() -> FailureDeps:
    from duecourse.usecases.failures.diagnose import LearningDeps
    from duecourse.usecases.failures.record_failure import FailureDeps
    from duecourse.usecases.failures.throttle_retry import RetryThrottle

    return FailureDeps(
        store=stores.task_store(),
        subjects=stores.subjects(),
        queue=queues.work_queue(),
        breakers=breaker_deps(),
        policies=stores.policies(),
        clock=stores.clock(),
        throttle=RetryThrottle(stores.task_store(), _retry_limit()),
        learning=LearningDeps(
            stores.patterns(), stores.settings().has_adaptive_delays, log_learning_unavailable
        ),
        max_uncounted_wait=stores.settings().uncounted_wait,
        backoff=sleep_with_jitter,
    )


def _retry_limit() -> RetryLimit:
    from duecourse.domain.lifecycle.retry_throttle import RetryLimit

    settings = stores.settings()
    return RetryLimit(
        settings.pending_retries_limit, settings.retries_per_minute, settings.shard_count
    )


def broadcast_deps() -> BroadcastDeps:
    from duecourse.usecases.events.broadcast import BroadcastDeps

    return BroadcastDeps(
        connections=stores.connections(),
        tokens=secrets.api_tokens(),
        sender=registry.connection_sender(),
        fan_out=stores.fan_out(),
        clock=stores.clock(),
    )


@cache
def wait_sync_deps() -> WaitSyncDeps:
    from duecourse.usecases.tasks.sync_waiting_task import WaitSyncDeps

    return WaitSyncDeps(stores.task_store(), queues.work_queue(), stores.clock())


def dead_letter_deps() -> DeadLetterDeps:
    from duecourse.usecases.dead_letters.handle import DeadLetterDeps

    return DeadLetterDeps(
        failure_deps(), stores.dead_letters(), queues.notification_queue(), queues.stream_reader()
    )


def alert_sources() -> AlertSources:
    from duecourse.usecases.alerts.collect import AlertSources

    return AlertSources(
        counters=stores.counters(),
        budgets=stores.budgets(),
        breakers=stores.breakers(),
        dead_letters=stores.dead_letters(),
        unreadable=stores.unreadable_notes(),
        tokens=lazy(secrets.token_list),
        retention=stores.settings().retention,
    )


def alert_limits() -> AlertThresholds:
    from duecourse.domain.alerts.rules import AlertThresholds

    settings = stores.settings()
    return AlertThresholds(
        error_rate_percent=settings.error_rate_percent,
        late_after=settings.late_after,
        cooldown=settings.alert_cooldown,
    )


def alert_deps() -> AlertDeps:
    from duecourse.usecases.alerts.send import AlertDeps

    return AlertDeps(stores.operator_chats(), stores.alert_cooldowns(), queues.notification_queue())


def reset() -> None:
    """Clear everything that was built. The next use reads the environment again."""
    modules = (stores, queues, secrets, registry, chat_access)
    for value in [
        value for module in [*map(vars, modules), globals()] for value in module.values()
    ]:
        if hasattr(value, "cache_clear"):
            value.cache_clear()
    registry.reset()
