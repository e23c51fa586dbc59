"""How the command line shows a task."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from local.cli.client.screen import Screen
from local.cli.client.task_view import format_task
from local.cli.client.times import TimeFormatter

TIMES = TimeFormatter(datetime(2026, 2, 17, 12, tzinfo=UTC))


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ("mark_as_blocked", "refused content: it is refused until the input changes"),
        ("ask_person", "refused content"),
    ],
)
def test_a_task_in_doubt_has_no_advice_about_its_error(action: str, expected: str) -> None:
    task = {"last_error_kind": "content_policy", "recovery_action": action}
    lines = [" ".join(line.split()) for line in format_task(task, TIMES, Screen())]
    assert f"kind {expected}" in lines
