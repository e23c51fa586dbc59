"""Responses stay within the size limit of Lambda."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from functions.api.http import responses
from functions.api.http.cursor import CursorCodec
from functions.api.http.responses import fit_items, newest_items_response, page_response

CODEC = CursorCodec("things", {"limit": 8, "cursor": None})


@dataclass(frozen=True)
class APage:
    items: list[dict[str, Any]]
    next_cursor: str | None


@pytest.fixture(autouse=True)
def set_size_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses, "MAX_RESPONSE_SIZE", 1_000)


def read(limit: int) -> APage:
    """Return up to eight items of about 300 characters each."""
    items = [{"n": n, "text": "x" * 285} for n in range(min(limit, 8))]
    return APage(items, f"after {limit}" if limit < 8 else None)


def read_after(after: str | None, limit: int) -> APage:
    assert after is None
    return read(limit)


def body_of(response: Any) -> Any:
    return json.loads(response.body)


def test_a_page_that_fits_is_returned_unchanged() -> None:
    body = body_of(page_response(read_after, dict, CODEC, limit=3))
    assert ([item["n"] for item in body["items"]], body["next_cursor"]) == (
        [0, 1, 2],
        CODEC.encode("after 3"),
    )


def test_a_page_that_does_not_fit_is_read_again_with_a_smaller_limit() -> None:
    body = body_of(page_response(read_after, dict, CODEC, limit=8))
    assert ([item["n"] for item in body["items"]], body["next_cursor"]) == (
        [0, 1],
        CODEC.encode("after 2"),
    )


def test_a_single_item_is_returned_whatever_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses, "MAX_RESPONSE_SIZE", 10)
    body = body_of(page_response(read_after, dict, CODEC, limit=8))
    assert [item["n"] for item in body["items"]] == [0]


def test_a_long_list_without_pages_returns_the_newest_items() -> None:
    body = body_of(newest_items_response(read(8).items))
    assert [item["n"] for item in body["items"]] == [5, 6, 7]


def test_the_first_items_that_fit_are_returned() -> None:
    assert [item["n"] for item in fit_items(read(8).items)] == [0, 1, 2]
