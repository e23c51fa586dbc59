"""Which lines a story has. `test_planted_bug` shows a whole one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from local.simulate.start import STARTS_AT
from local.simulate.story import MAX_LINES, choose_entries
from local.simulate.story_entry import StoryEntry, Weight, format_time


def entry(n: int, weight: Weight, *tasks: str) -> StoryEntry:
    return StoryEntry(
        STARTS_AT + timedelta(seconds=n), "worker 1", str(n), weight, frozenset(tasks)
    )


def test_a_line_has_the_time_the_invocation_and_what_it_did() -> None:
    line = StoryEntry(STARTS_AT, "worker 12", "writes TasksTable, task 1", Weight.CHANGE)

    assert str(line) == "02-17 12:03:40.000  worker 12     writes TasksTable, task 1"


def test_a_time_has_its_date_and_milliseconds() -> None:
    assert format_time(datetime(2026, 2, 18, 0, 4, 5, 120_999, UTC)) == "02-18 00:04:05.120"


def test_routine_is_left_out() -> None:
    change, routine = entry(1, Weight.CHANGE), entry(2, Weight.ROUTINE)

    assert choose_entries([change, routine], frozenset()) == [change]


def test_a_long_story_keeps_what_matters_and_its_beginning_and_end() -> None:
    derived = [entry(n, Weight.DERIVED) for n in range(2 * MAX_LINES)]
    fault = entry(2 * MAX_LINES + 1, Weight.DRIVER)
    chosen = choose_entries([*derived, fault], frozenset())

    assert len(chosen) == MAX_LINES
    assert (chosen[0], chosen[-2], chosen[-1]) == (derived[0], derived[-1], fault)


def test_other_tasks_than_the_concerned_one_are_left_out_first() -> None:
    own = [entry(n, Weight.SENT, "task 1") for n in range(MAX_LINES)]
    other = entry(MAX_LINES, Weight.CHANGE, "task 2")

    assert choose_entries([*own, other], frozenset({"task 1"})) == own
    assert other in choose_entries([*own, other], frozenset({"task 2"}))
