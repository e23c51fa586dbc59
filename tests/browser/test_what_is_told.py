"""A page says nothing that it does not know yet, and there is always something to see."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import Opener
from tests.browser.running import Running
from tests.browser.scenes import DONE, a_busy_day, an_action

LISTS = re.compile(r"/tasks\?")


def test_nothing_is_said_of_tasks_before_they_were_read(open_page: Opener) -> None:
    page = open_page("now")
    held: list[Route] = []
    page.route(LISTS, lambda route: held.append(route))
    with page.expect_request(LISTS):
        page.goto(page.url.replace("now", "tasks"))
    expect(page.locator("main h1")).to_have_text("Tasks")
    expect(page.get_by_text("No tasks yet.")).to_be_hidden()
    expect(page.get_by_role("button", name="Older")).to_be_hidden()
    for route in held:
        route.continue_()

    expect(page.get_by_text("No tasks yet.")).to_be_visible()


def test_a_search_that_found_nothing_so_far_can_go_on(open_page: Opener) -> None:
    page = open_page("now")
    empty = json.dumps({"items": [], "next_cursor": "further"})
    page.route(LISTS, lambda route: route.fulfill(content_type="application/json", body=empty))
    page.goto(page.url.replace("now", "tasks?search=plant"))

    expect(page.get_by_text("No matches so far.")).to_be_visible()
    expect(page.get_by_text("No tasks match.")).to_be_hidden()
    expect(page.get_by_role("button", name="Older")).to_be_enabled()


def test_filters_that_match_nothing_can_be_cleared(stack: Running, open_page: Opener) -> None:
    stack.create(description="stretch", **{"in": "2h"})
    page = open_page("tasks?search=plant&status=failed")
    expect(page.locator("main")).to_contain_text("No tasks match. Clear filters")
    page.get_by_role("link", name="Clear filters").click()

    expect(page.get_by_role("link", name="stretch")).to_be_visible()
    expect(page.get_by_role("searchbox")).to_have_value("")
    assert page.url.endswith("#/tasks")


def test_pages_are_turned_one_at_a_time(stack: Running, open_page: Opener) -> None:
    for n in range(51):
        stack.create(description=f"water plant {n}", **{"in": "2h"})
    page = open_page("tasks")
    older = page.get_by_role("button", name="Older")
    expect(older).to_be_enabled()
    held: list[Route] = []
    page.route(LISTS, lambda route: held.append(route))
    older.evaluate("node => { node.click(); node.click(); node.click(); }")
    expect(older).to_be_disabled()
    page.unroute(LISTS)  # and so what was held goes on

    expect(page.get_by_text("Page 2")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(1)


def test_only_what_is_active_is_said_to_run(stack: Running, open_page: Opener) -> None:
    task = an_action(stack, "write the release notes", DONE, verify=True)
    stack.advance("1m")
    page = open_page(f"task/{task['id']}")

    expect(page.locator(".run").get_by_text("Waiting for approval")).to_be_visible()
    expect(page.get_by_text("still running")).to_have_count(0)


@pytest.mark.parametrize("part", ["foo", "main"])
def test_an_address_that_names_no_page_shows_the_first(part: str, open_page: Opener) -> None:
    page = open_page()
    expect(page.locator("main")).to_have_attribute("data-page", "playground")
    page.goto(f"{page.url.split('#')[0]}#{part}")
    page.reload()

    expect(page.locator("main")).to_have_attribute("data-page", "playground")


def test_an_address_with_an_empty_token_asks_for_one(open_page: Opener) -> None:
    page = open_page()
    expect(page.locator("main")).to_have_attribute("data-page", "playground")
    page.goto(f"{page.url.split('#')[0]}#token=")

    expect(page.locator("main")).to_have_attribute("data-page", "sign-in")
    assert "token" not in page.url


def test_a_token_that_no_header_can_hold_is_refused_in_words(open_page: Opener) -> None:
    page = open_page(token=None)
    page.get_by_label("Token").fill("ключ")
    page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_role("alert")).to_contain_text("only ASCII letters")


def test_what_needs_a_person_is_looked_at_on_the_same_page(
    stack: Running, open_page: Opener
) -> None:
    a_busy_day(stack)
    page = open_page("now")
    page.locator(".figure", has_text="Needs a person").click()

    expect(page.locator("#needs-person h2")).to_be_focused()
    assert page.url.endswith("#/now")


def test_what_failed_and_how_often_are_counted_apart(stack: Running, open_page: Opener) -> None:
    a_busy_day(stack)
    page = open_page("failures")
    rate = stack.call("GET", "/stats?days=7")["recovery_rate"]
    failed = sum(one["failures"] for one in rate)

    expect(page.locator(".figure", has_text="Recovered")).to_contain_text(
        f"of {failed} failed occurrences"
    )
    expect(page.locator("#recovery th").nth(1)).to_have_text("Occurrences")


def test_what_comes_next_may_be_far_away(stack: Running, open_page: Opener) -> None:
    stack.create(description="renew the passport", **{"in": "399d"})
    page = open_page("now")

    expect(page.locator("#due-soon h2")).to_have_text("Next up")
    expect(page.locator(".figure").first).to_contain_text("Next up")


@pytest.mark.parametrize(
    ("further", "asked"),
    [(None, "Redrive 2 messages?"), ("on", "Redrive 2 messages and all that follow?")],
)
def test_it_is_told_how_many_letters_go_back(
    further: str | None, asked: str, open_page: Opener
) -> None:
    page = open_page("now")
    told: dict[str, Any] = {
        "queue": "work",
        "cause": "crash",
        "reason": None,
        "task_id": None,
        "body": "{}",
    }
    told |= {"sent_at": "2026-02-17T12:00:00.000Z", "body_cut": False, "was_cut": False}
    items = [{**told, "id": f"letter-{n}", "can_be_redriven": n > 0} for n in range(3)]
    body = json.dumps({"items": items, "next_cursor": further})
    page.route(
        re.compile("/dead-letters"),
        lambda route: route.fulfill(content_type="application/json", body=body),
    )
    page.goto(page.url.replace("now", "dead-letters"))
    page.get_by_role("button", name="Redrive all").click()

    expect(page.get_by_role("dialog").get_by_role("heading")).to_have_text(asked)
