"""Every import delays a cold start: functions load only what they need."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from local.runtime.template import ROOT

CORE = ROOT / "layers" / "core" / "python"
USECASES = sorted(
    ".".join(path.relative_to(CORE).with_suffix("").parts)
    for path in (CORE / "duecourse/usecases").rglob("[a-z]*.py")
)
AWS_AND_CALENDARS = {"boto3", "botocore", "pynamodb", "dateutil", "cronsim"}
# What a container builds on its first event, after the import.
BUILD_STORES = "from duecourse.app import queues, stores; stores.task_store(); queues.work_queue()"
SETTINGS = {
    "TASKS_TABLE": "tasks",
    "JOURNAL_TABLE": "journal",
    "STATE_TABLE": "state",
    "SUBJECTS_TABLE": "subjects",
    "STATS_TABLE": "stats",
    "CONNECTIONS_TABLE": "connections",
    "EVENT_BUS": "duecourse",
    "LIVE_ENDPOINT": "https://live.test/live",
    "LIVE_URL": "wss://live.test/live",
    "SLOW_WORK_QUEUE_URL": "https://sqs.test/slow-work",
    "FAILURES_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/1/failures",
    "NOTIFICATIONS_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/1/notices",
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
    "WORK_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/1/work",
    "CHAT_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/1/chat.fifo",
    "JOURNAL_DEAD_LETTER_QUEUE_URL": "https://sqs.eu-central-1.amazonaws.com/1/dead",
    "API_TOKENS_SECRET": "arn:api-tokens",
    "CHAT_TOKENS_SECRET": "arn:chat-tokens",
    "CHAT_VERIFICATION_SECRET": "arn:chat-verification",
    "PROVIDER_KEYS_SECRET": "arn:provider-keys",
    "WEBHOOK_SIGNING_SECRET": "arn:webhook-signing",
    "HANDLERS_MODULE": "functions.worker.handlers",
    "SHARD_COUNT": "4",
    "RETENTION_DAYS": "30",
    "LEASE_SECONDS": "90",
    "SCANNER_THREADS": "8",
    "AWS_DEFAULT_REGION": "eu-central-1",
}


def load_modules(*statements: str) -> set[str]:
    """Return the modules that a new interpreter has loaded after these statements."""
    print_modules = "import json, sys; print(json.dumps(sorted(sys.modules)))"
    result = subprocess.run(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-c", "; ".join([*statements, print_modules])],
        env={"PYTHONPATH": f"{CORE}:{ROOT}", **SETTINGS},
        cwd=Path(sys.prefix),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(json.loads(result.stdout))


def _packages(modules: set[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


def import_statement(modules: Sequence[str]) -> str:
    return f"import {', '.join(modules)}"


def test_the_use_cases_load_neither_the_aws_sdk_nor_a_calendar_library() -> None:
    assert len(USECASES) > 5
    loaded = load_modules(import_statement(USECASES))

    assert "duecourse.domain.tasks.task" in loaded
    assert _packages(loaded) & AWS_AND_CALENDARS == set()


def test_importing_the_services_builds_nothing() -> None:
    loaded = load_modules("import duecourse.app.services")

    assert _packages(loaded) & AWS_AND_CALENDARS == set()


@pytest.mark.parametrize("function", ["scanner", "worker", "sweeper"])
def test_frequent_functions_load_no_validation_tracing_or_calendar_library(
    function: str,
) -> None:
    loaded = load_modules(f"import functions.{function}.app", BUILD_STORES)

    assert "pynamodb.models" in loaded
    assert _packages(loaded) & {"pydantic", "aws_xray_sdk", "cronsim"} == set()
    assert "dateutil.rrule" not in loaded


def test_the_api_loads_its_openapi_document_only_on_request() -> None:
    loaded = load_modules("import functions.api.app", BUILD_STORES)

    assert _packages(loaded) & {"pydantic", "aws_xray_sdk", "cronsim"} == set()
    assert {
        "functions.api.openapi.generator",
        "functions.api.openapi.schemas.registry",
    } & loaded == set()
    build_document = (
        "import functions.api.openapi.generator as o; o.build_document(functions.api.app.app)"
    )
    assert "pydantic" not in _packages(load_modules("import functions.api.app", build_document))


@pytest.mark.parametrize("function", ["scanner", "worker", "failure", "api", "live", "notifier"])
def test_only_the_journal_loads_the_event_bus(function: str) -> None:
    bus = "duecourse.adapters.aws.eventbridge"

    assert bus not in load_modules(f"import functions.{function}.app", BUILD_STORES)
    assert bus in load_modules("import functions.journal.app", BUILD_STORES, "queues.event_bus()")


def test_the_journal_builds_the_bus_only_to_publish() -> None:
    loaded = load_modules("import functions.journal.app")

    assert "boto3" not in loaded


@pytest.mark.parametrize("function", ["scanner", "worker", "notifier"])
def test_frequent_functions_load_botocore_without_boto3(function: str) -> None:
    loaded = load_modules(f"import functions.{function}.app", BUILD_STORES)

    assert "botocore.session" in loaded
    assert _packages(loaded) & {"boto3", "s3transfer", "asyncio"} == set()


def test_a_worker_loads_no_classifier() -> None:
    build = "from duecourse.app import services; services.worker_deps()"
    loaded = load_modules("import functions.worker.app", build)

    assert "duecourse.usecases.runs.execute_task" in loaded
    assert "duecourse.domain.failures.classifier.engine" not in loaded


def test_a_worker_loads_only_what_a_reminder_needs() -> None:
    build = "from duecourse.app import services; services.worker_deps().handlers['reminder']"
    loaded = load_modules("import functions.worker.app", build)

    assert "duecourse.handlers.reminder" in loaded
    assert {
        "duecourse.handlers.action",
        "duecourse.handlers.webhook",
        "duecourse.handlers.provider_verifier",
        "duecourse.usecases.runs.verify_task",
        "duecourse.adapters.providers.registry",
        "duecourse.adapters.aws.dynamodb.circuit_breakers",
        "duecourse.adapters.aws.dynamodb.budgets",
        "tomllib",
    } & loaded == set()


@pytest.mark.parametrize("function", ["scanner", "worker", "api"])
def test_no_function_loads_local_packages(function: str) -> None:
    loaded = load_modules(f"import functions.{function}.app", BUILD_STORES)

    assert _packages(loaded) & {"local", "moto", "time_machine", "samtranslator"} == set()


@pytest.mark.parametrize(
    ("module", "maximum"),
    [
        # About 50% above today: a new heavy dependency exceeds it, a new file does not.
        ("duecourse.app.services", 120),
        ("functions.scanner.app", 230),
        ("functions.worker.app", 370),
        ("functions.api.app", 550),
    ],
)
def test_an_import_stays_small(module: str, maximum: int) -> None:
    before = load_modules("pass")

    assert len(load_modules(f"import {module}") - before) <= maximum
