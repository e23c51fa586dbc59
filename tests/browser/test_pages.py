"""Every page, on phone and desktop, in light and dark."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import DISPLAYS, PHONE, Display, OpenPage
from tests.browser.sample_tasks import create_sample_tasks
from tests.browser.stack_process import StackProcess

PAGES = {
    "playground": "Playground",
    "now": "Now",
    "tasks": "Tasks",
    "failures": "Failures",
    "lateness": "Lateness",
    "dead-letters": "Dead letters",
}


def expect_page(page: Page, name: str) -> None:
    expect(page.locator("main")).to_have_attribute("data-page", name)
    expect(page.locator("main h1").first).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), name


@pytest.mark.parametrize("display", DISPLAYS, ids=str)
def test_every_page_is_reachable_by_links(
    display: Display, stack: StackProcess, open_page: OpenPage
) -> None:
    create_sample_tasks(stack)
    page = open_page(display=display)
    for name, title in PAGES.items():
        page.get_by_role("navigation").get_by_role("link", name=title, exact=True).click()
        expect_page(page, name)
        expect(page.locator("main h1").first).to_have_text(title)


@pytest.mark.parametrize("display", DISPLAYS, ids=str)
def test_a_task_shows_its_runs_errors_guidance_and_history(
    display: Display, stack: StackProcess, open_page: OpenPage
) -> None:
    task = create_sample_tasks(stack)["blocked"]
    page = open_page(f"task/{task['id']}", display)
    expect_page(page, "task")

    main = page.locator("main")
    expect(main.locator("h1")).to_have_text("fix the build")
    for text in ("Blocked", "Attempt 4", "code_error", "src/app.ts:45", "mutating", "Escalate"):
        expect(main.get_by_text(text).first).to_be_visible()
    for heading in ("Runs", "Guidance", "History"):
        expect(main.get_by_role("heading", name=heading)).to_be_visible()


def test_an_empty_system_shows_what_to_do_next(open_page: OpenPage) -> None:
    for name, hint in {
        "now": "No upcoming tasks. Create one with /remind in chat",
        "tasks": "No tasks yet. Create one with POST /tasks",
        "failures": "No failures in this range. Choose a longer range to see older failures.",
        "lateness": "Lateness appears here after the first run.",
        "dead-letters": "No dead letters",
    }.items():
        page = open_page(name)
        expect_page(page, name)
        expect(page.locator("main").get_by_text(hint).first).to_be_visible()
        page.close()


def test_without_a_token_the_sign_in_page_opens(open_page: OpenPage) -> None:
    page = open_page(token=None)
    expect_page(page, "sign-in")
    page.get_by_label("Token").fill("local")
    page.get_by_role("button", name="Sign in").click()

    expect_page(page, "playground")
    assert "local" not in page.url


def test_the_token_is_removed_from_the_url(open_page: OpenPage) -> None:
    page = open_page()
    expect_page(page, "playground")

    assert "token" not in page.url


def test_pages_can_be_used_by_keyboard(stack: StackProcess, open_page: OpenPage) -> None:
    create_sample_tasks(stack)
    page = open_page("now")
    page.reload()
    expect_page(page, "now")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to")).to_be_focused()
    page.keyboard.press("g")
    page.keyboard.press("t")
    expect_page(page, "tasks")
    page.keyboard.press("/")
    page.keyboard.type("invoice page")
    rows = page.locator("main").get_by_role("link", name="write the invoice page")
    expect(rows.first).to_be_visible()
    expect(page.locator("main").get_by_role("link", name="water the plants")).to_have_count(0)


def test_the_shortcuts_are_listed(open_page: OpenPage) -> None:
    page = open_page("now")
    expect_page(page, "now")
    page.get_by_role("button", name="Shortcuts").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text(re.compile("g d.*Dead letters"))
    dialog.get_by_role("button", name="Close").click()
    expect(dialog).to_have_count(0)
    page.keyboard.press("?")

    expect(dialog).to_contain_text("Search tasks (on the Tasks page)")


def test_a_checkbox_is_large_enough_for_touch(stack: StackProcess, open_page: OpenPage) -> None:
    stack.create(description="stretch", **{"in": "2h"})
    page = open_page("tasks", Display(PHONE))
    box = page.locator("td.select label").bounding_box()
    assert box is not None
    assert min(box["width"], box["height"]) >= 40
    page.mouse.click(box["x"] + 3, box["y"] + 3)

    expect(page.get_by_text("1 selected")).to_be_visible()
