"""A tab that is opened beside another need not ask for the token again; one that was left does."""

from __future__ import annotations

from playwright.sync_api import Page, expect

from tests.browser.conftest import Opener
from tests.browser.running import Running


def beside(page: Page) -> Page:
    """Nothing of the first tab's own is handed on, as by Ctrl and a click."""
    tab = page.context.new_page()
    tab.goto(page.url)
    return tab


def test_a_task_opened_in_another_tab_is_shown_there(stack: Running, open_page: Opener) -> None:
    task = stack.create(description="stretch", **{"in": "2h"})
    page = open_page("tasks")
    with page.context.expect_page() as opened:
        page.get_by_role("link", name="stretch").click(modifiers=["ControlOrMeta"])

    expect(opened.value.locator("main h1")).to_have_text("stretch")
    assert opened.value.url.endswith(f"#/task/{task['id']}")


def test_who_signed_out_is_asked_again(open_page: Opener) -> None:
    page = open_page("now")
    other = beside(page)
    expect(other.locator("main h1")).to_have_text("Now")
    other.get_by_role("button", name="Sign out").click()
    expect(other.get_by_label("Token")).to_be_focused()
    other.reload()
    expect(other.get_by_label("Token")).to_be_focused()
    expect(page.locator("main h1")).to_have_text("Now")
    assert page.evaluate("sessionStorage.getItem('duecourse.token')") == "local"


def test_whoever_has_none_gives_none(open_page: Opener) -> None:
    page = open_page(token=None)
    expect(page.get_by_label("Token")).to_be_focused()
    other = beside(page)

    expect(other.get_by_label("Token")).to_be_focused()


def test_after_signing_in_one_goes_on_from_the_heading(open_page: Opener) -> None:
    page = open_page(token=None)
    page.get_by_label("Token").fill("local")
    page.keyboard.press("Enter")

    expect(page.locator("main h1")).to_be_focused()
