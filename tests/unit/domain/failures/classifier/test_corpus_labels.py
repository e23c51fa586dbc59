"""The labelled messages in tests/corpus: valid labels, enough of them, and nothing private."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.tasks.failure_kind import Kind

CORPUS = Path(__file__).parents[4] / "corpus"
TUNED_FILES = ("agent", "provider", "more")  # rules are written and tuned by these
FILES = (*TUNED_FILES, "calibration", "held_out")
FIELDS = {
    *("id", "message", "type", "code", "status", "agent", "provider", "kind", "also_ok"),
    *("location", "ecosystem", "why"),
}
POLICIES = {"agent": "agent", "provider": "enrichment"}
ROWS: dict[str, list[dict[str, Any]]] = {
    name: [json.loads(line) for line in (CORPUS / f"{name}.jsonl").read_text("utf-8").splitlines()]
    for name in FILES
}
ALL_ROWS = [row for rows in ROWS.values() for row in rows]
HELD_OUT_ECOSYSTEMS = {
    *("azure", "elasticsearch", "gcp", "kafka", "local-llm", "mongo", "swift", "webhook"),
}
URL_HOST = re.compile(r"\w://(?:[^/@\s]*@)?([\w.-]+)")
MAIL_HOST = re.compile(r"\w@((?:[\w-]+\.)+[A-Za-z]{2,})\b")  # no version, as in tide@v1.4.0
INVENTED_HOST = re.compile(r"(?:.+\.)?example(?:\.org)?|localhost|[\d.]+|[^.]+")
# Prefixes of real keys, and runs of letters and digits that are as long as a key.
SECRET = re.compile(r"\b(?:sk-|ghp_|xox[bp]-|AKIA|AIza|eyJ)\w|\b(?=\w*\d)(?=\w*[A-Za-z])\w{33,}\b")


def test_rows_have_the_same_fields() -> None:
    assert [row["id"] for row in ALL_ROWS if set(row) != FIELDS] == []


def test_ids_and_messages_are_unique() -> None:
    for field in ("id", "message"):
        counts = Counter(row[field].strip() for row in ALL_ROWS)
        assert [value for value, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("label", ["agent", "provider"])
def test_categories_exist_in_the_policy(label: str) -> None:
    names = set(read_policies()[POLICIES[label]].categories)
    wrong = [
        row["id"]
        for row in ALL_ROWS
        if not {row[label], *row["also_ok"][label]} <= (names | {None})
        or row[label] in row["also_ok"][label]
        or (row[label] is None and row["also_ok"][label])
    ]
    assert wrong == []


def test_each_row_has_a_category() -> None:
    assert [row["id"] for row in ALL_ROWS if row["agent"] is row["provider"] is None] == []


def test_kinds_exist() -> None:
    wrong = [
        row["id"]
        for row in ALL_ROWS
        if not {row["kind"], *row["also_ok"]["kind"]} <= set(Kind)
        or row["kind"] in row["also_ok"]["kind"]
    ]
    assert wrong == []


def test_locations_occur_in_their_message() -> None:
    wrong = [
        row["id"]
        for row in ALL_ROWS
        if (place := row["location"])
        and not (place["file"] in row["message"] and str(place["line"]) in row["message"])
    ]
    assert wrong == []


def test_there_are_enough_messages() -> None:
    assert sum(len(ROWS[name]) for name in (*TUNED_FILES, "held_out")) >= 400
    assert len(ROWS["held_out"]) >= 150
    assert len(ROWS["calibration"]) >= 260


def test_every_kind_has_examples() -> None:
    # All errors of our own budgets have the same words, so that more of them would show nothing.
    names = (*TUNED_FILES, "held_out")
    counts = Counter(row["kind"] for name in names for row in ROWS[name])
    assert [kind for kind in Kind if kind is not Kind.BUDGET and counts[kind] < 8] == []


def test_every_kind_is_calibrated() -> None:
    counts = Counter(row["kind"] for row in ROWS["calibration"])
    assert [kind for kind in Kind if counts[kind] < 5] == []


def test_no_ecosystem_dominates_the_calibration() -> None:
    counts = Counter(row["ecosystem"] for row in ROWS["calibration"])
    assert [ecosystem for ecosystem, count in counts.items() if count > 15] == []


def test_kinds_that_need_precise_figures_are_held_out_often() -> None:
    counts = Counter(row["kind"] for row in ROWS["held_out"])
    kinds = (Kind.AUTH, Kind.PERMISSION, Kind.QUOTA, Kind.NOT_FOUND, Kind.INVALID_REQUEST)
    assert [kind for kind in kinds if counts[kind] < 14] == []


def test_no_rule_is_tuned_by_the_ecosystems_that_are_held_out() -> None:
    tuned = {row["ecosystem"] for name in TUNED_FILES for row in ROWS[name]}
    assert {row["ecosystem"] for row in ROWS["held_out"]} >= HELD_OUT_ECOSYSTEMS
    assert tuned & HELD_OUT_ECOSYSTEMS == set()


@pytest.mark.parametrize("pattern", [URL_HOST, MAIL_HOST])
def test_hosts_are_invented(pattern: re.Pattern[str]) -> None:
    hosts = {host for row in ALL_ROWS for host in pattern.findall(row["message"])}
    assert {host for host in hosts if not INVENTED_HOST.fullmatch(host)} == set()


def test_messages_contain_no_secrets() -> None:
    assert [row["id"] for row in ALL_ROWS if SECRET.search(row["message"])] == []
