"""A short form of `make bench-page`. Only that command checks times, because machines differ."""

from __future__ import annotations

from playwright.sync_api import Browser

from tests.browser.load import measure_page


def test_the_now_page_stays_usable_with_5000_tasks_and_500_events_a_second(
    browser: Browser,
) -> None:
    result = measure_page(browser, tasks=5_000, rate=500, seconds=20)

    assert result.lasting_problems == []
    assert result.received >= 1_000
    assert result.first_paint < 10_000
