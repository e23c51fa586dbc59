"""The statistics as a person reads them: a table for each question that has an answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from local.cli.client.json_lists import listed
from local.cli.client.screen import Screen
from local.cli.client.table import Column, table
from local.cli.client.times import Times

_SHORT = 8
_LATE = ("p50", "p95", "p99", "max")


@dataclass(frozen=True, slots=True)
class _Question:
    """`fields` of each item, by column; those that end in _seen or _at are instants."""

    title: str
    name: str
    fields: Mapping[str, str]
    numbers: frozenset[str] = frozenset()


_QUESTIONS = (
    _Question(
        "Errors by category",
        "errors_by_category",
        {
            "CATEGORY": "category",
            "ERRORS": "count",
            "RETRIES": "avg_retry_count",
            "FIRST": "first_seen",
            "LAST": "last_seen",
        },
        frozenset({"ERRORS", "RETRIES"}),
    ),
    _Question(
        "Recovered",
        "recovery_rate",
        {
            "CATEGORY": "category",
            "FAILED": "failures",
            "RECOVERED": "recovered",
            "%": "percent",
        },
        frozenset({"FAILED", "RECOVERED", "%"}),
    ),
    _Question(
        "Subjects given up",
        "top_failing",
        {
            "FAILURES": "failure_count",
            "LAST": "last_attempt_at",
            "CATEGORY": "last_error_category",
            "SUBJECT": "subject",
            "ERROR": "last_error_message",
        },
        frozenset({"FAILURES"}),
    ),
    _Question(
        "Fails again and again",
        "repeated_failures",
        {
            "ERRORS": "total_errors",
            "LAST": "last_error_at",
            "CATEGORY": "last_error_category",
            "TASK": "task_id",
            "SUBJECT": "subject",
        },
        frozenset({"ERRORS"}),
    ),
    _Question(
        "Common patterns",
        "common_patterns",
        {"PATTERN": "pattern", "CATEGORY": "category", "ERRORS": "count", "LAST": "last_seen"},
        frozenset({"ERRORS"}),
    ),
    _Question(
        "Providers",
        "by_provider",
        {
            "PROVIDER": "provider",
            "RUNS": "runs",
            "FAILED": "failures",
            "%": "failure_percent",
            "RECOVERED": "recovered",
            "MS": "avg_duration_ms",
        },
        frozenset({"RUNS", "FAILED", "%", "RECOVERED", "MS"}),
    ),
    _Question(
        "Over budget",
        "budget_timeline",
        {"DAY": "day", "REFUSED": "errors", "TASKS": "unique_blocked"},
        frozenset({"REFUSED", "TASKS"}),
    ),
)


def stats_lines(stats: Mapping[str, Any], times: Times, screen: Screen) -> list[str]:
    """What has no answer is left out; that nothing failed is said."""
    lines = [*_summary(stats)]
    shown = 0
    for question in _QUESTIONS:
        items = [item for item in listed(stats.get(question.name)) if isinstance(item, dict)]
        if items:
            shown += 1
            lines += ["", screen.styled(question.title, "bold")]
            lines += _answer(question, items, times, screen)
    return lines if shown else [*lines, "Nothing failed."]


def _summary(stats: Mapping[str, Any]) -> Iterator[str]:
    days = stats.get("days")
    yield f"The last {days} days of UTC" if days != 1 else "Today, by UTC"
    late = stats.get("lateness")
    if isinstance(late, dict) and late.get("count"):
        told = ", ".join(f"{name} {late.get(name)} ms" for name in _LATE)
        yield f"{late['count']} runs succeeded; late by {told}"
    retries = stats.get("retries_to_success")
    if isinstance(retries, dict) and retries.get("average") is not None:
        yield f"What failed first succeeded after {retries['average']} retries on average"


def _answer(
    question: _Question, items: Sequence[Mapping[str, Any]], times: Times, screen: Screen
) -> list[str]:
    columns = [Column(title, is_number=title in question.numbers) for title in question.fields]
    rows = [[_cell(item, name, times) for name in question.fields.values()] for item in items]
    return table(columns, rows, screen)


def _cell(item: Mapping[str, Any], name: str, times: Times) -> Any:
    value = item.get(name)
    if name == "task_id" and value:
        return str(value)[:_SHORT]
    return times.short(value) if name.endswith(("_at", "_seen")) else value
