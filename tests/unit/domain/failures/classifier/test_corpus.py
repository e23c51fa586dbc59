"""The classifier on a corpus of labelled messages in the formats of many programs."""

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


def corpus_rows(label: str) -> list[dict[str, Any]]:
    lines = (CORPUS / f"{label}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def diagnose_row(row: dict[str, Any], policy: str) -> Diagnosis:
    evidence = {name: row[name] for name in ("type", "code", "status")}
    return diagnose(Failure.create(row["message"], **evidence), POLICIES[policy])


@pytest.mark.parametrize(("label", "policy"), [("agent", "agent"), ("provider", "enrichment")])
def test_nearly_all_messages_are_classified_correctly(label: str, policy: str) -> None:
    missed = [
        f"{row['id']}: {row[label]}, but {diagnosis.category} by {diagnosis.pattern}"
        for row in corpus_rows(label)
        if (diagnosis := diagnose_row(row, policy)).category
        not in (row[label], *row["also_ok"][label])
    ]
    assert len(missed) <= 0.05 * len(corpus_rows(label)), "\n".join(missed)


def test_nearly_all_source_locations_are_found() -> None:
    located = [row for row in corpus_rows("agent") if row["location"]]
    missed = [
        f"{row['id']}: {row['location']}, but {location}"
        for row in located
        if (location := diagnose_row(row, "agent").location) is None
        or {"file": location.file, "line": location.line} != row["location"]
    ]
    assert len(missed) <= 0.1 * len(located), "\n".join(missed)
