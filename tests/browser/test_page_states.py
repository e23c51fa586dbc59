"""Loading, empty and partial states of the pages."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import OpenPage
from tests.browser.sample_tasks import SUCCESS, create_action, create_sample_tasks
from tests.browser.stack_process import StackProcess

TASK_LISTS = re.compile(r"/tasks\?")


def test_no_empty_state_is_shown_while_tasks_load(open_page: OpenPage) -> None:
    page = open_page("now")
    held_routes: list[Route] = []
    page.route(TASK_LISTS, lambda route: held_routes.append(route))
    with page.expect_request(TASK_LISTS):
        page.goto(page.url.replace("now", "tasks"))
    expect(page.locator("main h1")).to_have_text("Tasks")
    expect(page.get_by_text("No tasks yet.")).to_be_hidden()
    expect(page.get_by_role("button", name="Older")).to_be_hidden()
    for route in held_routes:
        route.continue_()

    expect(page.get_by_text("No tasks yet.")).to_be_visible()


def test_a_search_without_matches_so_far_can_continue(open_page: OpenPage) -> None:
    page = open_page("now")
    empty = json.dumps({"items": [], "next_cursor": "further"})
    page.route(TASK_LISTS, lambda route: route.fulfill(content_type="application/json", body=empty))
    page.goto(page.url.replace("now", "tasks?search=plant"))

    expect(page.get_by_text("No matches so far.")).to_be_visible()
    expect(page.get_by_text("No tasks match.")).to_be_hidden()
    expect(page.get_by_role("button", name="Older")).to_be_enabled()


def test_filters_that_match_nothing_can_be_cleared(
    stack: StackProcess, open_page: OpenPage
) -> None:
    stack.create(description="stretch", **{"in": "2h"})
    page = open_page("tasks?search=plant&status=failed")
    expect(page.locator("main")).to_contain_text("No tasks match. Clear filters")
    page.get_by_role("link", name="Clear filters").click()

    expect(page.get_by_role("link", name="stretch")).to_be_visible()
    expect(page.get_by_role("searchbox")).to_have_value("")
    assert page.url.endswith("#/tasks")


def test_repeated_clicks_turn_one_page(stack: StackProcess, open_page: OpenPage) -> None:
    for n in range(51):
        stack.create(description=f"water plant {n}", **{"in": "2h"})
    page = open_page("tasks")
    older = page.get_by_role("button", name="Older")
    expect(older).to_be_enabled()
    held_routes: list[Route] = []
    page.route(TASK_LISTS, lambda route: held_routes.append(route))
    older.evaluate("node => { node.click(); node.click(); node.click(); }")
    expect(older).to_be_disabled()
    page.unroute(TASK_LISTS)  # which lets the held requests continue

    expect(page.get_by_text("Page 2")).to_be_visible()
    expect(page.locator("tbody tr")).to_have_count(1)


def test_only_an_active_run_is_shown_as_running(stack: StackProcess, open_page: OpenPage) -> None:
    task = create_action(stack, "write the release notes", SUCCESS, verify=True)
    stack.advance("1m")
    page = open_page(f"task/{task['id']}")

    expect(page.locator(".run").get_by_text("Waiting for approval")).to_be_visible()
    expect(page.get_by_text("still running")).to_have_count(0)


@pytest.mark.parametrize("part", ["foo", "main"])
def test_an_unknown_page_shows_the_first_one(part: str, open_page: OpenPage) -> None:
    page = open_page()
    expect(page.locator("main")).to_have_attribute("data-page", "playground")
    page.goto(f"{page.url.split('#')[0]}#{part}")
    page.reload()

    expect(page.locator("main")).to_have_attribute("data-page", "playground")


@pytest.mark.parametrize(("token", "page_name"), [("local", "playground"), (None, "sign-in")])
def test_an_empty_token_in_the_url_is_no_token(
    open_page: OpenPage, token: str | None, page_name: str
) -> None:
    page = open_page(token=token)
    expect(page.locator("main")).to_have_attribute("data-page", page_name)
    page.goto(f"{page.url.split('#')[0]}#token=")
    page.reload()

    expect(page.locator("main")).to_have_attribute("data-page", page_name)
    assert "token" not in page.url


def test_a_non_ascii_token_is_refused_with_a_message(open_page: OpenPage) -> None:
    page = open_page(token=None)
    page.get_by_label("Token").fill("ключ")
    page.get_by_role("button", name="Sign in").click()

    expect(page.get_by_role("alert")).to_contain_text("only ASCII letters")


def test_the_needs_a_person_figure_scrolls_to_its_list(
    stack: StackProcess, open_page: OpenPage
) -> None:
    create_sample_tasks(stack)
    page = open_page("now")
    page.locator(".figure", has_text="Needs a person").click()

    expect(page.locator("#needs-person h2")).to_be_focused()
    assert page.url.endswith("#/now")


def test_occurrences_and_failures_are_counted_separately(
    stack: StackProcess, open_page: OpenPage
) -> None:
    create_sample_tasks(stack)
    page = open_page("failures")
    rate = stack.call("GET", "/stats?days=7")["recovery_rate"]
    failure_count = sum(category["failures"] for category in rate)

    expect(page.locator(".figure", has_text="Recovered")).to_contain_text(
        f"of {failure_count} failed occurrences"
    )
    expect(page.locator("#recovery th").nth(1)).to_have_text("Occurrences")


def test_the_next_task_may_be_due_far_ahead(stack: StackProcess, open_page: OpenPage) -> None:
    stack.create(description="renew the passport", **{"in": "399d"})
    page = open_page("now")

    expect(page.locator("#due-soon h2")).to_have_text("Next up")
    expect(page.locator(".figure").first).to_contain_text("Next up")


@pytest.mark.parametrize(
    ("next_cursor", "question"),
    [(None, "Redrive 2 messages?"), ("on", "Redrive 2 messages and all that follow?")],
)
def test_redrive_confirms_the_number_of_messages(
    next_cursor: str | None, question: str, open_page: OpenPage
) -> None:
    page = open_page("now")
    letter: dict[str, Any] = {
        "queue": "work",
        "cause": "crash",
        "reason": None,
        "task_id": None,
        "body": "{}",
    }
    letter |= {"sent_at": "2026-02-17T12:00:00.000Z", "body_cut": False, "was_cut": False}
    items = [{**letter, "id": f"letter-{n}", "can_be_redriven": n > 0} for n in range(3)]
    body = json.dumps({"items": items, "next_cursor": next_cursor})
    page.route(
        re.compile("/dead-letters"),
        lambda route: route.fulfill(content_type="application/json", body=body),
    )
    page.goto(page.url.replace("now", "dead-letters"))
    page.get_by_role("button", name="Redrive all").click()

    expect(page.get_by_role("dialog").get_by_role("heading")).to_have_text(question)
