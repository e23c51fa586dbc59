"""Reading the settings from the environment, and reporting all invalid ones together."""

from __future__ import annotations

from datetime import timedelta

import pytest
from duecourse.app.settings import Settings
from duecourse.domain.errors import SettingsError
from duecourse.domain.events.bus_filter import BusFilter

ENV = {
    "TASKS_TABLE": "tasks",
    "JOURNAL_TABLE": "journal",
    "STATE_TABLE": "state",
    "SUBJECTS_TABLE": "subjects",
    "STATS_TABLE": "stats",
    "CONNECTIONS_TABLE": "connections",
    "EVENT_BUS": "duecourse",
    "LIVE_ENDPOINT": "https://live.test/live",
    "LIVE_URL": "wss://live.test/live",
    "WORK_QUEUE_URL": "https://sqs.test/work",
    "SLOW_WORK_QUEUE_URL": "https://sqs.test/slow-work",
    "FAILURES_QUEUE_URL": "https://sqs.test/failures",
    "NOTIFICATIONS_QUEUE_URL": "https://sqs.test/notices",
    "CHAT_QUEUE_URL": "https://sqs.test/chat.fifo",
    "JOURNAL_DEAD_LETTER_QUEUE_URL": "https://sqs.test/journal-dead",
    "API_TOKENS_SECRET": "arn:api-tokens",
    "CHAT_TOKENS_SECRET": "arn:chat-tokens",
    "CHAT_VERIFICATION_SECRET": "arn:chat-verification",
    "PROVIDER_KEYS_SECRET": "arn:provider-keys",
    "WEBHOOK_SIGNING_SECRET": "arn:webhook-signing",
    "HANDLERS_MODULE": "worker.handlers",
    "SHARD_COUNT": "4",
    "RETENTION_DAYS": "30",
    "LEASE_SECONDS": "90",
    "SCANNER_THREADS": "8",
    "PENDING_RETRIES_LIMIT": "50",
    "RETRIES_PER_MINUTE": "2000",
    "DAILY_BUDGET_CENTS": "500",
    "VERIFICATION_TIMEOUT_HOURS": "24",
    "BLOCKED_TIMEOUT_HOURS": "24",
    "UNCOUNTED_WAIT_HOURS": "168",
    "ERROR_RATE_PERCENT": "10",
    "LATE_AFTER_SECONDS": "60",
    "ALERT_COOLDOWN_MINUTES": "60",
    "NOTIFY": "important",
    "BUS_EVENTS": "all",
    "ADAPT_DELAYS": "off",
    "PACK_TASKS": "on",
}
NUMBERS = [name for name, text in ENV.items() if text.isdecimal()]
CHOICES = ["NOTIFY", "BUS_EVENTS", "ADAPT_DELAYS", "PACK_TASKS"]


def test_every_setting_has_its_field() -> None:
    assert Settings.from_env(ENV) == Settings(
        *("tasks", "journal", "state", "subjects", "stats", "connections", "duecourse"),
        *("https://live.test/live", "wss://live.test/live"),
        *("https://sqs.test/work", "https://sqs.test/slow-work"),
        *("https://sqs.test/failures", "https://sqs.test/notices"),
        *("https://sqs.test/chat.fifo", "https://sqs.test/journal-dead"),
        *("arn:api-tokens", "arn:chat-tokens", "arn:chat-verification"),
        *("arn:provider-keys", "arn:webhook-signing", "worker.handlers"),
        *(4, 30, 90, 8, 50, 2000, 500, 24, 24, 168, 10, 60, 60),
        *("important", "all", "off", "on"),
    )


def test_durations_are_parsed_as_timedeltas() -> None:
    settings = Settings.from_env(ENV)
    assert (settings.lease, settings.retention) == (timedelta(seconds=90), timedelta(days=30))


@pytest.mark.parametrize("name", [name for name in ENV if name not in (*NUMBERS, *CHOICES)])
def test_the_error_names_a_missing_setting(name: str) -> None:
    absent = {key: value for key, value in ENV.items() if key != name}
    for env in (absent, {**ENV, name: ""}):
        with pytest.raises(SettingsError, match=f"^settings: {name} is not set$"):
            Settings.from_env(env)


@pytest.mark.parametrize("name", NUMBERS)
def test_the_error_names_an_invalid_number(name: str) -> None:
    for value in ("", "0", "-1", "1.5", "four", " 4", "1e3", "²"):
        message = f"^settings: {name} must be a whole number above 0$"
        with pytest.raises(SettingsError, match=message):
            Settings.from_env({**ENV, name: value})


@pytest.mark.parametrize("name", CHOICES)
def test_the_error_names_an_invalid_choice(name: str) -> None:
    with pytest.raises(SettingsError, match=f"^settings: {name} must be one of: "):
        Settings.from_env({**ENV, name: "sometimes"})


@pytest.mark.parametrize("named", ["slack", "slack:", ":C0123", "slack:C0123,ops"])
def test_the_error_names_an_invalid_chat(named: str) -> None:
    wrong = named.rpartition(",")[2]
    told = f"^settings: OPERATOR_CHATS must list chats as channel:target, and '{wrong}' is not one$"
    with pytest.raises(SettingsError, match=told):
        Settings.from_env({**ENV, "OPERATOR_CHATS": named})


def test_operator_chats_are_parsed() -> None:
    settings = Settings.from_env({**ENV, "OPERATOR_CHATS": "slack:C0123, telegram:-100:7"})
    assert settings.operator_chats == ("slack:C0123", "telegram:-100:7")


@pytest.mark.parametrize("wanted", list(BusFilter))
def test_every_bus_event_level_is_accepted(wanted: BusFilter) -> None:
    assert Settings.from_env({**ENV, "BUS_EVENTS": wanted}).bus_events == wanted


@pytest.mark.parametrize(("setting", "adapts"), [("on", True), ("off", False)])
def test_adapt_delays_is_on_or_off(setting: str, adapts: bool) -> None:
    assert Settings.from_env({**ENV, "ADAPT_DELAYS": setting}).has_adaptive_delays is adapts


def test_all_missing_settings_are_reported_together() -> None:
    with pytest.raises(SettingsError) as refused:
        Settings.from_env({})
    assert all(name in str(refused.value) for name in ENV)


def test_other_environment_variables_are_ignored() -> None:
    assert Settings.from_env({**ENV, "HOME": "/"}) == Settings.from_env(ENV)
