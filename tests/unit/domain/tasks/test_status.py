"""The legal moves, spelled out once more than the code does: a changed table must be meant."""

from __future__ import annotations

import pytest
from duecourse.domain.errors import IllegalTransitionError
from duecourse.domain.tasks.status import TRANSITIONS, Status

from tests.support.builders.moments import NOW
from tests.support.builders.tasks import a_task

LEGAL = {
    "pending": "pending in_progress failed blocked cancelled",
    "in_progress": "pending in_progress pending_verification delivered completed failed blocked",
    "pending_verification": "pending pending_verification completed failed blocked cancelled",
    "blocked": "pending completed failed blocked cancelled",
    "failed": "pending failed blocked",
    "delivered": "",
    "completed": "",
    "cancelled": "",
}
PAIRS = [(here, there) for here in Status for there in Status]
ALLOWED = [(here, there) for here, there in PAIRS if there in LEGAL[here].split()]
REFUSED = [pair for pair in PAIRS if pair not in ALLOWED]


def test_a_legal_move_is_made() -> None:
    assert [a_task(status=here).move_to(there).status for here, there in ALLOWED] == [
        there for _, there in ALLOWED
    ]


def test_a_refused_move_names_both_states() -> None:
    for here, there in REFUSED:
        with pytest.raises(IllegalTransitionError, match=f"is {here} and cannot become {there}$"):
            a_task(status=here).move_to(there)


def test_moves_are_allowed_and_refused() -> None:
    assert (len(ALLOWED), len(REFUSED)) == (26, 38)


def test_every_status_has_its_row_in_the_table() -> None:
    assert set(TRANSITIONS) == set(Status)


@pytest.mark.parametrize("closed", ["delivered", "completed", "cancelled"])
def test_what_is_done_or_cancelled_has_no_way_out(closed: str) -> None:
    assert TRANSITIONS[Status(closed)] == frozenset()


def test_a_failed_task_is_tried_again_or_judged_anew_and_no_more() -> None:
    assert TRANSITIONS[Status.FAILED] == {Status.PENDING, Status.FAILED, Status.BLOCKED}


def test_what_is_done_failed_or_cancelled_is_not_open() -> None:
    closed = {status for status in Status if not a_task(status=status).is_open}
    assert closed == {"delivered", "completed", "failed", "cancelled"}


def test_a_move_is_a_version_of_its_own() -> None:
    task = a_task(version=7)
    assert task.move_to(Status.PENDING).version == 8


def test_whoever_blocks_a_task_says_since_when_and_every_other_move_ends_that() -> None:
    blocked = a_task(status=Status.IN_PROGRESS).move_to(Status.BLOCKED, blocked_at=NOW)
    assert blocked.blocked_at == NOW
    assert blocked.move_to(Status.PENDING).blocked_at is None


def test_the_task_that_moved_is_left_as_it_was() -> None:
    task = a_task()
    task.move_to(Status.CANCELLED)
    assert task == a_task()


@pytest.mark.parametrize(
    ("paused", "status", "waits"),
    [(False, "pending", True), (True, "pending", False), (False, "in_progress", False)],
)
def test_only_a_pending_task_that_is_not_paused_waits(
    paused: bool, status: str, waits: bool
) -> None:
    assert a_task(paused=paused, status=Status(status)).is_waiting is waits
