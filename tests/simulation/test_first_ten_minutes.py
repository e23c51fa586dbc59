"""A newcomer's first ten minutes are what the page says they are."""

from __future__ import annotations

import uuid
from itertools import count

import pytest
from duecourse.app import stores

from local.runtime.template import ROOT
from tests.support.stack_client import running_stack
from tests.support.transcript import Conversation, transcripts

PAGE = (ROOT / "docs" / "first-ten-minutes.md").read_text()
BEGINS = "2026-11-16T09:00:00Z"  # a Monday, as the page says


@pytest.fixture(autouse=True)
def _ids_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """The seconds that a retry waits longer than it must are made of the task's id."""
    numbers = count(1)
    monkeypatch.setattr(stores, "new_id", lambda: str(uuid.UUID(int=next(numbers), version=4)))


def test_the_page_is_what_a_newcomer_sees() -> None:
    page = transcripts(PAGE)
    assert len(page) > 40

    with running_stack(BEGINS) as client:
        held = list(Conversation(client, page).replay(page))

    assert held == page
