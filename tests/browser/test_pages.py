"""Every page, as people look at it: on a phone and on a desk, by day and by night."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import LOOKS, PHONE, Look, Opener
from tests.browser.running import Running
from tests.browser.scenes import a_busy_day

PAGES = {
    "playground": "Playground",
    "now": "Now",
    "tasks": "Tasks",
    "failures": "Failures",
    "lateness": "Lateness",
    "dead-letters": "Dead letters",
}


def shown(page: Page, name: str) -> None:
    expect(page.locator("main")).to_have_attribute("data-page", name)
    expect(page.locator("main h1").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_every_page_can_be_walked_to_by_its_links(
    look: Look, stack: Running, open_page: Opener
) -> None:
    a_busy_day(stack)
    page = open_page(look=look)
    for name, title in PAGES.items():
        page.get_by_role("navigation").get_by_role("link", name=title, exact=True).click()
        shown(page, name)
        expect(page.locator("main h1").first).to_have_text(title)


@pytest.mark.parametrize("look", LOOKS, ids=str)
def test_a_task_shows_its_runs_errors_guidance_and_history(
    look: Look, stack: Running, open_page: Opener
) -> None:
    task = a_busy_day(stack)["blocked"]
    page = open_page(f"task/{task['id']}", look)
    shown(page, "task")

    main = page.locator("main")
    expect(main.locator("h1")).to_have_text("fix the build")
    for told in ("Blocked", "Attempt 4", "code_error", "src/app.ts:45", "mutating", "Escalate"):
        expect(main.get_by_text(told).first).to_be_visible()
    for part in ("Runs", "Guidance", "History"):
        expect(main.get_by_role("heading", name=part)).to_be_visible()


def test_an_empty_system_says_what_to_do_next(open_page: Opener) -> None:
    for name, hint in {
        "now": "No upcoming tasks. Create one with /remind in chat",
        "tasks": "No tasks yet. Create one with POST /tasks",
        "failures": "No failures in this range. Choose a longer range to see older failures.",
        "lateness": "Lateness appears here after the first run.",
        "dead-letters": "No dead letters",
    }.items():
        page = open_page(name)
        shown(page, name)
        expect(page.locator("main").get_by_text(hint).first).to_be_visible()
        page.close()


def test_without_a_token_one_is_asked_for_one(open_page: Opener) -> None:
    page = open_page(token=None)
    shown(page, "sign-in")
    page.get_by_label("Token").fill("local")
    page.get_by_role("button", name="Sign in").click()

    shown(page, "playground")
    assert "local" not in page.url


def test_the_token_of_the_address_does_not_stay_in_it(open_page: Opener) -> None:
    page = open_page()
    shown(page, "playground")

    assert "token" not in page.url


def test_the_keyboard_is_enough(stack: Running, open_page: Opener) -> None:
    a_busy_day(stack)
    page = open_page("now")
    page.reload()
    shown(page, "now")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to")).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("t")
    shown(page, "tasks")
    page.keyboard.press("/")
    page.keyboard.type("invoice page")
    rows = page.locator("main").get_by_role("link", name="write the invoice page")
    expect(rows.first).to_be_visible()
    expect(page.locator("main").get_by_role("link", name="water the plants")).to_have_count(0)


def test_the_keys_are_told(open_page: Opener) -> None:
    page = open_page("now")
    shown(page, "now")
    page.get_by_role("button", name="Shortcuts").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(re.compile("g d.*Dead letters"))
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    page.keyboard.press("?")

    expect(dialog).to_contain_text("Search tasks (on the Tasks page)")


def test_a_box_is_large_enough_for_a_finger(stack: Running, open_page: Opener) -> None:
    stack.create(description="stretch", **{"in": "2h"})
    page = open_page("tasks", Look(PHONE))
    around = page.locator("td.select label").bounding_box()
    assert around is not None
    assert min(around["width"], around["height"]) >= 40
    page.mouse.click(around["x"] + 3, around["y"] + 3)

    expect(page.get_by_text("1 selected")).to_be_visible()
