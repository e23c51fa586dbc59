"""The subject of an e-mail is valid for SNS, whatever somebody wrote."""

from __future__ import annotations

import pytest
from duecourse.adapters.channels.email.subject import MAX_SUBJECT_LENGTH, to_subject
from hypothesis import given
from hypothesis import strategies as st


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("Reminder: call the bank", "Reminder: call the bank"),
        ("Reminder: a\tb\x1b[31m c", "Reminder: a b?[31m c"),
        ("Reminder: café à Orléans", "Reminder: cafe a Orleans"),
        ("Reminder: 水を飲む", "Reminder: ?"),
        ("\n\n  Reminder: x", "Reminder: x"),
        ("", "Message"),
    ],
)
def test_the_subject_is_the_first_line_in_ascii(text: str, subject: str) -> None:
    assert to_subject(text) == subject


@pytest.mark.parametrize("line_break", ["\n", "\r\n", "\r", "\x0b", "\x85", "\u2028"])
def test_a_line_break_cannot_add_a_header(line_break: str) -> None:
    subject = to_subject(f"Reminder: x{line_break}Bcc: eve@example.com")
    assert subject == "Reminder: x"


def test_a_long_text_is_cut() -> None:
    subject = to_subject("Reminder: " + "x" * 4_000)
    assert len(subject) == MAX_SUBJECT_LENGTH
    assert subject.endswith("x...")


def test_a_secret_is_redacted() -> None:
    assert "hunter2hunter2" not in to_subject("Reminder: log in with password=hunter2hunter2")


@given(text=st.text(max_size=300))
def test_every_subject_is_valid_for_sns(text: str) -> None:
    subject = to_subject(text)
    assert 0 < len(subject) < 100
    assert subject.isascii()
    assert subject.isprintable()
    assert subject[0] != " "
