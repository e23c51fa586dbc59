"""When a lease expires, and the report of a run whose lease has expired."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from duecourse.domain.lifecycle.lease import (
    REPORT_GRACE_PERIOD,
    lease_expired,
    lease_expired_report,
)
from duecourse.domain.lifecycle.run_transitions import advance
from duecourse.domain.tasks.handler import HandlerCapabilities
from duecourse.domain.tasks.run import IndeterminatePolicy
from duecourse.domain.tasks.status import Status

from tests.support.builders.failures import fail_repeatedly
from tests.support.builders.moments import DAY, MILLISECOND, NOW
from tests.support.builders.runs import LEASE, run_of
from tests.support.builders.tasks import ID, a_task, claim_task


@pytest.mark.parametrize(
    ("moment", "is_expired"),
    [(NOW + LEASE - MILLISECOND, False), (NOW + LEASE, True), (NOW + LEASE + MILLISECOND, True)],
)
def test_a_lease_expires_at_its_end(moment: datetime, is_expired: bool) -> None:
    assert lease_expired(claim_task(a_task()), at=moment) is is_expired


@pytest.mark.parametrize(
    ("has_begun", "expires_after"), [(False, LEASE), (True, LEASE + REPORT_GRACE_PERIOD)]
)
def test_only_a_run_with_an_unknown_effect_gets_the_grace_period(
    has_begun: bool, expires_after: timedelta
) -> None:
    """A run that crashed in `prepare` had no effect, so no person needs to be asked."""
    capabilities = HandlerCapabilities(
        has_prepare=True, indeterminate_policy=IndeterminatePolicy.ASK_PERSON
    )
    task = claim_task(a_task(), capabilities=capabilities)
    task = advance(task, run_of(task).mark_in_flight()) if has_begun else task
    moment = NOW + expires_after
    assert not lease_expired(task, at=moment - MILLISECOND)
    assert lease_expired(task, at=moment)


def test_a_pending_task_has_no_lease_to_expire() -> None:
    assert not lease_expired(fail_repeatedly(a_task(), 1), at=NOW + DAY)


def test_a_task_in_progress_without_a_run_has_an_expired_lease() -> None:
    assert lease_expired(a_task(status=Status.IN_PROGRESS), at=NOW)


def test_a_run_whose_lease_expired_failed_at_the_end_of_its_lease() -> None:
    report = lease_expired_report(claim_task(a_task(), "run-7"))
    assert (report.task_id, report.run_id, report.failed_at, report.is_crash) == (
        *(ID, "run-7", NOW + LEASE, True),
    )
