"""Format the statistics: one table per section that has data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from local.cli.client.json_lists import list_or_empty
from local.cli.client.screen import Screen
from local.cli.client.table import Column, format_table
from local.cli.client.times import TimeFormatter, format_milliseconds

_SHORT_ID_LENGTH = 8
_LATENESS_FIELDS = ("p50", "p95", "p99", "max")


@dataclass(frozen=True, slots=True)
class _Section:
    """`fields` maps columns to fields. Fields that end in _seen or _at are instants."""

    title: str
    name: str
    fields: Mapping[str, str]
    number_columns: frozenset[str] = frozenset()


_SECTIONS = (
    _Section(
        "Errors by category",
        "errors_by_category",
        {
            "CATEGORY": "category",
            "ERRORS": "count",
            "AVG RETRIES": "avg_retry_count",
            "FIRST": "first_seen",
            "LAST": "last_seen",
        },
        frozenset({"ERRORS", "AVG RETRIES"}),
    ),
    _Section(
        "Errors by kind",
        "errors_by_kind",
        {"KIND": "kind", "ERRORS": "count", "CLEARS BY": "clears_by"},
        frozenset({"ERRORS"}),
    ),
    _Section(
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
    _Section(
        "Failing subjects",
        "top_failing",
        {
            "FAILURES": "failure_count",
            "LAST": "last_attempt_at",
            "CATEGORY": "last_error_category",
            "KIND": "last_error_kind",
            "SUBJECT": "subject",
            "ERROR": "last_error_message",
        },
        frozenset({"FAILURES"}),
    ),
    _Section(
        "Repeated failures",
        "repeated_failures",
        {
            "ERRORS": "total_errors",
            "LAST": "last_error_at",
            "CATEGORY": "last_error_category",
            "KIND": "last_error_kind",
            "TASK": "task_id",
            "SUBJECT": "subject",
        },
        frozenset({"ERRORS"}),
    ),
    _Section(
        "Common patterns",
        "common_patterns",
        {
            "PATTERN": "pattern",
            "CATEGORY": "category",
            "KIND": "kind",
            "ERRORS": "count",
            "LAST": "last_seen",
        },
        frozenset({"ERRORS"}),
    ),
    _Section(
        "Providers",
        "by_provider",
        {
            "PROVIDER": "provider",
            "RUNS": "runs",
            "FAILED": "failures",
            "%": "failure_percent",
            "RECOVERED": "recovered",
            "AVG TIME": "avg_duration_ms",
        },
        frozenset({"RUNS", "FAILED", "%", "RECOVERED", "AVG TIME"}),
    ),
    _Section(
        "Over budget",
        "budget_timeline",
        {"DAY": "day", "REFUSED": "errors", "TASKS": "unique_blocked"},
        frozenset({"REFUSED", "TASKS"}),
    ),
)


def format_stats(stats: Mapping[str, Any], times: TimeFormatter, screen: Screen) -> list[str]:
    """Return the lines. Empty sections are left out; if all are empty, the text says so."""
    lines = [*_format_summary(stats)]
    has_failures = False
    for section in _SECTIONS:
        items = [item for item in list_or_empty(stats.get(section.name)) if isinstance(item, dict)]
        if items:
            has_failures = True
            lines += ["", screen.apply_style(section.title, "bold")]
            lines += _format_section(section, items, times, screen)
    return lines if has_failures else [*lines, "No failures."]


def _format_summary(stats: Mapping[str, Any]) -> Iterator[str]:
    days = stats.get("days")
    yield f"Last {days} days (UTC)" if days != 1 else "Today (UTC)"
    late = stats.get("lateness")
    if isinstance(late, dict) and late.get("count"):
        figures = [f"{name} {format_milliseconds(late.get(name))}" for name in _LATENESS_FIELDS]
        runs = "1 run" if late["count"] == 1 else f"{late['count']} runs"
        yield f"{runs} succeeded. Lateness: {', '.join(figures)}"
    retries = stats.get("retries_to_success")
    if isinstance(retries, dict) and retries.get("average") is not None:
        yield f"Recovered tasks needed {retries['average']} retries on average"


def _format_section(
    section: _Section, items: Sequence[Mapping[str, Any]], times: TimeFormatter, screen: Screen
) -> list[str]:
    columns = [Column(title, is_number=title in section.number_columns) for title in section.fields]
    rows = [[_format_cell(item, name, times) for name in section.fields.values()] for item in items]
    return format_table(columns, rows, screen)


def _format_cell(item: Mapping[str, Any], name: str, times: TimeFormatter) -> Any:
    value = item.get(name)
    if name == "task_id" and value:
        return str(value)[:_SHORT_ID_LENGTH]
    if name.endswith("_ms"):
        return format_milliseconds(value)
    return times.format_short(value) if name.endswith(("_at", "_seen")) else value
