"""The page of one task: its contents over time, and that updates do not disturb a reader."""

from __future__ import annotations

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.browser.conftest import PHONE, Display, OpenPage, PageMonitor
from tests.browser.sample_tasks import CODE_ERROR, SUCCESS, UNKNOWN_ERROR, create_action
from tests.browser.stack_process import StackProcess

FAILS_UNLESS_ANSWERED = re.compile(r"Fails in 2[23] h \d\d min unless someone responds")


def notice_box(page: Page) -> Any:
    return page.locator("main .notice")


def test_a_blocked_task_shows_when_it_fails_until_it_has_failed(
    stack: StackProcess, open_page: OpenPage
) -> None:
    task = create_action(stack, "align the flux", UNKNOWN_ERROR)
    stack.advance("1h")
    page = open_page(f"task/{task['id']}")
    expect(notice_box(page)).to_contain_text(FAILS_UNLESS_ANSWERED)
    expect(notice_box(page)).to_contain_text("Escalated to a person")
    stack.advance("25h")

    expect(page.locator(".task-title .badge")).to_have_text("Failed")
    expect(notice_box(page)).to_contain_text("the flux was misaligned")
    expect(notice_box(page)).not_to_contain_text("Escalated to a person")
    expect(notice_box(page)).not_to_contain_text("unless someone responds")


def test_a_failed_task_shows_its_number_of_attempts(
    stack: StackProcess, open_page: OpenPage
) -> None:
    task = create_action(stack, "align the flux", UNKNOWN_ERROR, policy="enrichment")
    stack.advance("4d")
    assert stack.call("GET", f"/tasks/{task['id']}")["recovery_action"] == "give_up"
    page = open_page(f"task/{task['id']}")

    expect(notice_box(page)).to_contain_text("Gave up after 3 attempts")


def test_a_task_that_needs_a_person_shows_its_deadline(
    stack: StackProcess, open_page: OpenPage
) -> None:
    blocked = create_action(stack, "align the flux", UNKNOWN_ERROR)
    checked = create_action(stack, "write the release notes", SUCCESS, verify=True)
    stack.advance("1h")
    page = open_page("now")

    for task in (blocked, checked):
        row = page.locator(f"#needs-person [data-task='{task['id']}']")
        expect(row).to_contain_text(FAILS_UNLESS_ANSWERED)


def test_a_verification_shows_its_deadline(stack: StackProcess, open_page: OpenPage) -> None:
    task = create_action(stack, "write the release notes", SUCCESS, verify=True)
    stack.advance("1m")
    page = open_page(f"task/{task['id']}")

    expect(page.locator("#about dt").first).to_have_text("Respond by")


def test_expanded_parts_stay_open_on_updates(stack: StackProcess, open_page: OpenPage) -> None:
    task = create_action(stack, "sum up the day", SUCCESS, repeat="daily")
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
    details = page.locator(f"[data-run='{latest}'] details")
    expect(details).to_have_attribute("open", "")


def test_the_scroll_position_stays_on_updates(stack: StackProcess, open_page: OpenPage) -> None:
    task = stack.create(description="water the plants", repeat="daily", **{"in": "5s"})
    stack.advance("10d")
    page = open_page(f"task/{task['id']}")
    last_run = page.locator("#runs .run").last
    last_run.scroll_into_view_if_needed()
    top_position = "node => Math.round(node.getBoundingClientRect().top)"
    before = last_run.evaluate(top_position)
    stack.advance("1d")
    expect(page.locator("#runs .run")).to_have_count(11)

    assert abs(last_run.evaluate(top_position) - before) <= 2


def test_a_run_shows_its_reason_in_words(stack: StackProcess, open_page: OpenPage) -> None:
    task = create_action(stack, "fix the build", CODE_ERROR)
    stack.advance("1h")
    page = open_page(f"task/{task['id']}")

    retried_event = page.locator("#history li", has_text="Retried").first
    expect(retried_event).to_contain_text("retry after a failure")
    expect(retried_event).not_to_contain_text("transient")


def test_long_texts_are_limited_in_height(stack: StackProcess, open_page: OpenPage) -> None:
    lines = [f"line {n} of what is to be done, and how" for n in range(60)]
    error = {"error": {"message": "\n".join(f"at line {n} of the trace" for n in range(150))}}
    task = create_action(stack, "\n".join(lines), error)
    stack.advance("6s")
    page = open_page(f"task/{task['id']}", Display(PHONE))

    expect(page.locator("main h1")).to_have_text(lines[0])
    expect(page.locator("#description")).to_contain_text(lines[-1])
    for part in (".task-title", ".notice", "#description"):
        box = page.locator(f"main {part}").bounding_box()
        assert box is not None
        assert box["height"] < 450, part


def test_a_short_description_is_only_the_title(stack: StackProcess, open_page: OpenPage) -> None:
    task = stack.create(description="stretch", **{"in": "2h"})
    page = open_page(f"task/{task['id']}")

    expect(page.locator("main h1")).to_have_text("stretch")
    expect(page.locator("#description")).to_have_count(0)


def test_the_effect_of_unblock_is_explained(stack: StackProcess, open_page: OpenPage) -> None:
    task = create_action(stack, "align the flux", UNKNOWN_ERROR)
    stack.advance("1h")
    page = open_page("now")
    explanation = "Unblock: one more attempt, past failures still count."
    expect(page.locator("#needs-person").get_by_text(explanation)).to_be_visible()
    page.goto(f"{stack.url}/#/task/{task['id']}")
    expect(page.get_by_text(explanation)).to_be_visible()
    stack.call("POST", f"/tasks/{task['id']}/cancel")

    expect(page.locator(".task-title .badge")).to_have_text("Cancelled")
    expect(page.get_by_text(explanation)).to_have_count(0)


def test_an_unknown_task_shows_task_not_found(
    stack: StackProcess, open_page: OpenPage, page_monitor: PageMonitor
) -> None:
    page = open_page("now")
    for task_id in ("3f9c2a71", "3f9c2a71-0000-4000-8000-000000000000", "odd", ""):
        page.goto(f"{stack.url}/#/task/{task_id}")
        expect(page.locator("main h1")).to_have_text("Task not found")
        expect(page.locator("main")).to_contain_text("The task may have expired")
        page.locator("main").get_by_role("link").click()
        expect(page.locator("main h1")).to_have_text("Tasks")
    page_monitor.violations[:] = [
        violation for violation in page_monitor.violations if "404" not in violation
    ]
