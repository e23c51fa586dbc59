"""The JSON of a failure report: it round-trips, and invalid input is rejected."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any

import pytest
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_report import FailureReport
from duecourse.domain.origin import Origin
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders.moments import NOW
from tests.support.builders.tasks import ID

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
scalars |= st.sampled_from(["2026-02-17T12:00:00Z", "9999-12-31T23:59:59-23:59", "\ud800", 10**400])
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
)
NAMES = ("task_id", "run_id", "failed_at", "origin", "failure")
report_like = st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, json_values))


def a_report(**fields: Any) -> FailureReport:
    failure = Failure.create("no route", type="T", code="C", status=503, retry_after=7, phase="p")
    defaults = {"task_id": ID, "run_id": "run-1", "failure": failure, "failed_at": NOW}
    return FailureReport(**{**defaults, **fields})


def report_json(**fields: Any) -> dict[str, Any]:
    return {**a_report().to_json(), **fields}


@pytest.mark.parametrize("origin", Origin)
def test_a_report_round_trips_through_json(origin: Origin) -> None:
    report = a_report(origin=origin)
    assert FailureReport.from_json(json.loads(json.dumps(report.to_json()))) == report


def test_a_report_is_sent_as_plain_json() -> None:
    assert a_report(failure=Failure.create("boom")).to_json() == {
        "task_id": ID,
        "run_id": "run-1",
        "failed_at": "2026-02-17T12:00:00.000Z",
        "origin": "work",
        "effect": "none",
        "failure": {"message": "boom"},
    }


@pytest.mark.parametrize(
    "value", [None, True, 5, 1.5, "", "task_id", [], [1], {}, {"task_id": ID}, [["failure", {}]]]
)
def test_a_value_that_is_not_a_report_is_rejected(value: Any) -> None:
    with pytest.raises(ValueError, match="not a failure report"):
        FailureReport.from_json(value)


@pytest.mark.parametrize("name", ["task_id", "run_id", "failed_at", "failure"])
def test_a_report_without_a_required_field_is_rejected(name: str) -> None:
    incomplete = {key: value for key, value in report_json().items() if key != name}
    with pytest.raises(ValueError, match="not a failure report"):
        FailureReport.from_json(incomplete)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("task_id", 5),
        ("task_id", None),
        ("run_id", []),
        ("failed_at", "soon"),
        ("failed_at", 5),
        ("failed_at", "9999-12-31T23:59:59-23:59"),
        ("failure", "boom"),
        ("failure", [["message", "boom"]]),
        ("failure", None),
    ],
)
def test_a_report_with_an_invalid_field_is_rejected(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match="not a failure report"):
        FailureReport.from_json(report_json(**{name: value}))


@pytest.mark.parametrize("value", [None, "yes", 1, [True], {"crash": True}])
def test_an_invalid_origin_is_rejected(value: Any) -> None:
    with pytest.raises(ValueError, match="not a failure report"):
        FailureReport.from_json(report_json(origin=value))


def test_a_report_without_an_origin_has_the_origin_work() -> None:
    without_origin = {name: value for name, value in report_json().items() if name != "origin"}
    assert FailureReport.from_json(without_origin).origin is Origin.WORK


@pytest.mark.parametrize("code", ["subject_gave_up", "not_attempted", "worker_vanished"])
def test_an_error_code_does_not_set_the_origin(code: str) -> None:
    assert a_report(failure=Failure.create("boom", code=code)).origin is Origin.WORK


@pytest.mark.parametrize(
    "failure",
    [{"status": "many"}, {"retry_after": 10**400}, {"code": [1]}, {"message": None}],
    ids=["status", "retry_after", "code", "message"],
)
def test_invalid_evidence_does_not_reject_the_report(failure: dict[str, Any]) -> None:
    assert FailureReport.from_json(report_json(failure=failure)).task_id == ID


def test_a_secret_in_a_report_is_redacted() -> None:
    report = FailureReport.from_json(report_json(failure={"message": "token=hunter22"}))
    assert report.failure.message == "token=[redacted]"


@pytest.mark.parametrize("depth", [100, 500, 900, 950, 990])
def test_a_deeply_nested_message_is_loaded_or_rejected(depth: int) -> None:
    try:
        value = json.loads("[" * depth + "]" * depth)
    except RecursionError:
        return  # a queue cannot deliver such a message
    with suppress(ValueError):
        FailureReport.from_json(report_json(failure={"message": value}))


@given(value=json_values | report_like)
def test_any_json_is_a_report_or_rejected(value: Any) -> None:
    with suppress(ValueError):
        FailureReport.from_json(value)
