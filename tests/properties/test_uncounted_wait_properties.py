"""No text makes a failure uncounted, and no uncounted wait is endless."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.decision import decide
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_context import FailureContext
from duecourse.domain.lifecycle.uncounted_wait import expired_wait, give_up_if_expired
from duecourse.domain.origin import Origin
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders.failures import a_failure_report, builtin_policies, fail_task
from tests.support.builders.moments import DAY, HOUR, NOW
from tests.support.builders.tasks import an_action, claim_task

LIMIT = 7 * DAY
WORDS = ["budget", "BudgetExceeded", "budget_exceeded", "insufficient_quota", "daily", "402", ": "]
texts = st.lists(st.sampled_from(WORDS) | st.text(max_size=5), max_size=8).map(" ".join)
codes = st.none() | st.sampled_from(["budget_exceeded", "insufficient_quota", "not_attempted"])
types = st.none() | st.sampled_from(["BudgetExceeded", "BudgetExceededError", "WaitedTooLong"])
failures = st.builds(
    Failure.create,
    texts,
    code=codes,
    type=types,
    status=st.none() | st.sampled_from([402, 429, 503]),
)


@given(
    failure=failures,
    policy=st.sampled_from(sorted(builtin_policies())),
    retry_count=st.integers(0, 50),
    origin=st.sampled_from([Origin.WORK, Origin.ANSWER, Origin.CRASH]),
)
def test_every_failure_of_others_uses_up_a_retry(
    failure: Failure, policy: str, retry_count: int, origin: Origin
) -> None:
    rules = builtin_policies()[policy]
    context = FailureContext(
        retry_count=retry_count,
        max_retries=rules.max_retries,
        failed_at=NOW,
        budget_resets_at=NOW + HOUR,
        origin=origin,
    )
    decision = decide(failure, diagnose(failure, rules), rules, context)
    assert (decision.is_counted, decision.retry_count) == (True, retry_count + 1)
    assert decision.due_at is None or retry_count < rules.max_retries


@given(
    waits=st.lists(st.timedeltas(timedelta(seconds=1), DAY), min_size=1, max_size=40),
    policy=st.sampled_from(["agent", "enrichment", "omega"]),
)
def test_a_task_over_its_budget_is_given_up_at_the_limit(
    waits: list[timedelta], policy: str
) -> None:
    over_budget = Failure.create("spent", code="budget_exceeded")
    task, at = an_action(policy=policy), NOW
    for n, wait in enumerate(waits):
        running = claim_task(task, f"run-{n}", at=at)
        report = a_failure_report(running, over_budget, at=at)
        final = give_up_if_expired(running, report, limit=LIMIT)
        assert final.is_wait_expired == (at - NOW >= LIMIT)
        if final.is_wait_expired:
            waited = expired_wait(running, at=at, limit=LIMIT)
            assert f"gave up after waiting {waited}: spent" == final.failure.message
            return
        task = fail_task(running, over_budget, at=at)
        assert (task.waiting_since, task.retry_count) == (NOW, 0)
        at += wait


def test_an_attempt_starts_the_time_again() -> None:
    waiting = fail_task(claim_task(an_action()), Failure.create("spent", code="budget_exceeded"))
    tried = fail_task(claim_task(waiting, "run-2", at=NOW + DAY), at=NOW + DAY)
    assert (waiting.waiting_since, tried.waiting_since) == (NOW, None)


def test_the_failure_of_a_report_cannot_set_its_flags() -> None:
    report = a_failure_report(claim_task(an_action()))
    stored = report.to_json()
    stored["failure"] |= {"is_over_budget": True, "is_wait_expired": True}
    assert type(report).from_json(stored) == report
    flagged = replace(report, is_over_budget=True, is_wait_expired=True)
    assert type(report).from_json(flagged.to_json()) == flagged
    assert not type(report).from_json({**stored, "is_over_budget": "yes"}).is_over_budget
