"""The table of the policy `standard` in docs/failures.md."""

from __future__ import annotations

from pathlib import Path

from duecourse.domain.failures.policy import Category
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.time.duration import parse_duration

from tests.support.builders.failures import builtin_policies

PAGE = Path(__file__).parents[2] / "docs" / "failures.md"
CATEGORIES = builtin_policies()["standard"].categories
ACTIONS = {
    "a person is asked": {Action.ESCALATE_TO_HUMAN, Action.MARK_AS_BLOCKED},
    "it fails": {Action.GIVE_UP},
}


def _rows() -> list[list[str]]:
    section = PAGE.read_text().partition("\n**standard**")[2].partition("\n\n- ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[1:]]


def test_the_table_lists_every_category_with_its_kinds() -> None:
    listed = [(row[0], tuple(row[1].split(", "))) for row in _rows()]
    assert listed == [(one.name, tuple(map(str, one.kinds))) for one in CATEGORIES.values()]


def test_the_table_lists_delays_and_what_follows() -> None:
    for name, _, retries, delays, then in _rows():
        category = CATEGORIES[name]
        if category.until_budget_clears:
            assert (retries, delays) == ("uncounted", "midnight UTC")
            continue
        assert retries == str(category.limit)
        listed = () if delays == "–" else tuple(map(parse_duration, delays.split(", ")))
        assert listed == category.delays
        assert len(listed) == category.limit
        assert category.at_limit in ACTIONS[then]


def test_no_category_waits_longer_than_its_deadline() -> None:
    def has_time(category: Category) -> bool:
        total = sum(delay.total_seconds() for delay in category.delays)
        return category.deadline is None or total <= category.deadline.total_seconds()

    assert [name for name, category in CATEGORIES.items() if not has_time(category)] == []
