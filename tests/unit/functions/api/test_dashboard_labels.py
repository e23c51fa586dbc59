"""The constants that the dashboard repeats equal those of the system."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from duecourse.domain.alerts.rules import BUDGET_LEVELS
from duecourse.domain.dispatch.dead_letter import Cause
from duecourse.domain.failures.subject import SubjectStatus
from duecourse.domain.limits.circuit_breaker import CircuitState
from duecourse.domain.tasks.event import EventType
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import Phase, Reason, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.usecases.journal.overview import MAX_LISTED

DASHBOARD = Path(__file__).parents[4] / "functions" / "api" / "dashboard"
_NAME = re.compile(r'^ +(?:"([^"]+)"|(\w+)): ["\[]', re.MULTILINE)


def constant_source(file: str, name: str) -> str:
    """Return the source text of a constant of that file."""
    found = re.search(
        rf"^(?:export )?const {name} = (.*?);", read_file(file), re.MULTILINE | re.DOTALL
    )
    assert found is not None, f"{file} has no {name}"
    return found[1]


def read_file(file: str) -> str:
    return (DASHBOARD / file).read_text()


@pytest.mark.parametrize(
    ("file", "name", "known"),
    [
        ("labels.js", "STATUSES", list(Status)),
        ("labels.js", "RUNS", list(RunStatus)),
        ("labels.js", "REASONS", list(Reason)),
        ("labels.js", "RECOVERY", list(Action)),
        ("labels.js", "EVENTS", sorted(EventType)),
        ("board_rows.js", "BREAKERS", list(CircuitState)),
        ("failure_tables.js", "SUBJECTS", list(SubjectStatus)),
        ("page_dead_letters.js", "CAUSES", list(Cause)),
    ],
)
def test_every_value_has_a_label_and_no_label_is_unused(
    file: str, name: str, known: list[str]
) -> None:
    named = [quoted or plain for quoted, plain in _NAME.findall(constant_source(file, name))]
    assert sorted(named) == sorted(map(str, known))


def test_the_phases_are_in_order() -> None:
    assert re.findall(r'"(\w+)"', constant_source("run_timeline.js", "PHASES")) == [
        str(phase) for phase in Phase
    ]


@pytest.mark.parametrize(
    ("file", "name", "known"),
    [("board.js", "API_LIMIT", MAX_LISTED), ("board_rows.js", "BUDGET_WARNING", BUDGET_LEVELS[1])],
)
def test_a_limit_is_the_same_in_dashboard_and_system(file: str, name: str, known: int) -> None:
    assert int(constant_source(file, name)) == known
