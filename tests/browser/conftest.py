"""Every test gets a page that must stay free of errors and may not talk to any other host."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

from tests.browser.running import TOKEN, Running, chromium, running

PHONE = {"width": 390, "height": 844}
DESKTOP = {"width": 1280, "height": 800}


@dataclass(frozen=True)
class Look:
    """How somebody looks at it."""

    viewport: dict[str, int] = field(default_factory=lambda: DESKTOP)
    scheme: str = "light"

    def __str__(self) -> str:
        return f"{'phone' if self.viewport is PHONE else 'desktop'}-{self.scheme}"


LOOKS = [Look(viewport, scheme) for viewport in (PHONE, DESKTOP) for scheme in ("light", "dark")]


class Watch:
    """What a page did that no page of ours may do."""

    def __init__(self, url: str) -> None:
        self._url = url
        self.wrong: list[str] = []

    def over(self, context: BrowserContext) -> None:
        context.on("console", self._said)
        context.on("weberror", lambda error: self.wrong.append(f"raised {error.error}"))
        context.on("request", self._asked)
        context.on("page", lambda page: page.on("websocket", self._connected))

    def _said(self, message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            self.wrong.append(f"console {message.type}: {message.text} {message.location}")

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((f"{self._url}/", "data:")):
            self.wrong.append(f"asked {request.url}")

    def _connected(self, socket: Any) -> None:
        if not socket.url.startswith(f"{self._url.replace('http', 'ws')}/"):
            self.wrong.append(f"connected to {socket.url}")


@pytest.fixture(scope="session")
def stack() -> Iterator[Running]:
    """One for all tests, on the manual clock; each test begins with an empty system."""
    with running("manual") as started:
        yield started


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as launched:
        yield launched


Opener = Callable[..., Page]


@pytest.fixture
def watch(stack: Running) -> Iterator[Watch]:
    stack.reset()
    watching = Watch(stack.url)
    yield watching
    assert watching.wrong == []


@pytest.fixture
def open_page(stack: Running, browser: Browser, watch: Watch) -> Iterator[Opener]:
    """Opens the dashboard as somebody who has the token, at one of its pages."""
    contexts: list[BrowserContext] = []

    def opened(page: str = "", look: Look | None = None, *, token: str | None = TOKEN) -> Page:
        look = look or Look()
        context = browser.new_context(
            viewport=look.viewport, color_scheme=look.scheme, reduced_motion="reduce"
        )
        contexts.append(context)
        watch.over(context)
        tab = context.new_page()
        tab.set_default_timeout(15_000)
        tab.goto(f"{stack.url}/" + (f"#token={token}" if token else ""))
        if page:
            tab.wait_for_selector("[data-page]")
            tab.goto(f"{stack.url}/#/{page}")
        return tab

    yield opened
    for context in contexts:
        context.close()
