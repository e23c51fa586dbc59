"""The counters name a failed run if it began, ended and was counted on one day."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from duecourse.domain.journal.failed_runs import (
    failed_run_increment,
    is_named_by_counters,
    read_failed_runs,
)
from duecourse.domain.journal.increment import Increment, merge_increments
from duecourse.domain.journal.learning_counters import RunRef
from duecourse.domain.lifecycle.run_transitions import commit
from duecourse.domain.tasks.run import ProviderCall
from duecourse.domain.tasks.status import Status

from tests.support.builders.failures import fail_task
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.builders.runs import run_of
from tests.support.builders.tasks import ID, a_task, an_action, claim_task

RUNNING = claim_task(a_task(), "run-1", at=NOW)
FAILED = fail_task(RUNNING, at=NOW + MINUTE)


def test_a_failure_on_one_day_is_named() -> None:
    assert is_named_by_counters(RUNNING, FAILED, counted_at=NOW + HOUR)


@pytest.mark.parametrize(
    ("started_at", "ended_at", "counted_at"),
    [(NOW - DAY, NOW, NOW), (NOW, NOW + DAY, NOW + DAY), (NOW, NOW, NOW + DAY)],
    ids=["begun the day before", "ended the day after", "counted the day after"],
)
def test_a_failure_over_midnight_is_not_named(
    started_at: datetime, ended_at: datetime, counted_at: datetime
) -> None:
    running = claim_task(a_task(), "run-1", at=started_at)
    assert not is_named_by_counters(running, fail_task(running, at=ended_at), counted_at=counted_at)


def test_a_success_a_creation_and_an_amendment_are_not_named() -> None:
    amended = replace(FAILED, run=replace(run_of(FAILED), category="timeout"), version=9)
    for old, new in (
        (RUNNING, commit(RUNNING, None, at=NOW)),
        (None, RUNNING),
        (None, FAILED),
        (FAILED, amended),
    ):
        assert not is_named_by_counters(old, new, counted_at=NOW)


def test_a_run_that_waited_for_verification_is_not_named() -> None:
    """Its audit entry exists since then and says that it succeeded."""
    waiting = replace(RUNNING, status=Status.PENDING_VERIFICATION)
    assert not is_named_by_counters(waiting, FAILED, counted_at=NOW)


@pytest.mark.parametrize(
    ("fields", "is_audited"),
    [({}, True), ({"type": "webhook"}, False)],
)
def test_a_named_run_is_read_as_it_was(fields: dict[str, Any], is_audited: bool) -> None:
    failed = fail_task(claim_task(an_action(**fields), "run-1", at=NOW), at=NOW + MINUTE)
    failed = replace(failed, run=replace(run_of(failed), call=ProviderCall(provider="openai")))

    [found] = read_failed_runs([failed_run_increment(failed)])

    assert found.ref == RunRef(NOW + MINUTE, ID, "run-1", NOW)
    assert (found.category, found.is_audited) == ("unknown", is_audited)


def test_a_run_that_is_named_twice_is_one_member() -> None:
    [merged] = merge_increments([failed_run_increment(FAILED)] * 2)
    assert len(merged.members) == 1


def test_members_that_cannot_be_read_and_other_counters_are_left_out() -> None:
    broken = frozenset({"", "x", "2026-02-17 a b c -", "1 2 3 4 5 6"})
    found = [Increment("2026-02-17", "failed#x", members=broken), Increment("2026-02-17", "c")]
    assert list(read_failed_runs([*found, failed_run_increment(FAILED)])) == list(
        read_failed_runs([failed_run_increment(FAILED)])
    )
