"""The conversation of docs/first-ten-minutes.md, replayed on a running stack."""

from __future__ import annotations

import uuid
from itertools import count

import pytest
from duecourse.app import stores

from local.runtime.template import ROOT
from tests.support.stack_client import running_stack
from tests.support.transcript import Conversation, transcripts

PAGE = (ROOT / "docs" / "first-ten-minutes.md").read_text()
STARTS_AT = "2026-11-16T09:00:00Z"  # a Monday, as the page says


@pytest.fixture(autouse=True)
def _ids_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make ids predictable, because the jitter of a retry depends on the task's id."""
    numbers = count(1)
    monkeypatch.setattr(stores, "new_id", lambda: str(uuid.UUID(int=next(numbers), version=4)))


def test_the_page_matches_a_real_conversation() -> None:
    page = transcripts(PAGE)
    assert len(page) > 40

    with running_stack(STARTS_AT) as client:
        replayed = list(Conversation(client, page).replay(page))

    assert replayed == page
