"""What a failure leads to, by policy: the tables as people read them, and what all share."""

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
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run_diagnosis import Location
from duecourse.domain.tasks.status import Status
from duecourse.domain.time.duration import parse_duration

from tests.support.builders.failures import BOOM, a_diagnosis, a_subject, builtin_policies
from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW

MIDNIGHT = NOW + 12 * HOUR
ENDS = {
    "refresh": (Action.RETRY_WITH_SPEC_REFRESH, Status.BLOCKED),
    "escalate": (Action.ESCALATE_TO_HUMAN, Status.BLOCKED),
    "block": (Action.MARK_AS_BLOCKED, Status.BLOCKED),
    "fail": (Action.GIVE_UP, Status.FAILED),
}


def decided(
    policy: str,
    category: str,
    attempt: int = 0,
    *,
    failure: Failure = BOOM,
    diagnosis: dict[str, Any] | None = None,
    **known: Any,
) -> Decision:
    """`attempt` is `retry_count` before the failure, 0 for the first."""
    rules = builtin_policies()[policy]
    situation: dict[str, Any] = {
        "retry_count": attempt,
        "max_retries": rules.max_retries,
        "failed_at": NOW,
        "budget_resets_at": MIDNIGHT,
        "jitter_seed": "a task:1",
    }
    return decide(
        failure,
        a_diagnosis(category, **(diagnosis or {})),
        rules,
        FailureContext(**{**situation, **known}),
    )


def situated(policy: str, *, retry_count: int = 0, **known: Any) -> Decision:
    """Of a failure that nobody understands; what is known is named as the situation has it."""
    rules = builtin_policies()[policy]
    situation = FailureContext(
        retry_count=retry_count,
        max_retries=rules.max_retries,
        failed_at=NOW,
        budget_resets_at=MIDNIGHT,
        jitter_seed="a task:1",
        **known,
    )
    return decide(BOOM, a_diagnosis("unknown"), rules, situation)


def rows(table: str) -> list[Any]:
    """Of each line: a category, and what its first, second, third... failure leads to."""
    lines = [line.split() for line in table.strip().splitlines()]
    return [
        pytest.param(category, attempt, step, id=f"{category}, failure {attempt + 1}")
        for category, *steps in lines
        for attempt, step in enumerate(steps)
    ]


def told(decision: Decision) -> tuple[Action, Status, timedelta | None]:
    return decision.action, decision.status, decision.delay


def meant(step: str, *, retry: Action) -> tuple[Action, Status, timedelta | None]:
    if step in ENDS:
        return (*ENDS[step], None)
    return retry, Status.PENDING, parse_duration(step)


def asking(wait: str) -> Failure:
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

# How often the subject failed before: 0, 1, 2...
SUBJECTS = """
rate_limit       pending   pending  pending   pending   given_up  given_up
network_timeout  pending   pending  pending   pending   given_up  given_up
unknown          pending   pending  pending   pending   given_up  given_up
json_parse       pending   pending  given_up  given_up
content_policy   given_up  given_up
token_limit      given_up  given_up
"""


@pytest.mark.parametrize(("category", "attempt", "step"), rows(OMEGA))
def test_omega_tries_thrice_two_minutes_apart(category: str, attempt: int, step: str) -> None:
    assert told(decided("omega", category, attempt)) == meant(step, retry=Action.RETRY)


@pytest.mark.parametrize(("category", "attempt", "step"), rows(AGENT))
def test_agent_climbs_its_ladder(category: str, attempt: int, step: str) -> None:
    expected = meant(step, retry=Action.RETRY_WITH_GUIDANCE)
    assert told(decided("agent", category, attempt)) == expected


@pytest.mark.parametrize(("category", "attempt", "step"), rows(AGENT_WITH_A_SPEC))
def test_agent_asks_for_a_better_specification_where_there_is_one(
    category: str, attempt: int, step: str
) -> None:
    expected = meant(step, retry=Action.RETRY_WITH_GUIDANCE)
    assert told(decided("agent", category, attempt, has_spec=True)) == expected


@pytest.mark.parametrize("subject", [None, a_subject()], ids=["no subject", "a subject"])
@pytest.mark.parametrize(("category", "attempt", "step"), rows(ENRICHMENT))
def test_enrichment_gives_a_job_three_attempts_or_one(
    category: str, attempt: int, step: str, subject: Subject | None
) -> None:
    decision = decided("enrichment", category, attempt, subject=subject)
    is_over = decision.subject is not None and decision.subject.is_given_up
    assert is_over == (subject is not None and category in ("content_policy", "token_limit"))
    assert told(decision) == meant(step, retry=Action.RETRY)


@pytest.mark.parametrize(("category", "failures", "status"), rows(SUBJECTS))
def test_enrichment_gives_a_subject_up_by_its_own_count(
    category: str, failures: int, status: str
) -> None:
    after = decided("enrichment", category, subject=a_subject(failure_count=failures)).subject
    assert after is not None
    assert (after.failure_count, after.is_given_up) == (failures + 1, status == "given_up")


def test_every_category_that_ships_is_in_the_tables() -> None:
    tables = {"omega": OMEGA, "agent": AGENT, "enrichment": ENRICHMENT}
    for name, table in tables.items():
        told_of = {line.split()[0] for line in table.strip().splitlines()}
        assert builtin_policies()[name].categories.keys() == told_of | {"budget_exceeded"}


# Limits


@pytest.mark.parametrize(
    ("policy", "category", "most", "attempt", "status"),
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
def test_a_task_may_lower_the_limit_of_a_category_and_never_raise_it(
    policy: str, category: str, most: int, attempt: int, status: str
) -> None:
    assert decided(policy, category, attempt, max_retries=most).status == status


@pytest.mark.parametrize(
    ("policy", "category", "most", "limit"),
    [
        ("omega", "timeout", 3, 3),
        ("agent", "timeout", 5, 3),
        ("agent", "timeout", 2, 2),
        ("agent", "transient", 5, 5),
        ("enrichment", "token_limit", 3, 1),
        ("enrichment", "rate_limit", 3, 3),
    ],
)
def test_the_limit_that_held_is_told(policy: str, category: str, most: int, limit: int) -> None:
    assert decided(policy, category, max_retries=most).max_retries == limit


def test_a_limit_that_was_passed_long_ago_still_holds() -> None:
    assert decided("agent", "timeout", 50).status is Status.BLOCKED


@pytest.mark.parametrize("policy", ["omega", "agent", "enrichment"])
def test_a_failure_counts_once(policy: str) -> None:
    decision = decided(policy, "unknown", 1)
    assert (decision.is_counted, decision.retry_count) == (True, 2)


def test_the_last_failure_counts_too() -> None:
    assert decided("omega", "unknown", 2).retry_count == 3


@pytest.mark.parametrize("attempt", [2, 5])
def test_what_is_not_tried_again_has_no_time(attempt: int) -> None:
    decision = decided("omega", "unknown", attempt)
    assert (decision.delay, decision.due_at) == (None, None)


# Budgets


@pytest.mark.parametrize("attempt", [0, 1, 2, 3, 100])
@pytest.mark.parametrize("policy", ["omega", "agent", "enrichment"])
def test_a_budget_is_waited_for_for_ever_and_counts_nothing(policy: str, attempt: int) -> None:
    decision = decided(policy, "budget_exceeded", attempt)
    assert told(decision) == (Action.WAIT_FOR_BUDGET, Status.PENDING, 12 * HOUR)
    assert (decision.is_counted, decision.retry_count) == (False, attempt)


@pytest.mark.parametrize(
    ("clears_in", "wait"),
    [(MINUTE, MINUTE), (DAY, DAY), (3 * DAY, DAY), (timedelta(0), timedelta(0)), (-DAY, DAY * 0)],
)
def test_a_budget_is_waited_for_until_it_clears_and_a_day_at_most(
    clears_in: timedelta, wait: timedelta
) -> None:
    decision = decided("enrichment", "budget_exceeded", budget_resets_at=NOW + clears_in)
    assert decision.delay == wait


def test_a_budget_clears_for_all_at_the_same_moment() -> None:
    due = {decided("agent", "budget_exceeded", jitter_seed=str(n)).due_at for n in range(20)}
    assert due == {MIDNIGHT}


def test_a_budget_never_costs_a_subject_anything() -> None:
    before = a_subject(failure_count=4)
    after = decided("enrichment", "budget_exceeded", subject=before).subject
    assert after is not None
    assert (after.failure_count, after.status) == (4, None)


# What the server says


@pytest.mark.parametrize(
    ("policy", "category", "asked", "wait"),
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
def test_a_retry_after_raises_the_wait_and_never_lowers_it(
    policy: str, category: str, asked: str, wait: str
) -> None:
    assert decided(policy, category, failure=asking(asked)).delay == parse_duration(wait)


@pytest.mark.parametrize(
    ("asked", "wait"),
    [("0s", "1m"), ("59s", "1m"), ("61s", "61s"), ("5m", "5m"), ("24h", "24h"), ("25h", "24h")],
)
def test_a_rate_limit_of_enrichment_ends_when_the_server_says(asked: str, wait: str) -> None:
    assert decided("enrichment", "rate_limit", failure=asking(asked)).delay == parse_duration(wait)


def test_what_the_server_says_does_not_buy_another_attempt() -> None:
    assert decided("enrichment", "rate_limit", 2, failure=asking("1m")).status is Status.FAILED


# Jitter


@pytest.mark.parametrize("salt", ["a:1", "b:1", "c:1", "a:2", ""])
def test_jitter_adds_a_tenth_at_most_and_takes_nothing_away(salt: str) -> None:
    due_at = decided("agent", "timeout", jitter_seed=salt).due_at
    assert due_at is not None
    assert 5 * MINUTE <= due_at - NOW <= 5.5 * MINUTE


def test_jitter_is_not_in_the_delay_that_is_told() -> None:
    assert decided("agent", "timeout", jitter_seed="a:1").delay == 5 * MINUTE


def test_the_same_attempt_comes_at_the_same_moment_when_decided_again() -> None:
    once, again = (decided("agent", "timeout", jitter_seed="a:1").due_at for _ in range(2))
    assert once == again


def test_jitter_spreads_what_failed_together() -> None:
    due = {decided("agent", "timeout", jitter_seed=f"{n}:1").due_at for n in range(100)}
    assert len(due) > 90


def test_a_reminder_is_retried_to_the_second() -> None:
    assert decided("omega", "unknown", jitter_seed="a:1").due_at == NOW + 2 * MINUTE


def test_a_fraction_is_part_of_one() -> None:
    fractions = [stable_fraction(str(n)) for n in range(1000)]
    assert (min(fractions) >= 0, max(fractions) < 1) == (True, True)
    assert 0.4 < sum(fractions) / 1000 < 0.6


# Subjects


@pytest.mark.parametrize("attempt", [0, 1, 2])
def test_a_job_gives_up_with_its_subject(attempt: int) -> None:
    decision = decided("enrichment", "unknown", attempt, subject=a_subject(failure_count=4))
    assert told(decision) == (Action.GIVE_UP, Status.FAILED, None)


def test_a_job_gives_up_where_another_has_given_its_subject_up_meanwhile() -> None:
    gone = a_subject(failure_count=1, status=SubjectStatus.PERMANENT_FAILURE)
    assert decided("enrichment", "network_timeout", subject=gone).status is Status.FAILED


@pytest.mark.parametrize("policy", ["agent", "enrichment"])
def test_a_subject_that_was_given_up_stays_so_until_somebody_resets_it(policy: str) -> None:
    """Another job that was under way may still fail, of something less grave."""
    gone = a_subject(failure_count=1, status=SubjectStatus.PERMANENT_FAILURE)
    after = decided(policy, "unknown", subject=gone).subject
    assert after is not None
    assert after.is_given_up


def test_a_task_with_a_ladder_climbs_it_whatever_its_subject_has_been_through() -> None:
    decision = decided("agent", "unknown", subject=a_subject(failure_count=99))
    assert decision.action is Action.RETRY_WITH_GUIDANCE


def test_a_failure_of_the_providers_own_leaves_the_subjects_count() -> None:
    before = a_subject(failure_count=4)
    refused = {"blames_subject": False}
    decision = decided("enrichment", "unknown", diagnosis=refused, subject=before)
    assert decision.subject is not None
    assert (decision.subject.failure_count, decision.subject.is_given_up) == (4, False)


def test_a_failure_of_the_providers_own_still_counts_for_the_job() -> None:
    refused = {"blames_subject": False}
    decision = decided("enrichment", "unknown", 2, diagnosis=refused, subject=a_subject())
    assert (decision.retry_count, decision.status) == (3, Status.FAILED)


def test_a_failure_of_the_providers_own_is_noted_on_the_subject() -> None:
    refused = {"blames_subject": False}
    after = decided("enrichment", "unknown", diagnosis=refused, subject=a_subject()).subject
    assert after is not None
    assert (after.last_error_category, after.last_error_message, after.last_attempt_at) == (
        *("unknown", "boom", NOW),
    )


def test_a_subject_cools_down_as_long_as_the_wait() -> None:
    after = decided("enrichment", "json_parse", subject=a_subject()).subject
    assert after is not None
    assert after.cooldown_until == NOW + 12 * HOUR


def test_a_subject_cools_down_until_the_server_says() -> None:
    after = decided("enrichment", "rate_limit", failure=asking("5m"), subject=a_subject()).subject
    assert after is not None
    assert after.cooldown_until == NOW + 5 * MINUTE


@pytest.mark.parametrize(
    ("policy", "category", "blames"),
    [
        ("agent", "unknown", True),
        ("enrichment", "unknown", False),
        ("enrichment", "budget_exceeded", True),
        ("enrichment", "content_policy", True),
    ],
)
def test_only_a_subject_that_is_to_be_tried_again_cools_down(
    policy: str, category: str, blames: bool
) -> None:
    diagnosis = {"blames_subject": blames}
    after = decided(policy, category, diagnosis=diagnosis, subject=a_subject()).subject
    assert after is not None
    assert after.cooldown_until is None


@pytest.mark.parametrize(("category", "blames"), [("unknown", False), ("budget_exceeded", True)])
def test_what_does_not_blame_a_subject_does_not_end_its_cool_down(
    category: str, blames: bool
) -> None:
    """Two jobs on one subject: one began its cool-down while the other was still under way."""
    cooling = a_subject(failure_count=1, cooldown_until=NOW + HOUR)
    diagnosis = {"blames_subject": blames}
    after = decided("enrichment", category, diagnosis=diagnosis, subject=cooling).subject
    assert after is not None
    assert after.cooldown_until == NOW + HOUR


def test_without_a_subject_there_is_none_to_write() -> None:
    assert decided("enrichment", "unknown").subject is None


@pytest.mark.parametrize("policy", ["omega", "agent", "enrichment"])
def test_a_job_that_was_not_even_tried_fails_uncounted(policy: str) -> None:
    refused = Failure.from_exception(SubjectPermanentlyFailedError("story-1", "json_parse"))
    gone = a_subject(failure_count=3, status=SubjectStatus.PERMANENT_FAILURE)
    decision = decided(policy, "unknown", 1, failure=refused, subject=gone, origin=Origin.SUBJECT)
    assert told(decision) == (Action.GIVE_UP, Status.FAILED, None)
    assert (decision.is_counted, decision.retry_count, decision.subject) == (False, 1, None)


@pytest.mark.parametrize("policy", ["omega", "agent", "enrichment"])
def test_what_was_not_attempted_is_tried_again_in_a_minute_and_blames_nobody(policy: str) -> None:
    decision = decided(
        policy, "unknown", 1, subject=a_subject(failure_count=1), origin=Origin.NOT_ATTEMPTED
    )
    assert told(decision) == (Action.RETRY, Status.PENDING, MINUTE)
    assert (decision.is_counted, decision.retry_count, decision.subject) == (False, 1, None)


@pytest.mark.parametrize(("attempt", "minutes"), [(1, 1), (2, 2), (3, 4), (4, 8), (5, 16)])
@pytest.mark.parametrize("policy", ["omega", "agent", "enrichment"])
def test_what_was_not_attempted_waits_longer_each_time_and_is_free(
    policy: str, attempt: int, minutes: int
) -> None:
    free = {"attempt": attempt, "origin": Origin.NOT_ATTEMPTED}
    decision = situated(policy, retry_count=2, **free)
    assert told(decision) == (Action.RETRY, Status.PENDING, minutes * MINUTE)
    assert (decision.is_counted, decision.retry_count) == (False, 2)


@pytest.mark.parametrize("policy", ["omega", "agent", "enrichment"])
@pytest.mark.parametrize("retry_count", [0, 1, 2, 3, 5])
def test_what_was_not_attempted_six_times_counts_like_any_failure(
    policy: str, retry_count: int
) -> None:
    decision = situated(policy, retry_count=retry_count, attempt=6, origin=Origin.NOT_ATTEMPTED)
    assert decision == situated(policy, retry_count=retry_count, attempt=6)
    assert (decision.is_counted, decision.retry_count) == (True, retry_count + 1)


# What may have happened


@pytest.mark.parametrize(
    ("policy", "retry_count", "action"),
    [
        ("omega", 2, Action.GIVE_UP),
        ("enrichment", 2, Action.GIVE_UP),
        ("agent", 5, Action.MARK_AS_BLOCKED),
    ],
)
def test_at_the_end_of_its_policy_what_may_have_happened_is_asked_of_a_person(
    policy: str, retry_count: int, action: Action
) -> None:
    assert situated(policy, retry_count=retry_count).action is action
    asked = situated(policy, retry_count=retry_count, is_indeterminate=True)
    assert told(asked) == (Action.ASK_PERSON, Status.BLOCKED, None)


def test_what_may_have_happened_to_a_subject_that_was_given_up_is_asked_of_a_person() -> None:
    gone = a_subject(status=SubjectStatus.PERMANENT_FAILURE)
    assert situated("enrichment", subject=gone).action is Action.GIVE_UP
    asked = situated("enrichment", subject=gone, is_indeterminate=True)
    assert told(asked) == (Action.ASK_PERSON, Status.BLOCKED, None)


@pytest.mark.parametrize("policy", ["omega", "agent", "enrichment"])
def test_until_then_what_may_have_happened_is_found_out_by_trying_again(policy: str) -> None:
    assert situated(policy, is_indeterminate=True) == situated(policy)


def test_a_cool_down_is_never_shortened() -> None:
    cooling = a_subject(failure_count=1, cooldown_until=NOW + 12 * HOUR)
    short = Failure.create("slow down", retry_after=60)
    after = decided("enrichment", "rate_limit", failure=short, subject=cooling).subject
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
def test_each_rung_has_its_own_words(attempt: int, has_spec: bool, guidance: str) -> None:
    assert decided("agent", "code_error", attempt, has_spec=has_spec).guidance == guidance


@pytest.mark.parametrize(
    ("line", "words"), [(7, " It points to shop.py, line 7."), (None, " It points to shop.py.")]
)
def test_guidance_points_to_the_place(line: int | None, words: str) -> None:
    place = {"location": Location("shop.py", line)}
    assert decided("agent", "code_error", diagnosis=place).guidance == "Mend it." + words


@pytest.mark.parametrize("policy", ["omega", "enrichment"])
def test_a_policy_without_a_ladder_gives_no_guidance(policy: str) -> None:
    assert decided(policy, "unknown").guidance is None
