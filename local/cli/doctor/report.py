"""Print the results: a table for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from local.cli.client.screen import Screen
from local.cli.client.table import Column, format_table
from local.cli.client.text import to_safe_line
from local.cli.doctor.result import CheckResult, Status

_ORDER = (Status.FAILED, Status.WARNING)
_INDENT = "    "


def format_report(target: str, results: Sequence[CheckResult], screen: Screen) -> list[str]:
    columns = [Column("CHECK"), Column("STATUS", is_status=True), Column("DETAIL")]
    rows = [[result.name, str(result.status), result.detail] for result in results]
    return [
        to_safe_line(target),
        "",
        *format_table(columns, rows, screen),
        *_format_advice(results),
        "",
        _summary(results),
    ]


def _format_advice(results: Sequence[CheckResult]) -> list[str]:
    """Return what is wrong in full, and what to do; the table cuts long lines."""
    lines: list[str] = []
    for status in _ORDER:
        for result in results:
            if result.status is status:
                lines += ["", f"{result.name} ({status}): {to_safe_line(result.detail)}"]
                lines.append(_INDENT + to_safe_line(result.advice))  # whole, so it can be copied
    return lines


def _summary(results: Sequence[CheckResult]) -> str:
    counts = {status: sum(one.status is status for one in results) for status in Status}
    return ", ".join(f"{count} {status}" for status, count in counts.items() if count)


def to_json(target: dict[str, Any], results: Sequence[CheckResult]) -> dict[str, Any]:
    return {
        "target": target,
        "status": str(overall_status(results)),
        "checks": [result.to_json() for result in results],
    }


def overall_status(results: Sequence[CheckResult]) -> Status:
    found = {result.status for result in results}
    return next((status for status in _ORDER if status in found), Status.OK)
