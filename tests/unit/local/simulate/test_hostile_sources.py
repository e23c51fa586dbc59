from __future__ import annotations

from itertools import pairwise

from local.simulate.hostile_sources import MAX_LATE_SECONDS, USUAL_LATE_SECONDS, delay_seconds


def test_most_messages_are_minutes_late_and_few_are_days_late() -> None:
    delays = [delay_seconds(n / 1000) for n in range(1000)]

    assert all(earlier <= later for earlier, later in pairwise(delays))
    assert delays[899] < USUAL_LATE_SECONDS
    assert 86_400 < delays[-1] < MAX_LATE_SECONDS
