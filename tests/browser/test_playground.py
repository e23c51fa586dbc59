"""The first thing that a newcomer sees, told as they live it."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import LOOKS, Look, Opener
from tests.browser.running import Running


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_a_reminder_is_set_waits_and_arrives(look: Look, open_page: Opener) -> None:
    page = open_page(look=look)
    chat = page.locator("#chat")
    page.get_by_label("Message", exact=True).fill("/remind in 10s stretch")
    page.get_by_role("button", name="Send").click()
    expect(chat.locator("li.theirs").last).to_contain_text("stretch")
    page.get_by_role("button", name="Move the clock by 1 min").click()

    expect(chat).to_contain_text("Reminder: stretch")
    expect(chat.get_by_role("button", name="Done").last).to_be_visible()


def test_something_fails_on_purpose_and_recovers(stack: Running, open_page: Opener) -> None:
    page = open_page()
    page.locator("[data-fail=transient]").click()
    stack.advance("2s")
    expect(page.locator("#retries")).to_contain_text("fetch the weather report")
    expect(page.locator("#retries")).to_contain_text(re.compile(r"in \d+ s"))
    page.get_by_role("button", name="Move the clock by 1 h").click()

    expect(page.locator("#retries")).not_to_contain_text("fetch the weather report")
    [task] = stack.call("GET", "/tasks")["items"]
    assert (task["status"], task["retry_count"]) == ("completed", 2)


def test_a_specification_is_reviewed_on_the_way(stack: Running, open_page: Opener) -> None:
    page = open_page()
    page.locator("[data-fail=review]").click()
    expect(page.get_by_text("will fail in a moment")).to_be_visible()
    page.get_by_role("button", name="Move the clock by 1 h").click()
    expect(page.locator("#chat")).to_contain_text("SPEC-REVIEW")

    statuses = {task["status"] for task in stack.call("GET", "/tasks")["items"]}
    assert statuses == {"completed"}


def test_a_button_under_a_message_says_its_command(stack: Running, open_page: Opener) -> None:
    page = open_page()
    stack.say("/remind in 10s stretch")
    stack.advance("11s")
    page.locator("#chat").get_by_role("button", name="Snooze 20 min").last.click()

    expect(page.locator("#due-soon")).to_contain_text("stretch")
