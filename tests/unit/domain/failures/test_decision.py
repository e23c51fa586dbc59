"""The decision that each policy makes on a failure, as tables, and the rules they share."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from duecourse.domain.errors import SubjectPermanentlyFailedError
from duecourse.domain.failures.decision import Decision, decide
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_context import FailureContext
from duecourse.domain.failures.retry_delay import stable_fraction
from duecourse.domain.failures.subject import Subject, SubjectStatus
from duecourse.domain.origin import Origin
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run_diagnosis import Location
from duecourse.domain.tasks.status import Status
from duecourse.domain.time.duration import parse_duration

from tests.support.builders.failures import BOOM, a_diagnosis, a_subject, builtin_policies
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW

MIDNIGHT = NOW + 12 * HOUR
FINAL_STEPS = {
    "refresh": (Action.RETRY_WITH_SPEC_REFRESH, Status.BLOCKED),
    "escalate": (Action.ESCALATE_TO_HUMAN, Status.BLOCKED),
    "block": (Action.MARK_AS_BLOCKED, Status.BLOCKED),
    "fail": (Action.GIVE_UP, Status.FAILED),
}


def decide_failure(
    policy: str,
    category: str,
    attempt: int = 0,
    *,
    failure: Failure = BOOM,
    diagnosis: dict[str, Any] | None = None,
    **fields: Any,
) -> Decision:
    """Decide on a failure; `attempt` is `retry_count` before it, 0 for the first."""
    rules = builtin_policies()[policy]
    context: dict[str, Any] = {
        "retry_count": attempt,
        "max_retries": rules.max_retries,
        "failed_at": NOW,
        "budget_resets_at": MIDNIGHT,
        "jitter_seed": "a task:1",
        "is_over_budget": category == "budget_exceeded",
    }
    return decide(
        failure,
        a_diagnosis(category, **(diagnosis or {})),
        rules,
        FailureContext(**{**context, **fields}),
    )


def decide_unknown(policy: str, *, retry_count: int = 0, **fields: Any) -> Decision:
    """Decide on an unknown failure; the fields are those of FailureContext."""
    rules = builtin_policies()[policy]
    context = FailureContext(
        retry_count=retry_count,
        max_retries=rules.max_retries,
        failed_at=NOW,
        budget_resets_at=MIDNIGHT,
        jitter_seed="a task:1",
        **fields,
    )
    return decide(BOOM, a_diagnosis("unknown"), rules, context)


def rows(table: str) -> list[Any]:
    """Parse lines of a category and the steps of its first, second, third... failure."""
    lines = [line.split() for line in table.strip().splitlines()]
    return [
        pytest.param(category, attempt, step, id=f"{category}, failure {attempt + 1}")
        for category, *steps in lines
        for attempt, step in enumerate(steps)
    ]


def summarize(decision: Decision) -> tuple[Action, Status, timedelta | None]:
    return decision.action, decision.status, decision.delay


def expected_summary(step: str, *, retry: Action) -> tuple[Action, Status, timedelta | None]:
    if step in FINAL_STEPS:
        return (*FINAL_STEPS[step], None)
    return retry, Status.PENDING, parse_duration(step)


def a_failure_with_retry_after(wait: str) -> Failure:
    return Failure.create("slow down", retry_after=parse_duration(wait))


# The three tables

OMEGA = """
transient            2m   2m   fail  fail
code_error           2m   2m   fail  fail
test_failure         2m   2m   fail  fail
timeout              2m   2m   fail  fail
resource_exhaustion  2m   2m   fail  fail
dependency_missing   2m   2m   fail  fail
unknown              2m   2m   fail  fail
recipient_gone       fail fail fail  fail
"""

AGENT = """
transient            30s  2m   5m   escalate  block  block
code_error           2m   5m   15m  escalate  block  block
test_failure         2m   5m   15m  escalate  block  block
unknown              2m   5m   15m  escalate  block  block
timeout              5m   15m  30m  block     block  block
resource_exhaustion  15m  30m  60m  block     block  block
dependency_missing   2m   5m   15m  block     block  block
"""

AGENT_WITH_A_SPEC = """
transient            30s  2m   5m       escalate  block
code_error           2m   5m   refresh  escalate  block
test_failure         2m   5m   refresh  escalate  block
unknown              2m   5m   15m      escalate  block
timeout              5m   15m  30m      block     block
resource_exhaustion  15m  30m  60m      block     block
dependency_missing   2m   5m   15m      block     block
"""

ENRICHMENT = """
rate_limit       24h   24h   fail  fail
network_timeout  12h   12h   fail  fail
unknown          12h   12h   fail  fail
json_parse       12h   12h   fail  fail
content_policy   fail  fail
token_limit      fail  fail
"""

# The columns are the subject's earlier failures: 0, 1, 2...
SUBJECTS = """
rate_limit       pending   pending  pending   pending   given_up  given_up
network_timeout  pending   pending  pending   pending   given_up  given_up
unknown          pending   pending  pending   pending   given_up  given_up
json_parse       pending   pending  given_up  given_up
content_policy   given_up  given_up
token_limit      given_up  given_up
"""


@pytest.mark.parametrize(("category", "attempt", "step"), rows(OMEGA))
def test_omega_makes_three_attempts_two_minutes_apart(
    category: str, attempt: int, step: str
) -> None:
    assert summarize(decide_failure("omega", category, attempt)) == expected_summary(
        step, retry=Action.RETRY
    )


@pytest.mark.parametrize(("category", "attempt", "step"), rows(AGENT))
def test_agent_follows_its_recovery_ladder(category: str, attempt: int, step: str) -> None:
    expected = expected_summary(step, retry=Action.RETRY_WITH_GUIDANCE)
    assert summarize(decide_failure("agent", category, attempt)) == expected


@pytest.mark.parametrize(("category", "attempt", "step"), rows(AGENT_WITH_A_SPEC))
def test_agent_requests_a_spec_refresh_if_the_task_has_a_specification(
    category: str, attempt: int, step: str
) -> None:
    expected = expected_summary(step, retry=Action.RETRY_WITH_GUIDANCE)
    assert summarize(decide_failure("agent", category, attempt, has_spec=True)) == expected


@pytest.mark.parametrize("subject", [None, a_subject()], ids=["no subject", "a subject"])
@pytest.mark.parametrize(("category", "attempt", "step"), rows(ENRICHMENT))
def test_enrichment_allows_a_task_three_attempts_or_one(
    category: str, attempt: int, step: str, subject: Subject | None
) -> None:
    decision = decide_failure("enrichment", category, attempt, subject=subject)
    is_over = decision.subject is not None and decision.subject.is_given_up
    assert is_over == (subject is not None and category in ("content_policy", "token_limit"))
    assert summarize(decision) == expected_summary(step, retry=Action.RETRY)


@pytest.mark.parametrize(("category", "failures", "status"), rows(SUBJECTS))
def test_enrichment_gives_up_a_subject_by_the_subjects_failure_count(
    category: str, failures: int, status: str
) -> None:
    after = decide_failure(
        "enrichment", category, subject=a_subject(failure_count=failures)
    ).subject
    assert after is not None
    assert (after.failure_count, after.is_given_up) == (failures + 1, status == "given_up")


def test_every_builtin_category_is_in_the_tables() -> None:
    tables = {"omega": OMEGA, "agent": AGENT, "enrichment": ENRICHMENT}
    for name, table in tables.items():
        listed = {line.split()[0] for line in table.strip().splitlines()}
        assert builtin_policies()[name].categories.keys() == listed | {"budget_exceeded"}


@pytest.mark.parametrize("kind", [Kind.AUTH, Kind.PERMISSION])
@pytest.mark.parametrize("attempt", [0, 1, 9])
@pytest.mark.parametrize("policy", ["omega", "agent", "enrichment", "standard"])
def test_what_only_a_person_can_clear_is_given_to_one_at_once(
    policy: str, attempt: int, kind: Kind
) -> None:
    before = a_subject(failure_count=2)
    decision = decide_failure(policy, "unknown", attempt, diagnosis={"kind": kind}, subject=before)
    assert (decision.action, decision.status) == FINAL_STEPS["escalate"]
    assert decision.subject is not None
    assert (decision.subject.failure_count, decision.subject.cooldown_until) == (2, None)
    assert not decision.blames_subject


@pytest.mark.parametrize("origin", [Origin.REJECTED, Origin.CRASH])
def test_words_of_a_rejection_do_not_ask_a_person(origin: Origin) -> None:
    decision = decide_failure("agent", "unknown", diagnosis={"kind": Kind.AUTH}, origin=origin)
    assert decision.action is Action.RETRY_WITH_GUIDANCE


# Limits


@pytest.mark.parametrize(
    ("policy", "category", "max_retries", "attempt", "status"),
    [
        ("omega", "unknown", 1, 0, "failed"),
        ("omega", "unknown", 2, 0, "pending"),
        ("omega", "unknown", 2, 1, "failed"),
        ("omega", "unknown", 9, 7, "pending"),
        ("omega", "unknown", 9, 8, "failed"),
        ("agent", "transient", 1, 0, "pending"),
        ("agent", "transient", 1, 1, "blocked"),
        ("agent", "timeout", 100, 2, "pending"),
        ("agent", "timeout", 100, 3, "blocked"),
        ("enrichment", "json_parse", 1, 0, "failed"),
        ("enrichment", "content_policy", 100, 0, "failed"),
    ],
)
def test_a_task_can_lower_the_limit_of_a_category_but_not_raise_it(
    policy: str, category: str, max_retries: int, attempt: int, status: str
) -> None:
    assert decide_failure(policy, category, attempt, max_retries=max_retries).status == status


@pytest.mark.parametrize(
    ("policy", "category", "max_retries", "limit"),
    [
        ("omega", "timeout", 3, 3),
        ("agent", "timeout", 5, 3),
        ("agent", "timeout", 2, 2),
        ("agent", "transient", 5, 5),
        ("enrichment", "token_limit", 3, 1),
        ("enrichment", "rate_limit", 3, 3),
    ],
)
def test_the_decision_reports_the_effective_limit(
    policy: str, category: str, max_retries: int, limit: int
) -> None:
    assert decide_failure(policy, category, max_retries=max_retries).max_retries == limit


def test_a_retry_count_far_beyond_the_limit_still_blocks() -> None:
    assert decide_failure("agent", "timeout", 50).status is Status.BLOCKED


@pytest.mark.parametrize("policy", ["omega", "agent", "enrichment"])
def test_a_failure_is_counted_once(policy: str) -> None:
    decision = decide_failure(policy, "unknown", 1)
    assert (decision.is_counted, decision.retry_count) == (True, 2)


def test_the_last_failure_is_counted() -> None:
    assert decide_failure("omega", "unknown", 2).retry_count == 3


@pytest.mark.parametrize("attempt", [2, 5])
def test_a_decision_without_a_retry_has_no_due_time(attempt: int) -> None:
    decision = decide_failure("omega", "unknown", attempt)
    assert (decision.delay, decision.due_at) == (None, None)


# Budgets


@pytest.mark.parametrize("attempt", [0, 1, 2, 3, 100])
@pytest.mark.parametrize("policy", ["omega", "agent", "enrichment"])
def test_a_budget_wait_never_ends_in_failure_and_is_not_counted(policy: str, attempt: int) -> None:
    decision = decide_failure(policy, "budget_exceeded", attempt)
    assert summarize(decision) == (Action.WAIT_FOR_BUDGET, Status.PENDING, 12 * HOUR)
    assert (decision.is_counted, decision.retry_count) == (False, attempt)


@pytest.mark.parametrize(
    ("policy", "last", "final"),
    [
        ("omega", 2, (Action.GIVE_UP, Status.FAILED, None)),
        ("agent", 5, (Action.MARK_AS_BLOCKED, Status.BLOCKED, None)),
        ("enrichment", 2, (Action.GIVE_UP, Status.FAILED, None)),
    ],
)
def test_a_budget_of_somebody_else_uses_up_retries(policy: str, last: int, final: Any) -> None:
    foreign = [
        decide_failure(policy, "budget_exceeded", n, is_over_budget=False) for n in range(last + 1)
    ]
    waiting = (Action.WAIT_FOR_BUDGET, Status.PENDING, 12 * HOUR)
    assert [summarize(one) for one in foreign] == [waiting] * last + [final]
    assert [(one.is_counted, one.retry_count) for one in foreign] == [
        (True, n + 1) for n in range(last + 1)
    ]


@pytest.mark.parametrize("category", ["budget_exceeded", "unknown"])
@pytest.mark.parametrize(
    ("policy", "action"),
    [("agent", Action.MARK_AS_BLOCKED), ("enrichment", Action.GIVE_UP)],
)
def test_a_wait_that_expired_is_final_and_not_counted(
    policy: str, action: Action, category: str
) -> None:
    before = a_subject(failure_count=4)
    decision = decide_failure(policy, category, 1, is_wait_expired=True, subject=before)
    assert (decision.action, decision.due_at, decision.is_counted) == (action, None, False)
    assert (decision.retry_count, decision.subject) == (1, None)


@pytest.mark.parametrize(
    ("resets_in", "wait"),
    [(MINUTE, MINUTE), (DAY, DAY), (3 * DAY, DAY), (timedelta(0), timedelta(0)), (-DAY, DAY * 0)],
)
def test_a_budget_wait_lasts_until_the_reset_and_at_most_a_day(
    resets_in: timedelta, wait: timedelta
) -> None:
    decision = decide_failure("enrichment", "budget_exceeded", budget_resets_at=NOW + resets_in)
    assert decision.delay == wait


def test_a_budget_wait_has_no_jitter() -> None:
    due_times = {
        decide_failure("agent", "budget_exceeded", jitter_seed=str(n)).due_at for n in range(20)
    }
    assert due_times == {MIDNIGHT}


def test_a_budget_failure_does_not_count_on_the_subject() -> None:
    before = a_subject(failure_count=4)
    after = decide_failure("enrichment", "budget_exceeded", subject=before).subject
    assert after is not None
    assert (after.failure_count, after.status) == (4, None)


# Retry-After


@pytest.mark.parametrize(
    ("policy", "category", "retry_after", "wait"),
    [
        ("omega", "unknown", "1s", "2m"),
        ("omega", "unknown", "10m", "10m"),
        ("omega", "unknown", "30h", "24h"),
        ("agent", "transient", "29s", "30s"),
        ("agent", "transient", "31s", "31s"),
        ("agent", "transient", "24h", "24h"),
        ("agent", "transient", "7d", "24h"),
        ("enrichment", "network_timeout", "1h", "12h"),
        ("enrichment", "network_timeout", "13h", "13h"),
        ("enrichment", "budget_exceeded", "1m", "12h"),
        ("enrichment", "budget_exceeded", "20h", "20h"),
    ],
)
def test_retry_after_lengthens_the_delay_and_never_shortens_it(
    policy: str, category: str, retry_after: str, wait: str
) -> None:
    assert decide_failure(
        policy, category, failure=a_failure_with_retry_after(retry_after)
    ).delay == parse_duration(wait)


@pytest.mark.parametrize(
    ("retry_after", "wait"),
    [("0s", "1m"), ("59s", "1m"), ("61s", "61s"), ("5m", "5m"), ("24h", "24h"), ("25h", "24h")],
)
def test_a_rate_limit_of_enrichment_follows_retry_after(retry_after: str, wait: str) -> None:
    assert decide_failure(
        "enrichment", "rate_limit", failure=a_failure_with_retry_after(retry_after)
    ).delay == parse_duration(wait)


def test_retry_after_does_not_add_an_attempt() -> None:
    assert (
        decide_failure(
            "enrichment", "rate_limit", 2, failure=a_failure_with_retry_after("1m")
        ).status
        is Status.FAILED
    )


# Jitter


@pytest.mark.parametrize("jitter_seed", ["a:1", "b:1", "c:1", "a:2", ""])
def test_jitter_adds_at_most_a_tenth_and_never_shortens(jitter_seed: str) -> None:
    due_at = decide_failure("agent", "timeout", jitter_seed=jitter_seed).due_at
    assert due_at is not None
    assert 5 * MINUTE <= due_at - NOW <= 5.5 * MINUTE


def test_the_reported_delay_excludes_jitter() -> None:
    assert decide_failure("agent", "timeout", jitter_seed="a:1").delay == 5 * MINUTE


def test_deciding_the_same_attempt_again_gives_the_same_due_time() -> None:
    first, second = (decide_failure("agent", "timeout", jitter_seed="a:1").due_at for _ in range(2))
    assert first == second


def test_jitter_spreads_simultaneous_failures() -> None:
    due_times = {
        decide_failure("agent", "timeout", jitter_seed=f"{n}:1").due_at for n in range(100)
    }
    assert len(due_times) > 90


def test_omega_retries_without_jitter() -> None:
    assert decide_failure("omega", "unknown", jitter_seed="a:1").due_at == NOW + 2 * MINUTE


def test_stable_fraction_is_spread_between_zero_and_one() -> None:
    fractions = [stable_fraction(str(n)) for n in range(1000)]
    assert (min(fractions) >= 0, max(fractions) < 1) == (True, True)
    assert 0.4 < sum(fractions) / 1000 < 0.6


# Subjects


@pytest.mark.parametrize("attempt", [0, 1, 2])
def test_a_task_gives_up_with_its_subject(attempt: int) -> None:
    decision = decide_failure("enrichment", "unknown", attempt, subject=a_subject(failure_count=4))
    assert summarize(decision) == (Action.GIVE_UP, Status.FAILED, None)


def test_a_task_gives_up_if_its_subject_was_given_up_meanwhile() -> None:
    permanently_failed = a_subject(failure_count=1, status=SubjectStatus.PERMANENT_FAILURE)
    assert (
        decide_failure("enrichment", "network_timeout", subject=permanently_failed).status
        is Status.FAILED
    )


@pytest.mark.parametrize("policy", ["agent", "enrichment"])
def test_a_given_up_subject_stays_given_up_after_another_failure(policy: str) -> None:
    """Another task that was running may still fail with a less severe error."""
    permanently_failed = a_subject(failure_count=1, status=SubjectStatus.PERMANENT_FAILURE)
    after = decide_failure(policy, "unknown", subject=permanently_failed).subject
    assert after is not None
    assert after.is_given_up


def test_a_policy_with_a_ladder_ignores_the_failures_of_the_subject() -> None:
    decision = decide_failure("agent", "unknown", subject=a_subject(failure_count=99))
    assert decision.action is Action.RETRY_WITH_GUIDANCE


def test_a_provider_failure_does_not_change_the_subjects_failure_count() -> None:
    before = a_subject(failure_count=4)
    provider_diagnosis = {"blames_subject": False}
    decision = decide_failure("enrichment", "unknown", diagnosis=provider_diagnosis, subject=before)
    assert decision.subject is not None
    assert (decision.subject.failure_count, decision.subject.is_given_up) == (4, False)


def test_a_provider_failure_still_counts_for_the_task() -> None:
    provider_diagnosis = {"blames_subject": False}
    decision = decide_failure(
        "enrichment", "unknown", 2, diagnosis=provider_diagnosis, subject=a_subject()
    )
    assert (decision.retry_count, decision.status) == (3, Status.FAILED)


def test_a_provider_failure_sets_the_subjects_last_error() -> None:
    provider_diagnosis = {"blames_subject": False}
    after = decide_failure(
        "enrichment", "unknown", diagnosis=provider_diagnosis, subject=a_subject()
    ).subject
    assert after is not None
    assert (after.last_error_category, after.last_error_message, after.last_attempt_at) == (
        *("unknown", "boom", NOW),
    )


def test_the_cooldown_of_a_subject_lasts_as_long_as_the_delay() -> None:
    after = decide_failure("enrichment", "json_parse", subject=a_subject()).subject
    assert after is not None
    assert after.cooldown_until == NOW + 12 * HOUR


def test_the_cooldown_of_a_subject_follows_retry_after() -> None:
    after = decide_failure(
        "enrichment", "rate_limit", failure=a_failure_with_retry_after("5m"), subject=a_subject()
    ).subject
    assert after is not None
    assert after.cooldown_until == NOW + 5 * MINUTE


@pytest.mark.parametrize(
    ("policy", "category", "blames_subject"),
    [
        ("agent", "unknown", True),
        ("enrichment", "unknown", False),
        ("enrichment", "budget_exceeded", True),
        ("enrichment", "content_policy", True),
    ],
)
def test_only_a_subject_with_a_pending_retry_gets_a_cooldown(
    policy: str, category: str, blames_subject: bool
) -> None:
    diagnosis = {"blames_subject": blames_subject}
    after = decide_failure(policy, category, diagnosis=diagnosis, subject=a_subject()).subject
    assert after is not None
    assert after.cooldown_until is None


@pytest.mark.parametrize(
    ("category", "blames_subject"), [("unknown", False), ("budget_exceeded", True)]
)
def test_a_failure_that_does_not_blame_the_subject_keeps_its_cooldown(
    category: str, blames_subject: bool
) -> None:
    """Of two tasks on one subject, one starts the cooldown while the other still runs."""
    cooling = a_subject(failure_count=1, cooldown_until=NOW + HOUR)
    diagnosis = {"blames_subject": blames_subject}
    after = decide_failure("enrichment", category, diagnosis=diagnosis, subject=cooling).subject
    assert after is not None
    assert after.cooldown_until == NOW + HOUR


def test_a_decision_without_a_subject_returns_none() -> None:
    assert decide_failure("enrichment", "unknown").subject is None


@pytest.mark.parametrize("policy", ["omega", "agent", "enrichment"])
def test_a_task_rejected_for_its_subject_fails_uncounted(policy: str) -> None:
    failure = Failure.from_exception(SubjectPermanentlyFailedError("story-1", "json_parse"))
    permanently_failed = a_subject(failure_count=3, status=SubjectStatus.PERMANENT_FAILURE)
    decision = decide_failure(
        policy, "unknown", 1, failure=failure, subject=permanently_failed, origin=Origin.SUBJECT
    )
    assert summarize(decision) == (Action.GIVE_UP, Status.FAILED, None)
    assert (decision.is_counted, decision.retry_count, decision.subject) == (False, 1, None)


@pytest.mark.parametrize("policy", ["omega", "agent", "enrichment"])
def test_a_run_not_attempted_is_retried_in_a_minute_and_is_not_counted(policy: str) -> None:
    decision = decide_failure(
        policy, "unknown", 1, subject=a_subject(failure_count=1), origin=Origin.NOT_ATTEMPTED
    )
    assert summarize(decision) == (Action.RETRY, Status.PENDING, MINUTE)
    assert (decision.is_counted, decision.retry_count, decision.subject) == (False, 1, None)


@pytest.mark.parametrize(("attempt", "minutes"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16)])
@pytest.mark.parametrize("policy", ["omega", "agent", "enrichment"])
def test_repeated_runs_not_attempted_back_off_uncounted(
    policy: str, attempt: int, minutes: int
) -> None:
    uncounted = {"attempt": attempt, "origin": Origin.NOT_ATTEMPTED}
    decision = decide_unknown(policy, retry_count=2, **uncounted)
    assert summarize(decision) == (Action.RETRY, Status.PENDING, minutes * MINUTE)
    assert (decision.is_counted, decision.retry_count) == (False, 2)


@pytest.mark.parametrize("policy", ["omega", "agent", "enrichment"])
@pytest.mark.parametrize("retry_count", [0, 1, 2, 3, 5])
def test_the_sixth_run_not_attempted_counts_like_any_failure(policy: str, retry_count: int) -> None:
    decision = decide_unknown(
        policy, retry_count=retry_count, attempt=6, origin=Origin.NOT_ATTEMPTED
    )
    assert decision == decide_unknown(policy, retry_count=retry_count, attempt=6)
    assert (decision.is_counted, decision.retry_count) == (True, retry_count + 1)


# Indeterminate outcomes


@pytest.mark.parametrize(
    ("policy", "retry_count", "action"),
    [
        ("omega", 2, Action.GIVE_UP),
        ("enrichment", 2, Action.GIVE_UP),
        ("agent", 5, Action.MARK_AS_BLOCKED),
    ],
)
def test_an_indeterminate_outcome_on_the_last_attempt_asks_a_person(
    policy: str, retry_count: int, action: Action
) -> None:
    assert decide_unknown(policy, retry_count=retry_count).action is action
    decision = decide_unknown(policy, retry_count=retry_count, is_indeterminate=True)
    assert summarize(decision) == (Action.ASK_PERSON, Status.BLOCKED, None)


def test_an_indeterminate_outcome_on_a_given_up_subject_asks_a_person() -> None:
    permanently_failed = a_subject(status=SubjectStatus.PERMANENT_FAILURE)
    assert decide_unknown("enrichment", subject=permanently_failed).action is Action.GIVE_UP
    decision = decide_unknown("enrichment", subject=permanently_failed, is_indeterminate=True)
    assert summarize(decision) == (Action.ASK_PERSON, Status.BLOCKED, None)


@pytest.mark.parametrize("policy", ["omega", "agent", "enrichment"])
def test_an_indeterminate_outcome_before_the_last_attempt_is_retried(policy: str) -> None:
    assert decide_unknown(policy, is_indeterminate=True) == decide_unknown(policy)


def test_a_cooldown_is_never_shortened() -> None:
    cooling = a_subject(failure_count=1, cooldown_until=NOW + 12 * HOUR)
    retry_in_a_minute = Failure.create("slow down", retry_after=60)
    after = decide_failure(
        "enrichment", "rate_limit", failure=retry_in_a_minute, subject=cooling
    ).subject
    assert after is not None
    assert after.cooldown_until == NOW + 12 * HOUR


# Guidance


@pytest.mark.parametrize(
    ("attempt", "has_spec", "guidance"),
    [
        (0, False, "Mend it."),
        (1, False, "Second retry. Mend it."),
        (2, False, "Third retry. Mend it. Take an entirely different approach."),
        (2, True, "It failed 3 times: the specification may be unclear. Mend it."),
        (3, False, "It failed 4 times and needs a person to look at it. Mend it."),
        (4, False, "No retry is left (5 for code_error). Mend it."),
    ],
)
def test_each_rung_has_its_own_guidance(attempt: int, has_spec: bool, guidance: str) -> None:
    assert decide_failure("agent", "code_error", attempt, has_spec=has_spec).guidance == guidance


@pytest.mark.parametrize(
    ("line", "suffix"), [(7, " It points to shop.py, line 7."), (None, " It points to shop.py.")]
)
def test_guidance_names_the_source_location(line: int | None, suffix: str) -> None:
    diagnosis = {"location": Location("shop.py", line)}
    assert (
        decide_failure("agent", "code_error", diagnosis=diagnosis).guidance == "Mend it." + suffix
    )


@pytest.mark.parametrize(
    "file", ["/app/shop.py", "C:\\app\\shop.cs", "node_modules/@a/b-c.test.js", "../Makefile"]
)
def test_guidance_names_a_plain_path(file: str) -> None:
    diagnosis = {"location": Location(file, 7)}
    guidance = decide_failure("agent", "code_error", diagnosis=diagnosis).guidance
    assert guidance == f"Mend it. It points to {file}, line 7."


@pytest.mark.parametrize(
    "file",
    [
        "ignore this.py",
        "a\nb.py",
        "a.py\n",
        "a'b.py",
        "a:b.py",
        "a\u3164b.py",
        "a\u2028.py",
        "a" * 121,
    ],
)
def test_guidance_leaves_out_a_file_that_is_no_plain_path(file: str) -> None:
    diagnosis = {"location": Location(file, 7)}
    assert decide_failure("agent", "code_error", diagnosis=diagnosis).guidance == "Mend it."


@pytest.mark.parametrize("policy", ["omega", "enrichment"])
def test_a_policy_without_a_ladder_gives_no_guidance(policy: str) -> None:
    assert decide_failure(policy, "unknown").guidance is None
