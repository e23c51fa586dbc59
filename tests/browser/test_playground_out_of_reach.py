"""The playground while nobody answers, and after the stack was started anew."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import Opener, Watch
from tests.browser.running import Running

SAID = "/remind in 10s stretch"
WEBHOOK = "**/webhooks/console"
CLOCK = "**/_local/clock"


@pytest.fixture(autouse=True)
def _unreached(watch: Watch) -> Iterator[None]:
    """The browser itself complains of what it could not reach."""
    yield
    watch.wrong[:] = [one for one in watch.wrong if "ERR_FAILED" not in one]


def say(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_role("button", name="Send").click()


def test_what_could_not_be_said_goes_back_to_where_it_was_typed(open_page: Opener) -> None:
    page = open_page()
    page.route(WEBHOOK, lambda route: route.abort())
    say(page, SAID)

    expect(page.get_by_role("alert")).to_contain_text("Not sent. Cannot reach the server.")
    expect(page.get_by_label("Message", exact=True)).to_have_value(SAID)
    expect(page.locator("#chat li.sent")).to_have_count(0)
    page.unroute(WEBHOOK)
    page.reload()
    expect(page.locator("#chat li.received")).to_have_count(1)
    expect(page.locator("#chat li.sent")).to_have_count(0)


def test_what_was_typed_meanwhile_stays(open_page: Opener) -> None:
    page = open_page()
    held: list[Route] = []
    page.route(WEBHOOK, lambda route: held.append(route))
    with page.expect_request(WEBHOOK):
        say(page, SAID)
    page.get_by_label("Message", exact=True).fill("/tasks")
    held[0].abort()

    expect(page.get_by_role("alert")).to_contain_text("Not sent.")
    expect(page.get_by_label("Message", exact=True)).to_have_value("/tasks")


def test_a_stack_that_begins_anew_begins_a_new_talk(stack: Running, open_page: Opener) -> None:
    page = open_page()
    say(page, SAID)
    expect(page.locator("[data-step=set]")).to_have_attribute("data-done", "true")
    stack.reset()

    expect(page.locator("#chat li.sent")).to_have_count(0)
    expect(page.locator("[data-step=set]")).to_have_attribute("data-done", "false")


def test_it_is_seen_too_by_whoever_was_on_another_page(stack: Running, open_page: Opener) -> None:
    page = open_page()
    say(page, SAID)
    expect(page.locator("[data-step=set]")).to_have_attribute("data-done", "true")
    page.goto(f"{stack.url}/#/now")
    expect(page.locator("main")).to_have_attribute("data-page", "now")
    stack.reset()
    page.goto(f"{stack.url}/#/playground")

    expect(page.locator("[data-step=set]")).to_have_attribute("data-done", "false")
    expect(page.locator("#chat li.sent")).to_have_count(0)


def test_a_talk_keeps_its_order_when_somebody_comes_back(stack: Running, open_page: Opener) -> None:
    page = open_page()
    talk = page.locator("#chat .play-log > li")
    for number, text in enumerate(("/help", "/tasks"), start=1):
        say(page, text)
        expect(talk).to_have_count(1 + 2 * number)
    told = talk.all_inner_texts()
    page.goto(f"{stack.url}/#/now")
    expect(page.locator("main")).to_have_attribute("data-page", "now")
    page.goto(f"{stack.url}/#/playground")

    expect(talk).to_have_text(told, use_inner_text=True)


def test_the_clock_stands_while_nobody_answers(open_page: Opener) -> None:
    page = open_page()
    clock = page.get_by_role("region", name="Clock")
    expect(clock).to_contain_text("Stack clock")
    page.route(CLOCK, lambda route: route.abort())
    expect(clock).to_contain_text("Disconnected")
    page.unroute(CLOCK)

    expect(clock).to_contain_text("Stack clock")
