"""Whatever a text contains, its quotation has no line of its own."""

from __future__ import annotations

from duecourse.domain.text.quotation import quote
from hypothesis import given
from hypothesis import strategies as st


@given(st.text())
def test_a_quotation_has_no_unmarked_line(text: str) -> None:
    label, *lines = quote("It said:", text).splitlines()
    assert label == "It said:"
    assert lines
    assert all(line.startswith(">") for line in lines)
