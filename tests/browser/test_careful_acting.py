"""What is pressed at a bad moment, or on odd names, never reaches more than was meant."""

from __future__ import annotations

import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Route, expect

from tests.browser.conftest import Opener, Watch
from tests.browser.running import Running
from tests.browser.scenes import DONE, ODD, REFUSED, an_action

LISTS = re.compile(r"/tasks\?")
WALKS = re.compile(r"/tasks\?.*limit=200")
REFUSAL = {"detail": "this token may only read"}


def query_of(route: Route) -> dict[str, list[str]]:
    return parse_qs(urlsplit(route.request.url).query)


def is_of_a_walk(route: Route) -> bool:
    return query_of(route)["limit"] == ["200"]


def answer(route: Route, body: Any, status: int = 200) -> None:
    route.fulfill(status=status, content_type="application/json", body=json.dumps(body))


def test_a_slow_answer_selects_nothing_of_the_filter_before(
    stack: Running, open_page: Opener
) -> None:
    for n in range(3):
        stack.create(description=f"water plant {n}", **{"in": "2h"})
    stack.create(description="feed the cat", **{"in": "2h"})
    page = open_page("tasks?search=plant")
    expect(page.get_by_role("link", name="water plant 0")).to_be_visible()
    held: dict[str, Route] = {}

    def slowly(route: Route) -> None:
        if is_of_a_walk(route):
            held[query_of(route)["search"][0]] = route
        else:
            route.continue_()

    page.route(LISTS, slowly)
    page.get_by_role("button", name="Select all matching tasks").click()
    page.get_by_role("searchbox").fill("cat")
    expect(page.get_by_role("link", name="feed the cat")).to_be_visible()
    page.get_by_role("button", name="Select all matching tasks").click()
    expect(page.get_by_text("Selecting: 0 found")).to_be_visible()
    for search in ("plant", "cat"):  # the answer to the first comes while the second is looked for
        with page.expect_response(lambda found, of=search: f"search={of}&limit=200" in found.url):
            held[search].continue_()

    expect(page.get_by_text("1 selected")).to_be_visible()


def test_a_search_that_is_left_changes_no_address(open_page: Opener) -> None:
    page = open_page("tasks")
    page.clock.install()
    page.get_by_role("searchbox").fill("tea")
    page.get_by_role("link", name="Failures").click()
    expect(page.get_by_role("heading", name="Failures", exact=True)).to_be_visible()
    page.clock.run_for(1000)

    assert page.url.endswith("#/failures")


def test_an_answer_that_breaks_off_is_told_to_whoever_waits_for_it(
    stack: Running, open_page: Opener
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
    with page.expect_response(WALKS):
        select.click()
    page.evaluate("breakOff()")
    expect(page.locator("#toasts")).to_contain_text("The response was incomplete. Try again.")

    page.evaluate("document.querySelector('#toasts').replaceChildren()")
    with page.expect_response(WALKS):
        select.click()
    page.get_by_role("link", name="Dead letters").click()
    expect(page.get_by_role("heading", name="Dead letters")).to_be_visible()
    expect(page.locator("#toasts")).to_be_empty()


@pytest.mark.parametrize("name", ["../_local", "a/../../_local", "owner/repository", "50% ?#"])
def test_the_name_of_a_subject_leads_nowhere_else(name: str, open_page: Opener) -> None:
    page = open_page("failures")
    page.get_by_role("textbox", name="Subject").fill(name)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(urlsplit(request.url).path))
    with page.expect_response(lambda found: "/subjects/" in found.url) as answered:
        page.get_by_role("button", name="Look up").click()

    assert answered.value.json()["id"] == name
    assert [path for path in asked if path.startswith("/_local/reset")] == []


def test_a_subject_that_failed_is_reset_by_its_whole_name(
    stack: Running, open_page: Opener
) -> None:
    page = open_page("failures")
    name = "../_local"
    listed = {"subject": name, "status": "permanent_failure", "failure_count": 3}
    stats = stack.call("GET", "/stats?days=7")
    told = {**stats, "top_failing": [{**listed, "last_error_message": None}]}
    page.route(re.compile("/stats"), lambda route: answer(route, told))
    page.reload()
    page.get_by_role("button", name=f"Reset subject {name}").click()
    with page.expect_request(lambda request: request.method == "POST") as sent:
        page.get_by_role("dialog").get_by_role("button", name="Reset").click()

    assert urlsplit(sent.value.url).path == "/subjects/..%2F_local/reset"
    sent.value.response()


@pytest.mark.parametrize("name", [".", ".."])
def test_a_name_of_dots_alone_is_told_to_be_none(name: str, open_page: Opener) -> None:
    page = open_page("failures")
    page.get_by_role("textbox", name="Subject").fill(name)
    page.get_by_role("button", name="Look up").click()

    expect(page.get_by_role("alert")).to_contain_text("cannot be part of a URL")


def test_escape_pressed_twice_stops_and_still_sums_up(stack: Running, open_page: Opener) -> None:
    for n in range(6):
        stack.create(description=f"water plant {n}", **{"in": "2h"})
    page = open_page("tasks")
    held: list[Route] = []
    page.route(re.compile("/cancel$"), lambda route: held.append(route))
    page.get_by_role("button", name="Select all matching tasks").click()
    page.get_by_role("button", name="Cancel selected tasks").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel 6 tasks").click()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    # What browsers do when it is pressed again, without asking the page.
    page.get_by_role("dialog").evaluate("dialog => dialog.close()")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    for route in held:
        route.continue_()

    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("4 tasks done")
    expect(dialog).to_contain_text("2 tasks skipped: you stopped it.")
    dialog.get_by_role("button", name="Close").click()
    expect(page.get_by_text("6 selected")).to_be_hidden()


def test_the_first_refusal_of_the_token_ends_it_for_all(
    stack: Running, open_page: Opener, watch: Watch
) -> None:
    for n in range(12):
        stack.create(description=f"water plant {n}", **{"in": "2h"})
    page = open_page("tasks")
    sent: list[str] = []

    def refuse(route: Route) -> None:
        sent.append(route.request.url)
        answer(route, REFUSAL, 403)

    page.route(re.compile("/cancel$"), refuse)
    page.get_by_role("button", name="Select all matching tasks").click()
    page.get_by_role("button", name="Cancel selected tasks").click()
    page.get_by_role("dialog").get_by_role("button", name="Cancel 12 tasks").click()

    expect(page.get_by_role("dialog")).to_contain_text("skipped: This token may only read.")
    assert len(sent) <= 4
    watch.wrong[:] = [one for one in watch.wrong if "403" not in one]


def test_a_question_goes_with_the_page_that_asked_it(stack: Running, open_page: Opener) -> None:
    task = stack.create(description="stretch", **{"in": "2h"})
    page = open_page("now")
    page.goto(f"{stack.url}/#/task/{task['id']}")
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_role("dialog")).to_be_visible()
    page.go_back()

    expect(page.get_by_role("dialog")).to_have_count(0)
    assert stack.call("GET", f"/tasks/{task['id']}")["status"] == "pending"


def test_a_question_that_comes_late_is_not_asked_on_another_page(
    stack: Running, open_page: Opener
) -> None:
    task = an_action(stack, "align the flux", ODD)
    stack.advance("1h")
    page = open_page("now")
    page.goto(f"{stack.url}/#/task/{task['id']}")
    held: list[Route] = []
    page.route("**/policies/*", lambda route: held.append(route))
    with page.expect_request("**/policies/*"):
        page.get_by_role("button", name="Reclassify").click()
    page.go_back()
    expect(page.get_by_role("heading", name="Now")).to_be_visible()
    with page.expect_response("**/policies/*"):
        held[0].continue_()

    page.evaluate("new Promise((done) => setTimeout(done))")  # what follows an answer has followed
    expect(page.get_by_role("dialog")).to_have_count(0)


def test_no_answer_is_chosen_beforehand(stack: Running, open_page: Opener) -> None:
    task = an_action(stack, "align the flux", ODD)
    stack.advance("1h")
    page = open_page(f"task/{task['id']}")
    page.get_by_role("button", name="Reclassify").click()
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("radio").first).to_be_visible()
    expect(dialog.locator("input:checked")).to_have_count(0)
    dialog.get_by_role("button", name="Reclassify").click()
    expect(dialog).to_be_visible()
    dialog.get_by_text("transient").first.click()
    dialog.get_by_role("button", name="Reclassify").click()

    expect(dialog).to_have_count(0)


def test_the_focus_stays_where_somebody_acts(stack: Running, open_page: Opener) -> None:
    task = an_action(stack, "send the invoices", REFUSED, DONE)
    stack.advance("6s")
    page = open_page("now")
    row = page.locator(f"#retries [data-task='{task['id']}']")
    row.get_by_role("button").focus()
    page.keyboard.press("Enter")
    expect(row).to_have_count(0)

    expect(page.locator("#retries h2")).to_be_focused()
