"""A new tab takes over the token of another; a signed-out tab asks for it again."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.stack_process import StackProcess


def open_second_tab(page: Page) -> Page:
    """Open the same URL in a new tab without its session storage, as Ctrl+click does."""
    tab = page.context.new_page()
    tab.goto(page.url)
    return tab


def test_a_task_opens_in_a_new_tab(stack: StackProcess, open_page: OpenPage) -> None:
    task = stack.create(description="stretch", **{"in": "2h"})
    page = open_page("tasks")
    with page.context.expect_page() as new_tab:
        page.get_by_role("link", name="stretch").click(modifiers=["ControlOrMeta"])

    expect(new_tab.value.locator("main h1")).to_have_text("stretch")
    assert new_tab.value.url.endswith(f"#/task/{task['id']}")


def test_a_signed_out_tab_asks_for_the_token(open_page: OpenPage) -> None:
    page = open_page("now")
    other = open_second_tab(page)
    expect(other.locator("main h1")).to_have_text("Now")
    other.get_by_role("button", name="Sign out").click()
    expect(other.get_by_label("Token")).to_be_focused()
    other.reload()
    expect(other.get_by_label("Token")).to_be_focused()
    expect(page.locator("main h1")).to_have_text("Now")
    assert page.evaluate("sessionStorage.getItem('duecourse.token')") == "local"


def test_a_tab_without_a_token_hands_none_on(open_page: OpenPage) -> None:
    page = open_page(token=None)
    expect(page.get_by_label("Token")).to_be_focused()
    other = open_second_tab(page)

    expect(other.get_by_label("Token")).to_be_focused()


def test_signing_in_focuses_the_heading(open_page: OpenPage) -> None:
    page = open_page(token=None)
    page.get_by_label("Token").fill("local")
    page.keyboard.press("Enter")

    expect(page.locator("main h1")).to_be_focused()
