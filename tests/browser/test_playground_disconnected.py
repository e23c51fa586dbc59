"""The playground while the server is unreachable, and after a reset."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import OpenPage, PageMonitor
from tests.browser.stack_process import StackProcess

REMIND_COMMAND = "/remind in 10s stretch"
WEBHOOK_ROUTE = "**/webhooks/console"
CLOCK_ROUTE = "**/_local/clock"


@pytest.fixture(autouse=True)
def _ignore_failed_requests(page_monitor: PageMonitor) -> Iterator[None]:
    """Ignore the browser's own messages about failed requests."""
    yield
    page_monitor.violations[:] = [
        violation for violation in page_monitor.violations if "ERR_FAILED" not in violation
    ]


def send_message(page: Page, text: str) -> None:
    page.get_by_label("Message", exact=True).fill(text)
    page.get_by_role("button", name="Send").click()


def test_a_message_that_was_not_sent_returns_to_the_input(open_page: OpenPage) -> None:
    page = open_page()
    page.route(WEBHOOK_ROUTE, lambda route: route.abort())
    send_message(page, REMIND_COMMAND)

    expect(page.get_by_role("alert")).to_contain_text("Not sent. Cannot reach the server.")
    expect(page.get_by_label("Message", exact=True)).to_have_value(REMIND_COMMAND)
    expect(page.locator("#chat li.sent")).to_have_count(0)
    page.unroute(WEBHOOK_ROUTE)
    page.reload()
    expect(page.locator("#chat li.received")).to_have_count(1)
    expect(page.locator("#chat li.sent")).to_have_count(0)


def test_text_typed_meanwhile_is_not_overwritten(open_page: OpenPage) -> None:
    page = open_page()
    held_routes: list[Route] = []
    page.route(WEBHOOK_ROUTE, lambda route: held_routes.append(route))
    with page.expect_request(WEBHOOK_ROUTE):
        send_message(page, REMIND_COMMAND)
    page.get_by_label("Message", exact=True).fill("/tasks")
    held_routes[0].abort()

    expect(page.get_by_role("alert")).to_contain_text("Not sent.")
    expect(page.get_by_label("Message", exact=True)).to_have_value("/tasks")


def test_a_reset_clears_the_chat(stack: StackProcess, open_page: OpenPage) -> None:
    page = open_page()
    send_message(page, REMIND_COMMAND)
    expect(page.locator("[data-step=set]")).to_have_attribute("data-done", "true")
    stack.reset()

    expect(page.locator("#chat li.sent")).to_have_count(0)
    expect(page.locator("[data-step=set]")).to_have_attribute("data-done", "false")


def test_a_reset_clears_the_chat_while_on_another_page(
    stack: StackProcess, open_page: OpenPage
) -> None:
    page = open_page()
    send_message(page, REMIND_COMMAND)
    expect(page.locator("[data-step=set]")).to_have_attribute("data-done", "true")
    page.goto(f"{stack.url}/#/now")
    expect(page.locator("main")).to_have_attribute("data-page", "now")
    stack.reset()
    page.goto(f"{stack.url}/#/playground")

    expect(page.locator("[data-step=set]")).to_have_attribute("data-done", "false")
    expect(page.locator("#chat li.sent")).to_have_count(0)


def test_the_chat_keeps_its_order_after_navigation(
    stack: StackProcess, open_page: OpenPage
) -> None:
    page = open_page()
    messages = page.locator("#chat .play-log > li")
    for number, text in enumerate(("/help", "/tasks"), start=1):
        send_message(page, text)
        expect(messages).to_have_count(1 + 2 * number)
    texts = messages.all_inner_texts()
    page.goto(f"{stack.url}/#/now")
    expect(page.locator("main")).to_have_attribute("data-page", "now")
    page.goto(f"{stack.url}/#/playground")

    expect(messages).to_have_text(texts, use_inner_text=True)


def test_the_clock_shows_disconnected_while_the_server_is_unreachable(open_page: OpenPage) -> None:
    page = open_page()
    clock = page.get_by_role("region", name="Clock")
    expect(clock).to_contain_text("Stack clock")
    page.route(CLOCK_ROUTE, lambda route: route.abort())
    expect(clock).to_contain_text("Disconnected")
    page.unroute(CLOCK_ROUTE)

    expect(clock).to_contain_text("Stack clock")
