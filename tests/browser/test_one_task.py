"""The page of one task: what it says at each time, and that it stays put while somebody reads."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, Look, Opener, Watch
from tests.browser.running import Running
from tests.browser.scenes import CODE_ERROR, DONE, ODD, an_action

UNTIL = re.compile(r"Fails in 2[23] h \d\d min unless someone responds")


def notice(page: Page) -> Any:
    return page.locator("main .notice")


def test_what_is_blocked_says_when_it_fails_and_once_it_failed_no_more(
    stack: Running, open_page: Opener
) -> None:
    task = an_action(stack, "align the flux", ODD)
    stack.advance("1h")
    page = open_page(f"task/{task['id']}")
    expect(notice(page)).to_contain_text(UNTIL)
    expect(notice(page)).to_contain_text("Escalated to a person")
    stack.advance("25h")

    expect(page.locator(".task-title .badge")).to_have_text("Failed")
    expect(notice(page)).to_contain_text("the flux was misaligned")
    expect(notice(page)).not_to_contain_text("Escalated to a person")
    expect(notice(page)).not_to_contain_text("unless someone responds")


def test_what_was_given_up_says_after_how_many_attempts(stack: Running, open_page: Opener) -> None:
    task = an_action(stack, "align the flux", ODD, policy="enrichment")
    stack.advance("4d")
    assert stack.call("GET", f"/tasks/{task['id']}")["recovery_action"] == "give_up"
    page = open_page(f"task/{task['id']}")

    expect(notice(page)).to_contain_text("Gave up after 3 attempts")


def test_what_needs_a_person_says_until_when(stack: Running, open_page: Opener) -> None:
    blocked = an_action(stack, "align the flux", ODD)
    checked = an_action(stack, "write the release notes", DONE, verify=True)
    stack.advance("1h")
    page = open_page("now")

    for task in (blocked, checked):
        row = page.locator(f"#needs-person [data-task='{task['id']}']")
        expect(row).to_contain_text(UNTIL)


def test_a_verdict_is_to_be_given_by_a_time(stack: Running, open_page: Opener) -> None:
    task = an_action(stack, "write the release notes", DONE, verify=True)
    stack.advance("1m")
    page = open_page(f"task/{task['id']}")

    expect(page.locator("#about dt").first).to_have_text("Respond by")


def test_what_somebody_has_opened_stays_open(stack: Running, open_page: Opener) -> None:
    task = an_action(stack, "sum up the day", DONE, repeat="daily")
    stack.advance("35d")
    page = open_page(f"task/{task['id']}")
    page.get_by_role("button", name=re.compile("earlier runs")).click()
    page.get_by_role("button", name=re.compile("earlier events")).click()
    runs = page.locator("#runs .run")
    expect(runs).to_have_count(35)
    latest = runs.first.get_attribute("data-run")
    runs.first.get_by_text("Result").click()
    before = page.locator("#history li").count()
    stack.advance("1d")

    expect(runs).to_have_count(36)
    assert page.locator("#history li").count() > before
    opened = page.locator(f"[data-run='{latest}'] details")
    expect(opened).to_have_attribute("open", "")


def test_what_somebody_reads_stays_where_it_is(stack: Running, open_page: Opener) -> None:
    task = stack.create(description="water the plants", repeat="daily", **{"in": "5s"})
    stack.advance("10d")
    page = open_page(f"task/{task['id']}")
    read = page.locator("#runs .run").last
    read.scroll_into_view_if_needed()
    place = "node => Math.round(node.getBoundingClientRect().top)"
    before = read.evaluate(place)
    stack.advance("1d")
    expect(page.locator("#runs .run")).to_have_count(11)

    assert abs(read.evaluate(place) - before) <= 2


def test_a_run_says_in_words_why_it_came(stack: Running, open_page: Opener) -> None:
    task = an_action(stack, "fix the build", CODE_ERROR)
    stack.advance("1h")
    page = open_page(f"task/{task['id']}")

    again = page.locator("#history li", has_text="Retried").first
    expect(again).to_contain_text("retry after a failure")
    expect(again).not_to_contain_text("transient")


def test_long_texts_leave_room_for_the_rest(stack: Running, open_page: Opener) -> None:
    lines = [f"line {n} of what is to be done, and how" for n in range(60)]
    error = {"error": {"message": "\n".join(f"at line {n} of the trace" for n in range(150))}}
    task = an_action(stack, "\n".join(lines), error)
    stack.advance("6s")
    page = open_page(f"task/{task['id']}", Look(PHONE))

    expect(page.locator("main h1")).to_have_text(lines[0])
    expect(page.locator("#description")).to_contain_text(lines[-1])
    for part in (".task-title", ".notice", "#description"):
        box = page.locator(f"main {part}").bounding_box()
        assert box is not None
        assert box["height"] < 450, part


def test_a_short_description_is_the_title_alone(stack: Running, open_page: Opener) -> None:
    task = stack.create(description="stretch", **{"in": "2h"})
    page = open_page(f"task/{task['id']}")

    expect(page.locator("main h1")).to_have_text("stretch")
    expect(page.locator("#description")).to_have_count(0)


def test_of_two_ways_to_go_on_the_difference_is_told(stack: Running, open_page: Opener) -> None:
    task = an_action(stack, "align the flux", ODD)
    stack.advance("1h")
    page = open_page("now")
    told = "Unblock: one more attempt, past failures still count."
    expect(page.locator("#needs-person").get_by_text(told)).to_be_visible()
    page.goto(f"{stack.url}/#/task/{task['id']}")
    expect(page.get_by_text(told)).to_be_visible()
    stack.call("POST", f"/tasks/{task['id']}/cancel")

    expect(page.locator(".task-title .badge")).to_have_text("Cancelled")
    expect(page.get_by_text(told)).to_have_count(0)


def test_a_task_that_is_not_there_is_told_to_be_gone(
    stack: Running, open_page: Opener, watch: Watch
) -> None:
    page = open_page("now")
    for name in ("3f9c2a71", "3f9c2a71-0000-4000-8000-000000000000", "odd", ""):
        page.goto(f"{stack.url}/#/task/{name}")
        expect(page.locator("main h1")).to_have_text("Task not found")
        expect(page.locator("main")).to_contain_text("The task may have expired")
        page.locator("main").get_by_role("link").click()
        expect(page.locator("main h1")).to_have_text("Tasks")
    watch.wrong[:] = [one for one in watch.wrong if "404" not in one]
