"""What `make bench-waste` counts, on hand-made causes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from random import Random

import pytest
from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.failures.failure import Failure
from duecourse.domain.tasks.failure_kind import ClearsBy, Kind

from bench.fault_model import DAY, FAULTS, HORIZON, Cause, draw_cause
from bench.simple_patterns import classify_by_code, classify_by_words, retry_by_code, retry_by_words
from bench.waste import draw_incidents, read_mix
from bench.waste_report import measure
from bench.waste_simulation import Incident, Outcome, find_best_outcome, simulate
from bench.waste_strategies import PolicyStrategy, list_strategies, retry_every

START = datetime(2026, 3, 2, 12, tzinfo=UTC)
SECOND, MINUTE, HOUR = timedelta(seconds=1), timedelta(minutes=1), timedelta(hours=1)
REFUSED = Failure.create("connect ECONNREFUSED 10.0.0.5:443", code="ECONNREFUSED")
BAD_KEY = Failure.create("Incorrect API key provided", status=401)
TOO_MANY = Failure.create("Too Many Requests", status=429)


def waiting(ends_after: timedelta) -> Cause:
    return Cause(clears_by=ClearsBy.WAITING, person_after=HOUR, ends_after=ends_after)


def by_person(ends_after: timedelta | None = None) -> Cause:
    return Cause(
        clears_by=ClearsBy.PERSON, person_after=HOUR, person_clears=True, ends_after=ends_after
    )


NEVER = Cause(clears_by=ClearsBy.NEVER, person_after=HOUR)
BY_CHANCE = Cause(clears_by=ClearsBy.WAITING, person_after=HOUR, failing_retries=1)
FIXED = retry_every(2 * MINUTE, retries=3)


def incident(cause: Cause, failure: Failure = REFUSED) -> Incident:
    return Incident("i", failure, START, cause)


def policy(name: str) -> PolicyStrategy:
    return PolicyStrategy(read_policies()[name])


def _rng() -> Random:
    return Random(1)  # noqa: S311 - the same causes every time


def retry_times(strategy: PolicyStrategy, one: Incident) -> list[timedelta]:
    return [step.at for step in strategy(one) if not step.asks_person]


def test_every_kind_has_a_fault_whose_shares_add_up() -> None:
    assert set(FAULTS) == set(Kind)
    for kind, fault in FAULTS.items():
        ends_alone = fault.flaky + sum(share for share, _ in fault.waits)
        assert ends_alone <= 1 + 1e-9, kind
        is_complete = ends_alone > 1 - 1e-9
        assert is_complete or fault.rest is not ClearsBy.WAITING, kind


@pytest.mark.parametrize("kind", Kind)
def test_a_cause_lasts_no_longer_than_the_simulation(kind: Kind) -> None:
    rng = _rng()
    causes = [draw_cause(kind, rng, failed_at=START) for _ in range(300)]
    assert all(cause.ends_after is None or cause.ends_after <= HORIZON for cause in causes)
    assert all(cause.person_after <= DAY for cause in causes)
    assert {cause.can_end for cause in causes} == {FAULTS[kind].rest is not ClearsBy.NEVER}


def test_a_budget_clears_at_midnight() -> None:
    cause = draw_cause(Kind.BUDGET, _rng(), failed_at=START)
    assert cause.ends_after == 12 * HOUR


def test_a_wait_that_the_text_names_is_how_long_the_cause_lasts() -> None:
    cause = draw_cause(Kind.RATE_LIMIT, _rng(), failed_at=START, announced=9 * SECOND)
    assert (cause.ends_after, cause.retry_after) == (9 * SECOND, 9 * SECOND)


def test_each_retry_before_the_cause_is_over_is_wasted() -> None:
    outcome = simulate(FIXED, incident(waiting(5 * MINUTE)))
    assert outcome == Outcome(wasted=2, recovered_after=6 * MINUTE)


def test_a_strategy_without_retries_left_has_given_up() -> None:
    assert simulate(FIXED, incident(waiting(7 * MINUTE))) == Outcome(wasted=3)
    assert simulate(FIXED, incident(NEVER)) == Outcome(wasted=3)


def test_what_fails_by_chance_depends_on_the_number_of_the_retry_alone() -> None:
    for delay in (SECOND, HOUR):
        outcome = simulate(retry_every(delay, retries=3), incident(BY_CHANCE))
        assert outcome == Outcome(wasted=1, recovered_after=2 * delay)


def test_what_needs_a_person_may_be_cleared_without_asking() -> None:
    assert simulate(FIXED, incident(by_person())) == Outcome(wasted=3)
    outcome = simulate(FIXED, incident(by_person(ends_after=3 * MINUTE)))
    assert outcome == Outcome(wasted=1, recovered_after=4 * MINUTE)


def test_a_person_who_is_asked_clears_the_cause_and_retries() -> None:
    outcome = simulate(policy("standard"), incident(by_person(), BAD_KEY))
    assert outcome == Outcome(has_asked=True, recovered_after=HOUR)


def test_a_person_who_cannot_clear_the_cause_retries_once() -> None:
    asked_at = 7.5 * MINUTE  # after retries at 30 s, 2.5 and 7.5 min
    is_over, lasts = waiting(asked_at + HOUR), waiting(asked_at + HOUR + SECOND)
    assert simulate(retry_by_words, incident(is_over)) == Outcome(3, True, asked_at + HOUR)
    assert simulate(retry_by_words, incident(lasts)) == Outcome(4, has_asked=True)


def test_a_person_cancels_what_never_succeeds() -> None:
    assert simulate(retry_by_words, incident(NEVER)) == Outcome(3, has_asked=True)


def test_the_oracle_takes_the_earliest_way() -> None:
    best = {
        waiting(5 * MINUTE): Outcome(recovered_after=5 * MINUTE),
        by_person(): Outcome(has_asked=True, recovered_after=HOUR),
        by_person(ends_after=MINUTE): Outcome(recovered_after=MINUTE),
        by_person(ends_after=2 * HOUR): Outcome(has_asked=True, recovered_after=HOUR),
        BY_CHANCE: Outcome(recovered_after=timedelta()),
        NEVER: Outcome(),
    }
    assert {cause: find_best_outcome(incident(cause)) for cause in best} == best


def test_no_strategy_is_faster_than_the_oracle() -> None:
    incidents = draw_incidents(read_mix("provider"), 200, seed=3)
    for name, strategy in list_strategies(read_policies()).items():
        for one in incidents:
            took, best = simulate(strategy, one), find_best_outcome(one)
            assert best.wasted == 0
            assert one.cause.can_end == (best.recovered_after is not None)
            if took.recovered_after is not None:
                assert best.recovered_after is not None
                assert took.recovered_after >= best.recovered_after, (name, one.id)


def test_words_are_found_anywhere_in_the_text() -> None:
    assert classify_by_words("Network timeout: ETIMEDOUT") == "transient"
    assert classify_by_words("a.ts(45,12): error TS2304: Cannot find name 'x'") == "code_error"
    assert classify_by_words("Test failed: expect(received).toEqual(it)") == "test_failure"
    assert classify_by_words("branch timeout-429: 3 files changed") == "transient"
    assert classify_by_words("segmentation fault") == "unknown"


def test_codes_and_phrases_end_what_is_final() -> None:
    refused = Failure.create("it violates our content policy")
    assert classify_by_code(refused) == "content_policy"
    assert simulate(retry_by_code, incident(NEVER, refused)) == Outcome()
    assert classify_by_code(TOO_MANY) == "rate_limit"
    assert (
        simulate(retry_by_code, incident(waiting(30 * HOUR), TOO_MANY)).recovered_after == 2 * DAY
    )
    spent = Failure.create("daily budget exceeded")
    assert simulate(retry_by_code, incident(waiting(6 * DAY), spent)) == Outcome(5, False, 6 * DAY)


def test_a_policy_retries_with_its_own_delays_and_jitter() -> None:
    at = timedelta()
    times = retry_times(policy("agent"), incident(NEVER))
    for time, delay in zip(times, (30 * SECOND, 2 * MINUTE, 5 * MINUTE), strict=True):
        assert delay <= time - at <= 1.1 * delay
        at = time


def test_a_policy_sees_the_retry_after_that_the_server_sends() -> None:
    limited = [row for row in read_mix("provider") if row["kind"] == Kind.RATE_LIMIT]
    hinted = [
        one for one in draw_incidents(limited, 40, seed=1) if one.cause.retry_after is not None
    ]
    assert hinted
    for one in hinted:
        assert one.failure.retry_after == one.cause.retry_after == one.cause.ends_after
        assert all(simulate(policy(name), one).wasted == 0 for name in ("agent", "standard"))


def test_a_deadline_counts_from_the_first_failure() -> None:
    shipped = read_policies()["agent"]
    category = replace(shipped.categories["transient"], deadline=6 * MINUTE)
    strict = replace(shipped, categories={**shipped.categories, "transient": category})
    times = retry_times(PolicyStrategy(strict), incident(NEVER))
    assert len(times) == 2  # after 30 s and 2 min; 5 min more are too late


def test_the_same_seed_draws_the_same_failures() -> None:
    rows = read_mix("provider")
    first, again, other = (draw_incidents(rows, 300, seed=seed) for seed in (1, 1, 2))
    is_same, is_other = first == again, first != other  # held-out messages must not be printed
    assert (is_same, is_other) == (True, True)


def test_each_message_is_drawn_equally_often() -> None:
    rows = read_mix("agent")
    drawn = draw_incidents(rows, 2 * len(rows), seed=1)
    texts = [one.failure.message for one in drawn]
    is_even = sorted(texts[: len(rows)]) == sorted(texts[len(rows) :])
    assert is_even


def test_the_figures_are_per_thousand_failures_and_of_those_that_can_end() -> None:
    causes = [waiting(MINUTE), waiting(3 * MINUTE), waiting(HOUR), NEVER]
    incidents = [incident(cause) for cause in causes]
    figures = measure("fixed", incidents, partial(simulate, FIXED))
    assert (figures.wasted, figures.people_asked) == (1_750, 0)
    assert figures.recovered == pytest.approx(2 / 3)
    assert (figures.mean, figures.median) == (180, 180)
    assert figures.delay_mean == 60
