"""Build the stores, the clock and the settings, each on first use and once per container.

Nothing is built at import time, and each function loads only the modules it uses.
"""

from __future__ import annotations

import uuid
from functools import cache
from typing import TYPE_CHECKING

from duecourse.adapters.runtime.clock import SystemClock
from duecourse.adapters.runtime.thread_pool import ThreadedFanOut
from duecourse.app.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from duecourse.domain.chat.chat_address import ChatAddress
    from duecourse.domain.failures.policy import Policy
    from duecourse.ports.chat import Connections, Profiles, QuietHoursStore, ReplyStore
    from duecourse.ports.dispatch import (
        AlertCooldownStore,
        Deployments,
        ScanCursors,
        UnreadableNotes,
    )
    from duecourse.ports.journal import Counters, ErrorLog, Journal, Patterns, Stats
    from duecourse.ports.limits import Budgets, CircuitBreakerStore
    from duecourse.ports.queues import DeadLetters
    from duecourse.ports.runtime import Clock, FanOut
    from duecourse.ports.tasks import Subjects, TaskStore


@cache
def settings() -> Settings:
    return Settings.from_env()


@cache
def clock() -> Clock:
    return SystemClock()


def new_id() -> str:
    return str(uuid.uuid4())


@cache
def operator_chats() -> Sequence[ChatAddress]:
    from duecourse.domain.chat.chat_address import ChatAddress

    return [ChatAddress.from_text(chat) for chat in settings().operator_chats]


def policies() -> Mapping[str, Policy]:
    from duecourse.adapters.runtime.policy_files import read_policies

    return read_policies()


def fan_out() -> FanOut:
    return ThreadedFanOut(settings().scanner_threads)


@cache
def task_store() -> TaskStore:
    from duecourse.adapters.aws.dynamodb.scanned_shards import ScannedShards
    from duecourse.adapters.aws.dynamodb.task_store import DynamoTaskStore

    _bind_tables()
    return DynamoTaskStore(
        shard_count=settings().shard_count,
        retention=settings().retention,
        scanned_shards=ScannedShards(scan_cursors(), clock()),
    )


@cache
def journal() -> Journal:
    from duecourse.adapters.aws.dynamodb.journal import DynamoJournal

    _bind_tables()
    return DynamoJournal(retention=settings().retention)


@cache
def redrive_journal() -> Journal:
    """Return the journal as the API writes it: its role refuses audit entries in a batch."""
    from duecourse.adapters.aws.dynamodb.journal import DynamoJournal

    _bind_tables()
    return DynamoJournal(retention=settings().retention, batches_audit=False)


@cache
def error_log() -> ErrorLog:
    from duecourse.adapters.aws.dynamodb.error_log import DynamoErrorLog

    _bind_tables()
    return DynamoErrorLog(counters(), retention=settings().retention)


@cache
def counters() -> Counters:
    from duecourse.adapters.aws.dynamodb.counters import DynamoCounters

    _bind_tables()
    return DynamoCounters(retention=settings().retention)


@cache
def patterns() -> Patterns:
    from duecourse.adapters.aws.dynamodb.patterns import DynamoPatterns

    _bind_tables()
    return DynamoPatterns(counters(), error_log())


@cache
def stats() -> Stats:
    from duecourse.adapters.aws.dynamodb.stats import DynamoStats

    _bind_tables()
    return DynamoStats()


@cache
def scan_cursors() -> ScanCursors:
    from duecourse.adapters.aws.dynamodb.scan_cursors import DynamoScanCursors

    _bind_tables()
    return DynamoScanCursors()


@cache
def deployments() -> Deployments:
    from duecourse.adapters.aws.dynamodb.deployments import DynamoDeployments

    _bind_tables()
    return DynamoDeployments()


@cache
def replies() -> ReplyStore:
    from duecourse.adapters.aws.dynamodb.replies import DynamoReplyStore

    _bind_tables()
    return DynamoReplyStore()


@cache
def profiles() -> Profiles:
    from duecourse.adapters.aws.dynamodb.profiles import DynamoProfiles

    _bind_tables()
    return DynamoProfiles(clock())


@cache
def quiet_hours() -> QuietHoursStore:
    from duecourse.adapters.aws.dynamodb.quiet_hours import DynamoQuietHoursStore

    _bind_tables()
    return DynamoQuietHoursStore(clock())


@cache
def subjects() -> Subjects:
    from duecourse.adapters.aws.dynamodb.subjects import DynamoSubjects

    _bind_tables()
    return DynamoSubjects()


@cache
def breakers() -> CircuitBreakerStore:
    from duecourse.adapters.aws.dynamodb.circuit_breakers import DynamoCircuitBreakerStore

    _bind_tables()
    return DynamoCircuitBreakerStore(clock(), retention=settings().retention)


@cache
def budgets() -> Budgets:
    from duecourse.adapters.aws.dynamodb.budgets import DynamoBudgets
    from duecourse.domain.limits.budget import MICROS_PER_DOLLAR

    _bind_tables()
    default_limit = settings().daily_budget_cents * MICROS_PER_DOLLAR // 100
    return DynamoBudgets(default_limit=default_limit, retention=settings().retention)


@cache
def connections() -> Connections:
    from duecourse.adapters.aws.cached_connections import CachedConnections
    from duecourse.adapters.aws.dynamodb.connections import (
        DynamoConnections,
        bind_connections_table,
    )

    bind_connections_table(connections=settings().connections_table)
    return CachedConnections(DynamoConnections(), clock())


@cache
def alert_cooldowns() -> AlertCooldownStore:
    from duecourse.adapters.aws.dynamodb.alert_cooldowns import DynamoAlertCooldownStore

    _bind_tables()
    return DynamoAlertCooldownStore()


@cache
def unreadable_notes() -> UnreadableNotes:
    from duecourse.adapters.aws.dynamodb.unreadable_notes import DynamoUnreadableNotes

    _bind_tables()
    return DynamoUnreadableNotes()


@cache
def dead_letters() -> DeadLetters:
    from duecourse.adapters.aws.dynamodb.dead_letters import DynamoDeadLetters

    _bind_tables()
    return DynamoDeadLetters(retention=settings().retention)


@cache
def _bind_tables() -> None:
    from duecourse.adapters.aws.clients import share_session_with_pynamodb
    from duecourse.adapters.aws.dynamodb.journal_models import bind_journal
    from duecourse.adapters.aws.dynamodb.models import bind
    from duecourse.adapters.aws.dynamodb.tracking_models import bind_tracking

    share_session_with_pynamodb()
    names = settings()
    bind(tasks=names.tasks_table, state=names.state_table, packs_tasks=names.packs_tasks)
    bind_journal(journal=names.journal_table)
    bind_tracking(state=names.state_table, subjects=names.subjects_table, stats=names.stats_table)
