"""Read the settings from the environment, once, into a frozen dataclass."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from duecourse.domain.chat.chat_address import is_chat_address
from duecourse.domain.errors import SettingsError
from duecourse.domain.events.bus_filter import BusFilter

_STRING_VARIABLES = {
    "tasks_table": "TASKS_TABLE",
    "journal_table": "JOURNAL_TABLE",
    "state_table": "STATE_TABLE",
    "subjects_table": "SUBJECTS_TABLE",
    "stats_table": "STATS_TABLE",
    "connections_table": "CONNECTIONS_TABLE",
    "event_bus": "EVENT_BUS",
    "live_endpoint": "LIVE_ENDPOINT",
    "live_url": "LIVE_URL",
    "work_queue_url": "WORK_QUEUE_URL",
    "slow_work_queue_url": "SLOW_WORK_QUEUE_URL",
    "failures_queue_url": "FAILURES_QUEUE_URL",
    "notifications_queue_url": "NOTIFICATIONS_QUEUE_URL",
    "chat_queue_url": "CHAT_QUEUE_URL",
    "journal_dead_letter_queue_url": "JOURNAL_DEAD_LETTER_QUEUE_URL",
    "api_tokens_secret": "API_TOKENS_SECRET",
    "chat_tokens_secret": "CHAT_TOKENS_SECRET",
    "chat_verification_secret": "CHAT_VERIFICATION_SECRET",
    "provider_keys_secret": "PROVIDER_KEYS_SECRET",
    "webhook_signing_secret": "WEBHOOK_SIGNING_SECRET",
    "handlers_module": "HANDLERS_MODULE",
}
_OPTIONAL_VARIABLES = {"reminder_topic_arn": "REMINDER_TOPIC_ARN"}
_ENABLED = "on"
_CHOICE_VARIABLES: dict[str, tuple[str, tuple[str, ...]]] = {
    "notify": ("NOTIFY", ("important", "all")),
    "bus_events": ("BUS_EVENTS", tuple(BusFilter)),
    "adapt_delays": ("ADAPT_DELAYS", (_ENABLED, "off")),
    "pack_tasks": ("PACK_TASKS", (_ENABLED, "off")),
}
_LIST_VARIABLES = {
    "operator_chats": "OPERATOR_CHATS",
    "live_origins": "LIVE_ORIGINS",
    "page_modules": "PAGE_MODULES",
    "channels": "CHANNELS",
    "providers": "PROVIDERS",
    "lambda_functions": "LAMBDA_FUNCTIONS",
    "webhook_secret_arns": "WEBHOOK_SECRET_ARNS",
}
_NUMBER_VARIABLES = {
    "shard_count": "SHARD_COUNT",
    "retention_days": "RETENTION_DAYS",
    "lease_seconds": "LEASE_SECONDS",
    "scanner_threads": "SCANNER_THREADS",
    "pending_retries_limit": "PENDING_RETRIES_LIMIT",
    "retries_per_minute": "RETRIES_PER_MINUTE",
    "daily_budget_cents": "DAILY_BUDGET_CENTS",
    "verification_timeout_hours": "VERIFICATION_TIMEOUT_HOURS",
    "blocked_timeout_hours": "BLOCKED_TIMEOUT_HOURS",
    "uncounted_wait_hours": "UNCOUNTED_WAIT_HOURS",
    "error_rate_percent": "ERROR_RATE_PERCENT",
    "late_after_seconds": "LATE_AFTER_SECONDS",
    "alert_cooldown_minutes": "ALERT_COOLDOWN_MINUTES",
}


@dataclass(frozen=True)
class Settings:
    tasks_table: str
    journal_table: str
    state_table: str
    subjects_table: str
    stats_table: str
    connections_table: str
    event_bus: str
    live_endpoint: str
    live_url: str
    work_queue_url: str
    slow_work_queue_url: str
    failures_queue_url: str
    notifications_queue_url: str
    chat_queue_url: str
    journal_dead_letter_queue_url: str
    api_tokens_secret: str
    chat_tokens_secret: str
    chat_verification_secret: str
    provider_keys_secret: str
    webhook_signing_secret: str
    handlers_module: str
    shard_count: int
    retention_days: int
    lease_seconds: int
    scanner_threads: int
    pending_retries_limit: int
    retries_per_minute: int
    daily_budget_cents: int
    verification_timeout_hours: int
    blocked_timeout_hours: int
    uncounted_wait_hours: int
    error_rate_percent: int
    late_after_seconds: int
    alert_cooldown_minutes: int
    notify: str
    bus_events: str
    adapt_delays: str
    pack_tasks: str
    reminder_topic_arn: str = ""
    operator_chats: tuple[str, ...] = ()
    live_origins: tuple[str, ...] = ()
    page_modules: tuple[str, ...] = ()
    channels: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    lambda_functions: tuple[str, ...] = ()
    webhook_secret_arns: tuple[str, ...] = ()

    @property
    def lease(self) -> timedelta:
        return timedelta(seconds=self.lease_seconds)

    @property
    def verification_timeout(self) -> timedelta:
        return timedelta(hours=self.verification_timeout_hours)

    @property
    def blocked_timeout(self) -> timedelta:
        return timedelta(hours=self.blocked_timeout_hours)

    @property
    def uncounted_wait(self) -> timedelta:
        return timedelta(hours=self.uncounted_wait_hours)

    @property
    def late_after(self) -> timedelta:
        return timedelta(seconds=self.late_after_seconds)

    @property
    def alert_cooldown(self) -> timedelta:
        return timedelta(minutes=self.alert_cooldown_minutes)

    @property
    def has_adaptive_delays(self) -> bool:
        return self.adapt_delays == _ENABLED

    @property
    def packs_tasks(self) -> bool:
        return self.pack_tasks == _ENABLED

    @property
    def retention(self) -> timedelta:
        return timedelta(days=self.retention_days)

    @classmethod
    def from_env(cls, env: Mapping[str, str] = os.environ) -> Settings:  # noqa: TID251 - here it is read
        if problems := _find_problems(env):
            raise SettingsError(problems)
        values: dict[str, Any] = {field: env[name] for field, name in _STRING_VARIABLES.items()}
        values |= {field: env.get(name, "") for field, name in _OPTIONAL_VARIABLES.items()}
        values |= {field: env[name] for field, (name, _) in _CHOICE_VARIABLES.items()}
        values |= {field: int(env[name]) for field, name in _NUMBER_VARIABLES.items()}
        values |= {field: split_list(env.get(name, "")) for field, name in _LIST_VARIABLES.items()}
        return cls(**values)


def _find_problems(env: Mapping[str, str]) -> list[str]:
    """Return all problems, so that one deployment can fix them all."""
    return [
        *(f"{name} is not set" for name in _STRING_VARIABLES.values() if not env.get(name)),
        *(
            f"{name} must be a whole number above 0"
            for name in _NUMBER_VARIABLES.values()
            if not is_positive_integer(env.get(name, ""))
        ),
        *(
            f"{name} must be one of: {', '.join(choices)}"
            for name, choices in _CHOICE_VARIABLES.values()
            if env.get(name, "") not in choices
        ),
        *(
            f"OPERATOR_CHATS must list chats as channel:target, and {chat!r} is not one"
            for chat in split_list(env.get(_LIST_VARIABLES["operator_chats"], ""))
            if not is_chat_address(chat)
        ),
    ]


def is_positive_integer(text: str) -> bool:
    return text.isdecimal() and int(text) > 0


def split_list(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.split(",") if item.strip())
