"""Actions on the pages change tasks, and changes of tasks appear on the pages."""

from __future__ import annotations

import math
import re
from datetime import datetime

from playwright.sync_api import expect

from tests.browser.conftest import OpenPage
from tests.browser.sample_tasks import (
    CONNECTION_REFUSED,
    UNKNOWN_ERROR,
    create_action,
    create_sample_tasks,
)
from tests.browser.stack_process import StackProcess


def test_a_pending_retry_counts_down_to_its_time(stack: StackProcess, open_page: OpenPage) -> None:
    task = create_action(stack, "send the invoices", CONNECTION_REFUSED)
    stack.advance("6s")
    page = open_page("now")

    row = page.locator(f"#retries [data-task='{task['id']}']")
    seconds = _seconds_until_due(stack, task["id"])
    assert 29 <= seconds <= 33  # the policy's 30 s and up to 10 % of jitter, at most a second ago
    expect(row).to_contain_text(f"in {seconds} s")
    stack.advance("20s")
    expect(row).to_contain_text(f"in {seconds - 20} s")


def _seconds_until_due(stack: StackProcess, task_id: str) -> int:
    due_at = datetime.fromisoformat(stack.call("GET", f"/tasks/{task_id}")["due_at"])
    now = datetime.fromisoformat(stack.call("GET", "/_local/clock")["now"])
    return math.ceil((due_at - now).total_seconds())


def test_a_running_task_shows_its_duration(stack: StackProcess, open_page: OpenPage) -> None:
    for call in ("dynamodb.GetItem", "channel.send"):  # the first attempt fails before the run
        stack.call("POST", "/_local/faults", {"function": "worker", "call": call})
    stack.create(description="stretch", **{"in": "5s"})
    for _ in range(60):  # its message is visible again after six minutes
        stack.advance("10s")
        if running := stack.call("GET", "/now")["running"]:
            break
    [task] = running
    assert task["started_at"] > task["due_at"]
    page = open_page("now")

    start_time = page.locator(f"#running [data-task='{task['id']}'] time")
    expect(start_time).to_have_attribute("datetime", task["started_at"])
    expect(start_time).to_contain_text(re.compile(r"for 1?\d s"))


def test_a_budget_of_zero_shows_zero_percent(stack: StackProcess, open_page: OpenPage) -> None:
    stack.call("PUT", "/budgets/daily", {"limit": 0})
    page = open_page("now")

    expect(page.locator("#budgets").get_by_role("meter")).to_have_attribute("aria-valuetext", "0%")


def test_live_events_update_the_page(stack: StackProcess, open_page: OpenPage) -> None:
    page = open_page("now")
    expect(page.locator("#connection")).to_have_attribute("data-state", "live")
    stack.create(description="stretch", **{"in": "10m"})

    expect(page.locator("#due-soon")).to_contain_text("stretch")
    expect(page.locator("#events li").first).to_be_visible()


def test_unblock_runs_a_blocked_task_again(stack: StackProcess, open_page: OpenPage) -> None:
    task = create_action(stack, "align the flux", UNKNOWN_ERROR)
    stack.advance("1h")
    page = open_page(f"task/{task['id']}")
    page.get_by_role("button", name="Unblock").first.click()

    expect(page.locator("main").get_by_text("Attempt 5").first).to_be_visible()
    after = stack.call("GET", f"/tasks/{task['id']}")
    assert after["recovery_action"] == "mark_as_blocked"


def test_bulk_cancel_confirms_the_count_and_cancels(
    stack: StackProcess, open_page: OpenPage
) -> None:
    for n in range(7):
        stack.create(description=f"water plant {n}", **{"in": "2h"})
    other = stack.create(description="stretch", **{"in": "2h"})
    page = open_page("tasks?search=plant")
    page.get_by_role("button", name="Select all matching tasks").click()
    expect(page.get_by_text("7 selected")).to_be_visible()
    page.get_by_role("button", name="Cancel selected tasks").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("7 tasks")
    dialog.get_by_role("button", name="Cancel 7 tasks").click()
    expect(page.get_by_text("7 tasks done")).to_be_visible()

    items = stack.call("GET", "/tasks")["items"]
    assert {task["status"] for task in items if "plant" in task["description"]} == {"cancelled"}
    assert stack.call("GET", f"/tasks/{other['id']}")["status"] == "pending"


def test_failures_are_shown_by_category_with_their_evidence(
    stack: StackProcess, open_page: OpenPage
) -> None:
    create_sample_tasks(stack)
    page = open_page("failures")

    main = page.locator("main")
    for category in ("code_error", "transient", "unknown"):
        expect(main.get_by_role("link", name=category).first).to_be_visible()
    for kind in ("Type error", "Clears by"):
        expect(main.locator("#kinds")).to_contain_text(kind)
    expect(main.locator("svg").first).to_be_visible()
