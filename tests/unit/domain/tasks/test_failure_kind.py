"""Kinds of failures, what clears them, and kinds that only newer code knows."""

from __future__ import annotations

import pytest
from duecourse.domain.tasks.failure_kind import ClearsBy, Kind
from duecourse.domain.tasks.run_diagnosis import Guess, RunDiagnosis


def test_only_an_unknown_failure_has_an_unknown_remedy() -> None:
    assert [kind for kind in Kind if kind.clears_by is None] == [Kind.UNKNOWN]


def test_only_access_is_cleared_by_a_person() -> None:
    by_person = [kind for kind in Kind if kind.clears_by is ClearsBy.PERSON]
    assert by_person == [Kind.AUTH, Kind.PERMISSION]


@pytest.mark.parametrize("kind", Kind)
def test_a_stored_diagnosis_keeps_its_kind(kind: Kind) -> None:
    note = RunDiagnosis(kind=kind, likely=Guess("timeout", kind))
    assert RunDiagnosis.from_stored(note.to_stored()) == note


def test_a_kind_of_newer_code_is_read_as_unknown() -> None:
    stored = {"kind": "gravity", "likely": {"category": "timeout", "kind": "gravity"}}
    note = RunDiagnosis.from_stored(stored)
    assert note.kind is Kind.UNKNOWN
    assert note.likely == Guess("timeout", Kind.UNKNOWN)


def test_a_diagnosis_stored_before_there_were_kinds_has_none() -> None:
    assert RunDiagnosis.from_stored({}).kind is None
