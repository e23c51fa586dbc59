"""Matching of phrases with wildcards and numbers."""

from __future__ import annotations

import pytest
from duecourse.domain.failures.classifier.phrase import Phrase, SearchText


def contains(phrase: str, text: str) -> bool:
    return Phrase.parse(phrase).is_in(SearchText(text))


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("connection refused", "dial tcp: Connection  Refused."),
        ("connection refused", "(connection\nrefused)"),  # a wrapped line
        ("error TS#", "a.ts(1,2): error TS2304: Cannot find name"),
        ("error TS####", "error TS7: x"),  # several # match one number
        ("tide#high", "tide12high"),  # a number within a word
        ("timed out after *", "timed out after"),
        ("could not find * in any", "Could not find gem 'puma' in any of the sources"),
        ("got * want *", "got 3, want 4"),
        ("exit code 137", "exit code 137"),
        ("don't know", "I don’t know"),  # typographic apostrophe
        ("找不到符号", "错误:找不到符号类"),  # no blanks between words
        ("нет такого файла", "Нет такого файла или каталога"),
        ("[ failed ]", "[  FAILED  ] Tide.Rises"),
        ("# test, # failure", "1 test, 3 failures"),
        ("open files", "an open file"),  # singular and plural both match
        ("open file", "too many open files"),
        ("cannot find -l*", "ld: cannot find -ltide"),
        ("timeout", "a timeout. The next"),
    ],
)
def test_a_phrase_is_found(phrase: str, text: str) -> None:
    assert contains(phrase, text)


@pytest.mark.parametrize(
    ("phrase", "text"),
    [
        ("timeout", "timeouts"),
        ("timeout", "a branch called timeout-429"),
        ("timeout", "lib/timeout.py"),
        ("timeout", "timeout.py"),
        ("timeout", "KeyError: 'timeout'"),  # a quoted name
        ("open files", "an open filesystem"),
        ("timeout", "set_timeout"),
        ("connection refused", "connection was refused"),
        ("error TS#", "error TSX"),
        ("exit code 13", "exit code 137"),
        ("a * b", "a" + " x" * 31 + " b"),  # 62 characters between them
        ("got * want *", "got 3\nwant 4"),  # a wildcard stays on its line
        ("got * want", "want 3, got 4"),
    ],
)
def test_a_phrase_is_not_found(phrase: str, text: str) -> None:
    assert not contains(phrase, text)


def test_a_wildcard_matches_up_to_60_characters() -> None:
    assert contains("a * b", "a " + "-" * 58 + " b")
    assert not contains("a * b", "a " + "-" * 59 + " b")


def test_a_wildcard_starts_from_any_earlier_match() -> None:
    gap = "-" * 70
    assert contains("a * b * c", f"a b {gap} a b c {gap} c")


def test_a_wildcard_attached_to_a_word_matches_its_rest() -> None:
    assert contains("cannot read propert*", "Cannot read properties of undefined")
    assert not contains("cannot read propert *", "Cannot read properties of undefined")


@pytest.mark.parametrize(
    ("phrase", "message"), [("a * b * c * d", "at most 2 wildcards"), ("*: #", "must hold a word")]
)
def test_an_invalid_phrase_is_rejected(phrase: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Phrase.parse(phrase)
