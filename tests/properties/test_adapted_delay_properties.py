"""Whatever was tried, and however often: a delay stays within its policy's bounds."""

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
    found = draw(delays)
    tried = st.one_of(seconds, *(st.just(to_seconds(delay)) for delay in found))
    return Category(name="any", delays=found), draw(st.dictionaries(tried, counts))


@given(evidence=evidence(), retry_count=retry_counts)
def test_what_is_taken_is_another_of_the_categorys_own_delays(
    evidence: tuple[Category, dict[int, RetryOutcomes]], retry_count: int
) -> None:
    category, tries = evidence
    found = adapt_delay(category, retry_count, tries)
    if found is not None:
        assert found.policy_delay == category.delay(retry_count)
        assert found.delay in category.delays
        assert found.delay != found.policy_delay
        assert found.reason.endswith(".")


@given(evidence=evidence(), retry_count=retry_counts)
def test_the_same_evidence_leads_to_the_same_delay(
    evidence: tuple[Category, dict[int, RetryOutcomes]], retry_count: int
) -> None:
    category, tries = evidence
    again = dict(reversed(tries.items()))
    assert adapt_delay(category, retry_count, tries) == adapt_delay(category, retry_count, again)


@given(category=delays.map(lambda found: Category(name="any", delays=found)), n=retry_counts)
def test_less_than_enough_changes_nothing(category: Category, n: int) -> None:
    little = {to_seconds(delay): RetryOutcomes(19, 0) for delay in category.delays}
    assert adapt_delay(category, n, little) is None
