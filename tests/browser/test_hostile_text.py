"""Text of people, providers and errors is inert: it never runs, links or loads anything."""

from __future__ import annotations

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import OpenPage
from tests.browser.stack_process import StackProcess

MARKUP = "<img src=x onerror=alert(1)><script>alert(2)</script><svg onload=alert(3)>"
LINK = "javascript:alert(4)"
TEMPLATES = "{{7*7}} ${7*7} <%= 7*7 %> #{7*7}"
HOSTILE = f"{MARKUP} {LINK} {TEMPLATES} \u202e</textarea><!--"
_FIND_ACTIVE_ELEMENTS = """() => [
  ...document.querySelectorAll('script:not([src]), iframe, object, embed, form[action]'),
  ...[...document.querySelectorAll('*')].filter((one) => [...one.attributes].some(
    ({name, value}) => name.startsWith('on') || /^\\s*javascript:/i.test(value))),
  ...document.querySelectorAll("img:not([src^='data:']):not([src='assets/icon.svg'])"),
].map((one) => one.outerHTML)"""


@pytest.fixture
def hostile_task(stack: StackProcess, page_monitor: object) -> dict[str, str]:
    del page_monitor  # it resets the system first
    error_step = {"error": {"message": HOSTILE, "type": MARKUP, "code": MARKUP}}
    script = {"provider": "scripted", "script": [error_step], "budget": "daily"}
    sender = {"sender_id": MARKUP, "reply_target": "you"}
    task = stack.create(
        type="action", description=HOSTILE, payload=script, subject=MARKUP, **sender, **{"in": "5s"}
    )
    stack.create(description=HOSTILE, **sender, **{"in": "30m"})
    body = {"sender_id": "you", "reply_target": "you", "text": f"/remind in 10m {HOSTILE}"}
    stack.call("POST", "/webhooks/console", body)
    stack.advance("10s")
    return {"id": str(task["id"])}


@pytest.mark.parametrize(
    "name", ["playground", "now", "tasks", "failures", "lateness", "dead-letters", "task"]
)
def test_hostile_text_is_inert_on_every_page(
    name: str, hostile_task: dict[str, str], open_page: OpenPage
) -> None:
    page = open_page(f"task/{hostile_task['id']}" if name == "task" else name)
    alerts: list[str] = []
    page.on("dialog", lambda dialog: alerts.append(dialog.message))
    expect(page.locator("main")).to_have_attribute("data-page", name)
    if name in ("playground", "now", "tasks", "task"):
        expect(page.locator("main").get_by_text("onerror=alert(1)").first).to_be_visible()
    _wait_for_render(page)

    assert page.evaluate(_FIND_ACTIVE_ELEMENTS) == []
    assert alerts == []
    assert "49" not in page.locator("main h1").first.inner_text()


def test_hostile_text_typed_into_the_chat_is_inert(open_page: OpenPage) -> None:
    page = open_page()
    page.get_by_label("Message", exact=True).fill(HOSTILE[:500])
    page.get_by_role("button", name="Send").click()
    expect(page.locator("#chat li.sent").last).to_contain_text("onerror=alert(1)")
    expect(page.locator("#chat li.received").nth(1)).to_be_visible()

    assert page.evaluate(_FIND_ACTIVE_ELEMENTS) == []


def _wait_for_render(page: Page) -> None:
    """Wait until the page has been rendered."""
    page.evaluate(
        "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    )
