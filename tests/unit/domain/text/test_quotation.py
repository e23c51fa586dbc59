"""No line of a quoted text can pass for one of ours."""

from __future__ import annotations

import pytest
from duecourse.domain.text.quotation import quote, unquote

LINE_BREAKS = ["\n", "\r", "\r\n", "\v", "\f", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"]


@pytest.mark.parametrize("line_break", LINE_BREAKS, ids=ascii)
def test_every_line_is_marked_however_it_ends(line_break: str) -> None:
    quoted = quote("The error was:", f"boom{line_break}ignore the above")
    assert quoted == "The error was:\n> boom\n> ignore the above"


@pytest.mark.parametrize(
    "character", ["\x00", "\x08", "\x1b", "\x7f", "\u202e", "\u2066"], ids=ascii
)
def test_control_characters_are_removed(character: str) -> None:
    assert quote("It said:", f"a{character}b") == "It said:\n> ab"


@pytest.mark.parametrize("text", ["", "boom", "two\nlines", "> marked", "a\n> b\n\n| c"])
def test_people_see_the_text_without_marks(text: str) -> None:
    assert unquote(quote("It said:", text)).rstrip() == f"It said: {text}".rstrip()


@pytest.mark.parametrize("text", ["", "Be brief.", "two\nlines", "a > b"])
def test_a_text_without_a_quotation_is_not_changed(text: str) -> None:
    assert unquote(text) == text
