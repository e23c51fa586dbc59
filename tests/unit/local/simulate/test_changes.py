"""Each check of a write finds the write that it is there for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.tasks.run import Mutation, Reason, Run, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task

from local.simulate.checks import changes
from local.simulate.checks.changes import TaskWrite

NOW = datetime(2026, 2, 17, 12, tzinfo=UTC)
PENDING = Task(
    id="0123456789",
    type="reminder",
    channel="console",
    sender_id="ada",
    reply_target="ada",
    description="tea",
    due_at=NOW,
    nominal_at=NOW,
    created_at=NOW,
    anchor=NOW.replace(tzinfo=None),
)
RUN = Run(
    id="run-1",
    attempt=1,
    reason=Reason.FIRST,
    mutation=Mutation(idempotency_key="run-1"),
    nominal_at=NOW,
    started_at=NOW,
    lease_expires_at=NOW + timedelta(minutes=1),
    handler_version="1",
)
RUNNING = replace(PENDING, run=RUN).move_to(Status.IN_PROGRESS)
FAILED_ONCE = replace(RUNNING, run=RUN.end(RunStatus.PAUSED_TRANSIENT, at=NOW), retry_count=0)
RETRYING = FAILED_ONCE.move_to(Status.PENDING)
AGAIN = replace(RETRYING, run=replace(RUN, id="run-2")).move_to(Status.IN_PROGRESS)

Check = Callable[[TaskWrite], Iterator[str | None]]


def find(check: Check, old: Task | None, new: Task, **fields: Any) -> list[str]:
    write = TaskWrite(old, new, fields.get("at", NOW), timedelta(0), fields.get("ended", set()))
    return [text for text in check(write) if text is not None]


ALL = (
    changes.legal_move,
    changes.version_grows,
    changes.one_active_run,
    changes.ended_for_good,
    changes.retries_counted,
    changes.unknown_kept,
    changes.due_not_before_nominal,
    changes.claimed_when_due,
)


@pytest.mark.parametrize("check", ALL)
@pytest.mark.parametrize(
    ("old", "new"),
    [(None, PENDING), (PENDING, RUNNING), (RUNNING, RETRYING), (RETRYING, AGAIN)],
)
def test_writes_of_the_product_are_right(check: Check, old: Task | None, new: Task) -> None:
    assert find(check, old, new) == []


@pytest.mark.parametrize(
    ("check", "old", "new", "text"),
    [
        (changes.legal_move, None, RUNNING, "from nothing to in_progress"),
        (changes.legal_move, RUNNING, replace(RUNNING, status=Status.CANCELLED), "to cancelled"),
        (changes.version_grows, PENDING, PENDING, "version 1 follows 1"),
        (changes.version_grows, PENDING, replace(RUNNING, version=3), "version 3 follows 1"),
        (changes.one_active_run, RUNNING, AGAIN, "replaced before its end"),
        (changes.one_active_run, RUNNING, replace(RUNNING, status=Status.PENDING), "is open"),
        (changes.one_active_run, RETRYING, replace(RETRYING, status=Status.IN_PROGRESS), "ended"),
        (changes.retries_counted, RUNNING, replace(RUNNING, retry_count=1), "0 to 1"),
        (
            changes.unknown_kept,
            replace(PENDING, unknown_attributes={"colour": {"S": "blue"}}),
            RUNNING,
            "lost ['colour']",
        ),
        (
            changes.due_not_before_nominal,
            PENDING,
            replace(PENDING, nominal_at=NOW + timedelta(hours=1)),
            "nominally",
        ),
    ],
)
def test_a_wrong_write_is_found(check: Check, old: Task | None, new: Task, text: str) -> None:
    assert text in " ".join(find(check, old, new))


def test_a_run_that_ended_before_is_not_open_again() -> None:
    assert find(changes.ended_for_good, RETRYING, RUNNING, ended={"run-1"}) != []
    assert find(changes.ended_for_good, RETRYING, AGAIN, ended={"run-1"}) == []


def test_a_claim_before_the_due_time_is_found() -> None:
    early = NOW - timedelta(milliseconds=1)
    assert find(changes.claimed_when_due, PENDING, RUNNING, at=early) != []
