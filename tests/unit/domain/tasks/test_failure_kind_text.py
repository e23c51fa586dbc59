"""The words for kinds of failures, in chat and on the dashboard."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from duecourse.domain.tasks.failure_kind import ClearsBy, Kind
from duecourse.domain.tasks.failure_kind_text import WORDS, describe_kind, name_kind

DASHBOARD_WORDS = Path("functions/api/dashboard/kinds.js")


def test_every_kind_has_a_name_of_its_own() -> None:
    assert WORDS.keys() == set(Kind)
    assert len({name_kind(kind) for kind in Kind}) == len(Kind)


@pytest.mark.parametrize("kind", Kind)
def test_there_is_advice_exactly_if_waiting_does_not_help(kind: Kind) -> None:
    is_waiting_enough = kind.clears_by in (None, ClearsBy.WAITING)
    assert (describe_kind(kind) == name_kind(kind)) is is_waiting_enough


def test_a_person_reads_what_to_do() -> None:
    assert describe_kind(Kind.PERMISSION) == "permission denied: a person has to grant access"
    assert describe_kind(Kind.NETWORK) == "network error"


def test_the_dashboard_uses_the_same_words() -> None:
    rows = re.findall(
        r'^  (\w+): \["(.+?)", "(.*?)"\],$', DASHBOARD_WORDS.read_text(), re.MULTILINE
    )
    assert {name: (word, advice) for name, word, advice in rows} == {
        str(kind): words for kind, words in WORDS.items()
    }
