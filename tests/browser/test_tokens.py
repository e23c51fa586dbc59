"""A link does not replace the token in use unasked, and a token sees only actions it may take."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from tests.browser.conftest import OpenPage
from tests.browser.sample_tasks import CONNECTION_REFUSED, UNKNOWN_ERROR, create_action
from tests.browser.stack_process import StackProcess

KEY = "sessionStorage.getItem('duecourse.token')"
# What changes something, by its label. Everything else on the pages only reads.
ACTIONS = re.compile(
    r"^(Run|Pause|Resume|Retry|Unblock|Approve|Reject|Resolve|Reclassify|Cancel|Redrive|Drop|Forget"
    r"|Reset subject|Make something fail)"
)


def follow_link(page: Page, token: str) -> None:
    page.evaluate(f"location.hash = 'token={token}'")


def test_a_link_asks_before_it_replaces_the_token_in_use(open_page: OpenPage) -> None:
    page = open_page("lateness")
    expect(page.locator("main h1")).to_have_text("Lateness")
    follow_link(page, "local-write")
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Use the token of this link?")
    assert "local-write" not in page.url
    assert page.evaluate(KEY) == "local"
    dialog.get_by_role("button", name="Back").click()

    expect(dialog).to_have_count(0)
    assert page.evaluate(KEY) == "local"
    assert page.url.endswith("#/lateness")
    expect(page.locator("main h1")).to_have_text("Lateness")


def test_a_confirmed_link_replaces_the_token(open_page: OpenPage) -> None:
    page = open_page("lateness")
    expect(page.locator("main h1")).to_have_text("Lateness")
    follow_link(page, "local-write")
    with page.expect_event("load"):
        page.get_by_role("dialog").get_by_role("button", name="Use the new token").click()

    expect(page.locator("main h1")).to_have_text("Lateness")
    assert page.evaluate(KEY) == "local-write"
    assert "token" not in page.url


def test_a_link_with_the_token_in_use_does_not_ask(open_page: OpenPage) -> None:
    page = open_page("now")
    expect(page.locator("main h1")).to_have_text("Now")
    follow_link(page, "local")

    expect(page.get_by_role("dialog")).to_have_count(0)
    assert page.url.endswith("#/now")


def test_a_link_in_a_new_tab_asks_if_another_tab_is_signed_in(
    stack: StackProcess, open_page: OpenPage
) -> None:
    page = open_page("now")
    expect(page.locator("main h1")).to_have_text("Now")
    tab = page.context.new_page()
    tab.goto(f"{stack.url}/#token=local-read")
    dialog = tab.get_by_role("dialog")
    expect(dialog).to_contain_text("Use the token of this link?")
    dialog.get_by_role("button", name="Back").click()

    expect(tab.locator("main h1")).to_be_visible()
    assert (tab.evaluate(KEY), page.evaluate(KEY)) == ("local", "local")


def prepare_every_action(stack: StackProcess) -> str:
    """Make tasks that offer actions on each page, and return the id of a blocked one."""
    stack.create(description="stretch", **{"in": "2h"})
    blocked = create_action(stack, "align the flux", UNKNOWN_ERROR)
    create_action(stack, "enrich the story", UNKNOWN_ERROR, subject="story-1", policy="enrichment")
    stack.advance("1h")
    stack.call("POST", f"/tasks/{blocked['id']}/reclassify", {"category": "code_error"})
    create_action(stack, "send the invoices", CONNECTION_REFUSED)
    stack.advance("6s")
    return str(blocked["id"])


def open_with_actions(stack: StackProcess, open_page: OpenPage, path: str, *, token: str) -> Page:
    """Open the page, with every action that it offers in sight."""
    page = open_page(path.format(prepare_every_action(stack)), token=token)
    if path == "tasks":
        page.get_by_role("button", name="Select all matching tasks").click()
    return page


def enabled_actions(page: Page) -> list[str]:
    buttons = page.locator("main button:visible:enabled:not(.play-log button)")  # of a chat message
    names = [
        one.get_attribute("aria-label") or one.inner_text() for one in buttons.element_handles()
    ]
    return [name for name in names if ACTIONS.match(name)]


@pytest.mark.parametrize("path", ["now", "task/{}", "tasks", "failures", "playground"])
def test_a_read_only_token_sees_no_enabled_action(
    stack: StackProcess, open_page: OpenPage, path: str
) -> None:
    page = open_with_actions(stack, open_page, path, token="local-read")
    expect(page.locator("main button[data-scope]:visible").first).to_be_visible()
    expect(page.locator("#read-only")).to_be_visible()

    assert enabled_actions(page) == []
    button = page.locator("main button[data-scope]:visible").first
    expect(button).to_be_disabled()
    expect(button).to_have_attribute("title", re.compile("^Your token has the scope read"))


@pytest.mark.parametrize("path", ["now", "task/{}", "tasks", "playground"])
def test_a_token_that_may_write_sees_enabled_actions(
    stack: StackProcess, open_page: OpenPage, path: str
) -> None:
    page = open_with_actions(stack, open_page, path, token="local-write")

    expect(page.locator("main button[data-scope='write']:visible:enabled").first).to_be_visible()
    expect(page.locator("main button[data-scope='write']:visible:disabled")).to_have_count(0)
    expect(page.locator("#read-only")).to_be_hidden()


def test_a_token_that_may_write_may_not_administer(
    stack: StackProcess, open_page: OpenPage
) -> None:
    prepare_every_action(stack)
    page = open_page("failures", token="local-write")
    page.get_by_role("textbox", name="Subject").fill("story-1")
    page.get_by_role("button", name="Look up").click()

    for name in ("Reset subject story-1", "Forget the correction"):
        button = page.get_by_role("button", name=name)
        expect(button).to_have_attribute(
            "title", "Your token has the scope write. This needs admin."
        )
        expect(button).to_be_disabled()


@pytest.mark.parametrize(("token", "is_enabled"), [("local-read", False), ("local", True)])
def test_only_an_admin_handles_dead_letters(
    open_page: OpenPage, token: str, is_enabled: bool
) -> None:
    page = open_page("now", token=token)
    letter: dict[str, Any] = {
        "id": "letter-1",
        "queue": "work",
        "cause": "crash",
        "reason": None,
        "task_id": None,
    }
    letter |= {"body": "{}", "sent_at": "2026-02-17T12:00:00.000Z", "body_cut": False}
    body = json.dumps(
        {"items": [{**letter, "was_cut": False, "can_be_redriven": True}], "next_cursor": None}
    )
    page.route(
        re.compile("/dead-letters"),
        lambda route: route.fulfill(content_type="application/json", body=body),
    )
    page.goto(page.url.replace("now", "dead-letters"))

    for name in ("Redrive all", "Redrive message", "Drop message"):
        expect(page.get_by_role("button", name=name)).to_be_enabled(enabled=is_enabled)


def test_actions_are_enabled_once_the_scope_is_known(
    stack: StackProcess, open_page: OpenPage
) -> None:
    page = open_page(f"task/{prepare_every_action(stack)}")
    replies = iter(["the first reply is cut off"])

    def answer(route: Route) -> None:
        if next(replies, None):
            route.fulfill(content_type="application/json", body="")
        else:
            route.continue_()

    page.route(re.compile("/me$"), answer)
    page.reload()

    button = page.get_by_role("button", name="Unblock").first
    expect(button).to_be_disabled()
    expect(button).to_be_enabled()
