"""The legal status transitions, repeated here so that a change to the table is deliberate."""

from __future__ import annotations

import pytest
from duecourse.domain.errors import IllegalTransitionError
from duecourse.domain.tasks.status import TRANSITIONS, Status

from tests.support.builders.moments import NOW
from tests.support.builders.tasks import a_task

LEGAL = {
    "pending": "pending in_progress delivered completed failed blocked cancelled",
    "in_progress": "pending in_progress pending_verification delivered completed failed blocked",
    "pending_verification": "pending pending_verification completed failed blocked cancelled",
    "blocked": "pending delivered completed failed blocked cancelled",
    "failed": "pending delivered completed failed blocked",
    "delivered": "",
    "completed": "",
    "cancelled": "",
}
PAIRS = [(source, target) for source in Status for target in Status]
ALLOWED = [(source, target) for source, target in PAIRS if target in LEGAL[source].split()]
REJECTED = [pair for pair in PAIRS if pair not in ALLOWED]


def test_a_legal_transition_changes_the_status() -> None:
    assert [a_task(status=source).move_to(target).status for source, target in ALLOWED] == [
        target for _, target in ALLOWED
    ]


def test_a_rejected_transition_names_both_statuses() -> None:
    for source, target in REJECTED:
        with pytest.raises(
            IllegalTransitionError, match=f"is {source} and cannot become {target}$"
        ):
            a_task(status=source).move_to(target)


def test_the_table_has_legal_and_rejected_transitions() -> None:
    assert (len(ALLOWED), len(REJECTED)) == (31, 33)


def test_every_status_has_a_row_in_the_table() -> None:
    assert set(TRANSITIONS) == set(Status)


@pytest.mark.parametrize("closed", ["delivered", "completed", "cancelled"])
def test_a_delivered_completed_or_cancelled_task_has_no_transitions(closed: str) -> None:
    assert TRANSITIONS[Status(closed)] == frozenset()


def test_a_failed_task_can_only_be_retried_reclassified_or_corrected() -> None:
    corrected = {Status.DELIVERED, Status.COMPLETED}
    assert TRANSITIONS[Status.FAILED] == {
        *(Status.PENDING, Status.FAILED, Status.BLOCKED),
        *corrected,
    }


def test_a_delivered_completed_failed_or_cancelled_task_is_not_open() -> None:
    closed = {status for status in Status if not a_task(status=status).is_open}
    assert closed == {"delivered", "completed", "failed", "cancelled"}


def test_a_transition_increments_the_version() -> None:
    task = a_task(version=7)
    assert task.move_to(Status.PENDING).version == 8


def test_blocking_sets_blocked_at_and_other_transitions_clear_it() -> None:
    blocked = a_task(status=Status.IN_PROGRESS).move_to(Status.BLOCKED, blocked_at=NOW)
    assert blocked.blocked_at == NOW
    assert blocked.move_to(Status.PENDING).blocked_at is None


def test_a_transition_does_not_mutate_the_original_task() -> None:
    task = a_task()
    task.move_to(Status.CANCELLED)
    assert task == a_task()


@pytest.mark.parametrize(
    ("is_paused", "status", "is_waiting"),
    [(False, "pending", True), (True, "pending", False), (False, "in_progress", False)],
)
def test_only_a_pending_unpaused_task_is_waiting(
    is_paused: bool, status: str, is_waiting: bool
) -> None:
    assert a_task(paused=is_paused, status=Status(status)).is_waiting is is_waiting
