"""A short form of `make bench-page`, which alone judges times: machines differ."""

from __future__ import annotations

from playwright.sync_api import Browser

from tests.browser.load import measured


def test_the_now_page_stays_usable_with_5000_tasks_and_500_events_a_second(
    browser: Browser,
) -> None:
    seen = measured(browser, tasks=5_000, rate=500, seconds=20)

    assert seen.lasting_problems == []
    assert seen.heard >= 1_000
    assert seen.first_paint < 10_000
