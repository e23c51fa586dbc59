"""An adapted delay stays within the bounds of its policy, for any retry outcomes."""

from __future__ import annotations

from datetime import timedelta

from duecourse.domain.failures.adaptive_backoff import adapt_delay
from duecourse.domain.failures.policy import Category
from duecourse.domain.tasks.adapted_delay import RetryOutcomes, to_seconds
from hypothesis import given
from hypothesis import strategies as st

seconds = st.integers(0, 86_400)
delays = st.lists(seconds.map(lambda n: timedelta(seconds=n)), max_size=6).map(tuple)
counts = st.tuples(st.integers(0, 100), st.integers(0, 100)).map(
    lambda pair: RetryOutcomes(max(pair), min(pair))
)
retry_counts = st.integers(0, 10)


@st.composite
def evidence(draw: st.DrawFn) -> tuple[Category, dict[int, RetryOutcomes]]:
    category_delays = draw(delays)
    tried_seconds = st.one_of(seconds, *(st.just(to_seconds(delay)) for delay in category_delays))
    return Category(name="any", delays=category_delays), draw(
        st.dictionaries(tried_seconds, counts)
    )


@given(evidence=evidence(), retry_count=retry_counts)
def test_an_adapted_delay_is_another_delay_of_the_category(
    evidence: tuple[Category, dict[int, RetryOutcomes]], retry_count: int
) -> None:
    category, outcomes = evidence
    adapted = adapt_delay(category, retry_count, outcomes)
    if adapted is not None:
        assert adapted.policy_delay == category.delay(retry_count)
        assert adapted.delay in category.delays
        assert adapted.delay != adapted.policy_delay
        assert adapted.reason.endswith(".")


@given(evidence=evidence(), retry_count=retry_counts)
def test_the_order_of_the_outcomes_does_not_matter(
    evidence: tuple[Category, dict[int, RetryOutcomes]], retry_count: int
) -> None:
    category, outcomes = evidence
    reordered = dict(reversed(outcomes.items()))
    assert adapt_delay(category, retry_count, outcomes) == adapt_delay(
        category, retry_count, reordered
    )


@given(
    category=delays.map(lambda category_delays: Category(name="any", delays=category_delays)),
    n=retry_counts,
)
def test_too_few_outcomes_change_nothing(category: Category, n: int) -> None:
    too_few_outcomes = {to_seconds(delay): RetryOutcomes(19, 0) for delay in category.delays}
    assert adapt_delay(category, n, too_few_outcomes) is None
