"""Fixtures for pages that must stay free of errors and may not contact any other host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Dialog, Page, expect

from tests.browser.stack_process import TOKEN, StackProcess, launch_chromium, start_stack

TIMEOUT = 15_000  # milliseconds; two browsers and two stacks share the machine
expect.set_options(timeout=TIMEOUT)
PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 800}


@dataclass(frozen=True)
class Display:
    """Viewport and colour scheme of a page."""

    viewport: dict[str, int] = field(default_factory=lambda: DESKTOP)
    scheme: str = "light"

    def __str__(self) -> str:
        return f"{'phone' if self.viewport is PHONE else 'desktop'}-{self.scheme}"


DISPLAYS = [
    Display(viewport, scheme) for viewport in (PHONE, DESKTOP) for scheme in ("light", "dark")
]


class PageMonitor:
    """Records errors, warnings, native dialogs and requests to other hosts."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.violations: list[str] = []

    def attach(self, context: BrowserContext) -> None:
        context.on("console", self._check_message)
        context.on("weberror", lambda error: self.violations.append(f"raised {error.error}"))
        context.on("request", self._check_request)
        context.on("dialog", self._check_dialog)
        context.on("page", lambda page: page.on("websocket", self._check_websocket))

    def _check_message(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.violations.append(f"console {message.type}: {message.text} {message.location}")

    def _check_dialog(self, dialog: Dialog) -> None:
        self.violations.append(f"native {dialog.type}: {dialog.message}")
        dialog.dismiss()

    def _check_request(self, request: Any) -> None:
        if not request.url.startswith((f"{self._url}/", "data:")):
            self.violations.append(f"requested {request.url}")

    def _check_websocket(self, socket: Any) -> None:
        if not socket.url.startswith(f"{self._url.replace('http', 'ws')}/"):
            self.violations.append(f"connected to {socket.url}")


@pytest.fixture(scope="session")
def stack() -> Iterator[StackProcess]:
    """One stack for the session, on the manual clock. Each test starts with an empty system."""
    with start_stack("manual") as process:
        yield process


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with launch_chromium() as launched:
        yield launched


OpenPage = Callable[..., Page]


@pytest.fixture
def page_monitor(stack: StackProcess) -> Iterator[PageMonitor]:
    stack.reset()
    monitor = PageMonitor(stack.url)
    yield monitor
    assert monitor.violations == []


@pytest.fixture
def open_page(
    stack: StackProcess, browser: Browser, page_monitor: PageMonitor
) -> Iterator[OpenPage]:
    """Return a function that opens a page of the dashboard with the token."""
    contexts: list[BrowserContext] = []

    def open_tab(
        page: str = "", display: Display | None = None, *, token: str | None = TOKEN
    ) -> Page:
        display = display or Display()
        context = browser.new_context(
            viewport=display.viewport, color_scheme=display.scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        page_monitor.attach(context)
        tab = context.new_page()
        tab.set_default_timeout(TIMEOUT)
        tab.goto(f"{stack.url}/" + (f"#token={token}" if token else ""))
        if page:
            tab.wait_for_selector("[data-page]")
            tab.goto(f"{stack.url}/#/{page}")
        return tab

    yield open_tab
    for context in contexts:
        context.close()
