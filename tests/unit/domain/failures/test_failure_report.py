"""A failure on its way: what goes in comes out, and what is no report is refused as such."""

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

plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
plain |= st.sampled_from(["2026-02-17T12:00:00Z", "9999-12-31T23:59:59-23:59", "\ud800", 10**400])
anything = st.recursive(
    plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
)
NAMES = ("task_id", "run_id", "failed_at", "origin", "failure")
nearly = st.fixed_dictionaries({}, optional=dict.fromkeys(NAMES, anything))


def a_report(**fields: Any) -> FailureReport:
    failure = Failure.create("no route", type="T", code="C", status=503, retry_after=7, phase="p")
    defaults = {"task_id": ID, "run_id": "run-1", "failure": failure, "failed_at": NOW}
    return FailureReport(**{**defaults, **fields})


def raw(**fields: Any) -> dict[str, Any]:
    return {**a_report().to_json(), **fields}


@pytest.mark.parametrize("origin", Origin)
def test_a_report_survives_its_way_through_a_queue(origin: Origin) -> None:
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
    "nonsense", [None, True, 5, 1.5, "", "task_id", [], [1], {}, {"task_id": ID}, [["failure", {}]]]
)
def test_what_is_no_report_is_refused(nonsense: Any) -> None:
    with pytest.raises(ValueError, match="not a failure report"):
        FailureReport.from_json(nonsense)


@pytest.mark.parametrize("name", ["task_id", "run_id", "failed_at", "failure"])
def test_a_report_that_lacks_something_is_refused(name: str) -> None:
    short = {key: value for key, value in raw().items() if key != name}
    with pytest.raises(ValueError, match="not a failure report"):
        FailureReport.from_json(short)


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
def test_a_report_with_nonsense_in_it_is_refused(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match="not a failure report"):
        FailureReport.from_json(raw(**{name: value}))


@pytest.mark.parametrize("value", [None, "yes", 1, [True], {"crash": True}])
def test_an_origin_that_is_none_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="not a failure report"):
        FailureReport.from_json(raw(origin=value))


def test_a_report_without_an_origin_is_of_the_work() -> None:
    plain = {name: value for name, value in raw().items() if name != "origin"}
    assert FailureReport.from_json(plain).origin is Origin.WORK


@pytest.mark.parametrize("code", ["subject_gave_up", "not_attempted", "worker_vanished"])
def test_no_error_can_claim_an_origin_by_its_code(code: str) -> None:
    assert a_report(failure=Failure.create("boom", code=code)).origin is Origin.WORK


@pytest.mark.parametrize(
    "failure",
    [{"status": "many"}, {"retry_after": 10**400}, {"code": [1]}, {"message": None}],
    ids=["status", "retry_after", "code", "message"],
)
def test_evidence_that_makes_no_sense_does_not_cost_the_report(failure: dict[str, Any]) -> None:
    assert FailureReport.from_json(raw(failure=failure)).task_id == ID


def test_a_secret_in_a_message_on_the_queue_goes_no_further() -> None:
    report = FailureReport.from_json(raw(failure={"message": "token=hunter22"}))
    assert report.failure.message == "token=[redacted]"


@pytest.mark.parametrize("depth", [100, 500, 900, 950, 990])
def test_a_message_nested_ever_so_deep_is_taken_or_refused(depth: int) -> None:
    try:
        value = json.loads("[" * depth + "]" * depth)
    except RecursionError:
        return  # then no queue can bring it here
    with suppress(ValueError):
        FailureReport.from_json(raw(failure={"message": value}))


@given(value=anything | nearly)
def test_any_json_is_a_report_or_refused(value: Any) -> None:
    with suppress(ValueError):
        FailureReport.from_json(value)
