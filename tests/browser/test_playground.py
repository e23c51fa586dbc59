"""The playground: chat, board, clock, and tasks that fail on purpose."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DISPLAYS, PHONE, Display, OpenPage
from tests.browser.stack_process import StackProcess


@pytest.mark.parametrize("display", DISPLAYS, ids=str)
def test_a_reminder_is_created_and_delivered(display: Display, open_page: OpenPage) -> None:
    page = open_page(display=display)
    chat = page.locator("#chat")
    page.get_by_label("Message", exact=True).fill("/remind in 10s stretch")
    page.get_by_role("button", name="Send").click()
    expect(page.locator("[data-step=set]")).to_have_attribute("data-done", "true")
    page.get_by_role("button", name="Advance the clock by 1 min").click()

    expect(chat).to_contain_text("Reminder: stretch")
    expect(chat.get_by_role("button", name="Done").last).to_be_visible()
    expect(page.locator("[data-step=arrived]")).to_have_attribute("data-done", "true")


EXPLANATIONS = {
    "transient": "two transient errors",
    "blocked": "a permission",
    "review": "reviewed",
}


def create_failing_task(page: Page, kind: str) -> None:
    page.locator(f"[data-fail={kind}]").click()
    # A task that is created after the clock advances is not due yet.
    expect(page.locator("#make-fail")).to_contain_text(EXPLANATIONS[kind])


def test_a_transient_failure_is_retried_and_recovers(
    stack: StackProcess, open_page: OpenPage
) -> None:
    page = open_page()
    create_failing_task(page, "transient")
    stack.advance("2s")
    expect(page.locator("#retries")).to_contain_text("fetch the weather report")
    expect(page.locator("#retries")).to_contain_text(re.compile(r"in \d+ s"))
    page.get_by_role("button", name="Advance the clock by 1 h").click()

    expect(page.locator("#retries")).not_to_contain_text("fetch the weather report")
    expect(page.locator("[data-step=recovered]")).to_have_attribute("data-done", "true")
    expect(page.locator("[data-step=set]")).to_have_attribute("data-done", "false")
    [task] = stack.call("GET", "/tasks")["items"]
    assert (task["status"], task["retry_count"]) == ("completed", 2)


def test_a_spec_review_is_shown(stack: StackProcess, open_page: OpenPage) -> None:
    page = open_page()
    create_failing_task(page, "review")
    expect(page.locator("#make-fail")).to_contain_text("will fail in a moment")
    page.get_by_role("button", name="Advance the clock by 1 h").click()
    expect(page.locator("#chat")).to_contain_text("Done on attempt 4")

    review, task = stack.call("GET", "/tasks")["items"]
    assert "-SPEC-REVIEW: " in review["description"]
    assert (review["status"], task["status"]) == ("completed", "completed")


def test_a_chat_button_sends_its_command(stack: StackProcess, open_page: OpenPage) -> None:
    page = open_page()
    stack.say("/remind in 10s stretch")
    stack.advance("11s")
    page.locator("#chat").get_by_role("button", name="Snooze 20 min").last.click()

    expect(page.locator("#due-soon")).to_contain_text("stretch")


@pytest.mark.parametrize("section", ["#walkthrough", "#make-fail"])
def test_a_failing_task_is_visible_without_scrolling(
    section: str, stack: StackProcess, open_page: OpenPage
) -> None:
    page = open_page()
    page.locator(section).get_by_role("button", name="fail").first.click()
    expect(page.locator("#make-fail")).to_contain_text("will fail in a moment")
    stack.advance("2s")

    expect(page.locator("#retries [data-task]")).to_be_in_viewport(ratio=1)
    expect(page.locator("#needs-person")).to_be_in_viewport(ratio=1)
    expect(page.locator(".toast")).to_have_count(0)
    assert page.evaluate("window.scrollY") == 0


def test_all_failing_tasks_are_visible_without_scrolling(
    stack: StackProcess, open_page: OpenPage
) -> None:
    page = open_page()
    lists = ("transient", "#retries", 1), ("blocked", "#needs-person", 1), ("review", "#retries", 2)
    for kind, target, count in lists:
        create_failing_task(page, kind)
        stack.advance("2s")
        expect(page.locator(f"{target} [data-task]")).to_have_count(count)

    for row in page.locator("#retries [data-task], #needs-person [data-task]").all():
        expect(row).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_a_phone_the_chat_is_on_the_first_screen(scheme: str, open_page: OpenPage) -> None:
    page = open_page(display=Display(PHONE, scheme))
    expect(page.locator("#walkthrough")).to_be_visible()

    expect(page.get_by_label("Message", exact=True)).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("button", name="Send")).to_be_in_viewport(ratio=1)


def test_on_a_phone_each_step_opens_its_pane(stack: StackProcess, open_page: OpenPage) -> None:
    page = open_page(display=Display(PHONE))
    page.get_by_role("button", name="Board").click()
    page.get_by_role("button", name="Try it").click()
    expect(page.locator("#chat li.sent")).to_be_visible()
    # A reminder that is created after the advance would not be due yet.
    expect(page.locator("[data-step=set]")).to_have_attribute("data-done", "true")
    page.get_by_role("button", name="Advance the clock by 1 min").click()
    page.locator("#walkthrough").get_by_role("button", name="Make it fail").click()
    expect(page.locator("#make-fail")).to_contain_text("will fail in a moment")
    stack.advance("2s")

    expect(page.locator("#retries [data-task]")).to_be_visible()
    expect(page.locator("#chat")).to_be_hidden()


def test_a_missing_permission_asks_a_person_at_once(
    stack: StackProcess, open_page: OpenPage
) -> None:
    page = open_page()
    create_failing_task(page, "blocked")
    expect(page.locator("#make-fail")).to_contain_text("it lacks a permission")
    stack.advance("2s")

    expect(page.locator("#needs-person")).to_contain_text("publish the newsletter")
    expect(page.locator("#retries")).not_to_contain_text("publish the newsletter")


def test_times_are_in_utc_in_any_browser_time_zone(
    stack: StackProcess, open_page: OpenPage
) -> None:
    page = open_page()
    zone = {"timezoneId": "America/New_York"}
    page.context.new_cdp_session(page).send("Emulation.setTimezoneOverride", zone)
    page.reload()
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    stack.say("/remind in 10s stretch")
    at = stack.call("GET", "/_local/clock")["now"]

    expected = f"{at[11:19]} UTC"
    expect(page.locator("#chat .play-timestamp").last).to_have_text(expected)
    expect(page.locator("#events .feed-time").last).to_have_text(expected)
    stack.advance("1d")
    expect(page.locator("#chat .play-timestamp").first).to_have_text(
        re.compile(rf"{at[11:16]} UTC")
    )
