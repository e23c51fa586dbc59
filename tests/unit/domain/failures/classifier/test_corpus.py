"""Labelled messages of many kinds of software, written for this test in its formats."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure import Failure

CORPUS = Path(__file__).parents[4] / "corpus"
POLICIES = read_policies()


def rows(label: str) -> list[dict[str, Any]]:
    lines = (CORPUS / f"{label}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def diagnosis(row: dict[str, Any], policy: str) -> Diagnosis:
    evidence = {name: row[name] for name in ("type", "code", "status")}
    return diagnose(Failure.create(row["message"], **evidence), POLICIES[policy])


@pytest.mark.parametrize(("label", "policy"), [("agent", "agent"), ("provider", "enrichment")])
def test_nearly_all_are_understood(label: str, policy: str) -> None:
    missed = [
        f"{row['id']}: {row[label]}, but {found.category} by {found.pattern}"
        for row in rows(label)
        if (found := diagnosis(row, policy)).category not in (row[label], *row["also_ok"][label])
    ]
    assert len(missed) <= 0.05 * len(rows(label)), "\n".join(missed)


def test_nearly_all_places_are_found() -> None:
    placed = [row for row in rows("agent") if row["location"]]
    missed = [
        f"{row['id']}: {row['location']}, but {place}"
        for row in placed
        if (place := diagnosis(row, "agent").location) is None
        or {"file": place.file, "line": place.line} != row["location"]
    ]
    assert len(missed) <= 0.1 * len(placed), "\n".join(missed)
