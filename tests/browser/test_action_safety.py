"""Actions at a bad moment, or on odd names, never affect more than intended."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import OpenPage, PageMonitor
from tests.browser.sample_tasks import CONNECTION_REFUSED, SUCCESS, UNKNOWN_ERROR, create_action
from tests.browser.stack_process import StackProcess

TASK_LISTS = re.compile(r"/tasks\?")
ALL_MATCHES = re.compile(r"/tasks\?.*limit=200")
REFUSAL = {"detail": "this token may only read"}


def query_of(route: Route) -> dict[str, list[str]]:
    return parse_qs(urlsplit(route.request.url).query)


def selects_all_matches(route: Route) -> bool:
    return query_of(route)["limit"] == ["200"]


def fulfill_json(route: Route, body: Any, status: int = 200) -> None:
    route.fulfill(status=status, content_type="application/json", body=json.dumps(body))


def test_a_slow_response_of_an_earlier_filter_selects_nothing(
    stack: StackProcess, open_page: OpenPage
) -> None:
    for n in range(3):
        stack.create(description=f"water plant {n}", **{"in": "2h"})
    stack.create(description="feed the cat", **{"in": "2h"})
    page = open_page("tasks?search=plant")
    expect(page.get_by_role("link", name="water plant 0")).to_be_visible()
    held_routes: dict[str, Route] = {}

    def hold_selections(route: Route) -> None:
        if selects_all_matches(route):
            held_routes[query_of(route)["search"][0]] = route
        else:
            route.continue_()

    page.route(TASK_LISTS, hold_selections)
    page.get_by_role("button", name="Select all matching tasks").click()
    page.get_by_role("searchbox").fill("cat")
    expect(page.get_by_role("link", name="feed the cat")).to_be_visible()
    page.get_by_role("button", name="Select all matching tasks").click()
    expect(page.get_by_text("Selecting: 0 found")).to_be_visible()
    for search in ("plant", "cat"):  # the first response arrives during the second search
        with page.expect_response(
            lambda response, expected_search=search: (
                f"search={expected_search}&limit=200" in response.url
            )
        ):
            held_routes[search].continue_()

    expect(page.get_by_text("1 selected")).to_be_visible()


def test_a_pending_search_does_not_change_the_url_of_another_page(open_page: OpenPage) -> None:
    page = open_page("tasks")
    page.clock.install()
    page.get_by_role("searchbox").fill("tea")
    page.get_by_role("link", name="Failures").click()
    expect(page.get_by_role("heading", name="Failures", exact=True)).to_be_visible()
    page.clock.run_for(1000)

    assert page.url.endswith("#/failures")


def test_an_incomplete_response_is_reported_only_to_its_page(
    stack: StackProcess, open_page: OpenPage
) -> None:
    stack.create(description="stretch", **{"in": "2h"})
    page = open_page("tasks")
    expect(page.get_by_role("link", name="stretch")).to_be_visible()
    page.evaluate(
        """() => {
          const whole = window.fetch;
          window.fetch = async (url, asked) => {
            const answer = await whole(url, asked);
            if (!String(url).includes("limit=200")) return answer;
            const begun = (stream) => {
              stream.enqueue(new TextEncoder().encode('{"items":['));
              const leave = () => stream.error(new DOMException("left", "AbortError"));
              asked.signal.addEventListener("abort", leave);
              window.breakOff = () => stream.error(new TypeError("network error"));
            };
            return new Response(new ReadableStream({ start: begun }), { status: 200 });
          };
        }"""
    )
    select = page.get_by_role("button", name="Select all matching tasks")
    with page.expect_response(ALL_MATCHES):
        select.click()
    page.evaluate("breakOff()")
    expect(page.locator("#toasts")).to_contain_text("The response was incomplete. Try again.")

    page.evaluate("document.querySelector('#toasts').replaceChildren()")
    with page.expect_response(ALL_MATCHES):
        select.click()
    page.get_by_role("link", name="Dead letters").click()
    expect(page.get_by_role("heading", name="Dead letters")).to_be_visible()
    expect(page.locator("#toasts")).to_be_empty()


@pytest.mark.parametrize("name", ["../_local", "a/../../_local", "owner/repository", "50% ?#"])
def test_a_subject_name_is_escaped_in_the_url(name: str, open_page: OpenPage) -> None:
    page = open_page("failures")
    page.get_by_role("textbox", name="Subject").fill(name)
    requested_paths: list[str] = []
    page.on("request", lambda request: requested_paths.append(urlsplit(request.url).path))
    with page.expect_response(lambda response: "/subjects/" in response.url) as response_info:
        page.get_by_role("button", name="Look up").click()

    assert response_info.value.json()["id"] == name
    assert "/_local" not in requested_paths


def test_reset_uses_the_full_subject_name(stack: StackProcess, open_page: OpenPage) -> None:
    page = open_page("failures")
    name = "../_local"
    failure = {"subject": name, "status": "permanent_failure", "failure_count": 3}
    stats = stack.call("GET", "/stats?days=7")
    stats_with_failure = {**stats, "top_failing": [{**failure, "last_error_message": None}]}
    page.route(re.compile("/stats"), lambda route: fulfill_json(route, stats_with_failure))
    page.reload()
    page.get_by_role("button", name=f"Reset subject {name}").click()
    with page.expect_request(lambda request: request.method == "POST") as request_info:
        page.get_by_role("dialog").get_by_role("button", name="Reset").click()

    assert urlsplit(request_info.value.url).path == "/subjects/..%2F_local/reset"
    request_info.value.response()


@pytest.mark.parametrize("name", [".", ".."])
def test_a_subject_name_of_dots_is_refused(name: str, open_page: OpenPage) -> None:
    page = open_page("failures")
    page.get_by_role("textbox", name="Subject").fill(name)
    page.get_by_role("button", name="Look up").click()

    expect(page.get_by_role("alert")).to_contain_text("cannot be part of a URL")


def test_pressing_escape_twice_stops_and_shows_the_summary(
    stack: StackProcess, open_page: OpenPage
) -> None:
    for n in range(6):
        stack.create(description=f"water plant {n}", **{"in": "2h"})
    page = open_page("tasks")
    held_routes: list[Route] = []
    page.route(re.compile("/cancel$"), lambda route: held_routes.append(route))
    page.get_by_role("button", name="Select all matching tasks").click()
    page.get_by_role("button", name="Cancel selected tasks").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel 6 tasks").click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    # Browsers close the dialog on a second Escape without an event that the page can cancel.
    page.get_by_role("dialog").evaluate("dialog => dialog.close()")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    for route in held_routes:
        route.continue_()

    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("4 tasks done")
    expect(dialog).to_contain_text("2 tasks skipped: you stopped it.")
    dialog.get_by_role("button", name="Close").click()
    expect(page.get_by_text("6 selected")).to_be_hidden()


def test_a_refused_token_stops_a_bulk_action(
    stack: StackProcess, open_page: OpenPage, page_monitor: PageMonitor
) -> None:
    for n in range(12):
        stack.create(description=f"water plant {n}", **{"in": "2h"})
    page = open_page("tasks")
    sent_urls: list[str] = []

    def refuse(route: Route) -> None:
        sent_urls.append(route.request.url)
        fulfill_json(route, REFUSAL, 403)

    page.route(re.compile("/cancel$"), refuse)
    page.get_by_role("button", name="Select all matching tasks").click()
    page.get_by_role("button", name="Cancel selected tasks").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel 12 tasks").click()

    expect(page.get_by_role("dialog")).to_contain_text("skipped: This token may only read.")
    assert len(sent_urls) <= 4
    page_monitor.violations[:] = [
        violation for violation in page_monitor.violations if "403" not in violation
    ]


def test_a_dialog_closes_with_its_page(stack: StackProcess, open_page: OpenPage) -> None:
    task = stack.create(description="stretch", **{"in": "2h"})
    page = open_page("now")
    page.goto(f"{stack.url}/#/task/{task['id']}")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.go_back()

    expect(page.get_by_role("dialog")).to_have_count(0)
    assert stack.call("GET", f"/tasks/{task['id']}")["status"] == "pending"


def test_a_late_dialog_does_not_open_on_another_page(
    stack: StackProcess, open_page: OpenPage
) -> None:
    task = create_action(stack, "align the flux", UNKNOWN_ERROR)
    stack.advance("1h")
    page = open_page("now")
    page.goto(f"{stack.url}/#/task/{task['id']}")
    held_routes: list[Route] = []
    page.route("**/policies/*", lambda route: held_routes.append(route))
    with page.expect_request("**/policies/*"):
        page.get_by_role("button", name="Reclassify").click()
    page.go_back()
    expect(page.get_by_role("heading", name="Now")).to_be_visible()
    with page.expect_response("**/policies/*"):
        held_routes[0].continue_()

    page.evaluate("new Promise((done) => setTimeout(done))")  # let the page handle the response
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_no_option_is_preselected(stack: StackProcess, open_page: OpenPage) -> None:
    task = create_action(stack, "align the flux", UNKNOWN_ERROR)
    stack.advance("1h")
    page = open_page(f"task/{task['id']}")
    page.get_by_role("button", name="Reclassify").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("radio").first).to_be_visible()
    expect(dialog.locator("input:checked")).to_have_count(0)
    dialog.get_by_role("button", name="Reclassify").click()
    expect(dialog).to_be_visible()
    dialog.get_by_text("Rate limit").click()
    dialog.get_by_role("button", name="Reclassify").click()

    expect(dialog).to_have_count(0)
    expect(page.locator("main")).to_contain_text("Rate limit")
    shown = stack.call("GET", f"/tasks/{task['id']}")
    assert (shown["last_error_category"], shown["last_error_kind"]) == ("transient", "rate_limit")


def test_the_focus_stays_in_the_list_after_an_action(
    stack: StackProcess, open_page: OpenPage
) -> None:
    task = create_action(stack, "send the invoices", CONNECTION_REFUSED, SUCCESS)
    stack.advance("6s")
    page = open_page("now")
    row = page.locator(f"#retries [data-task='{task['id']}']")
    row.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(row).to_have_count(0)

    expect(page.locator("#retries h2")).to_be_focused()
