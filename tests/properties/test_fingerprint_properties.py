"""Properties of the fingerprint of any failure."""

from __future__ import annotations

import time
from datetime import datetime
from typing import Any

import pytest
from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.failures.classifier.fingerprint import FINGERPRINT_PATTERN, fingerprint_of
from duecourse.domain.failures.failure import Failure
from hypothesis import given
from hypothesis import strategies as st

from bench.classify import hostile_messages

LIMIT_SECONDS = 0.05
FRAGMENTS = [
    "Error:",
    "at f (a.js:1:2)",
    'File "a.py", line 1',
    "\n",
    "'",
    '"',
    "{",
    "/",
    "#1",
    "-1a",
]
texts = st.one_of(
    st.text(), st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text())).map(" ".join)
)
evidence = st.fixed_dictionaries(
    {
        "type": st.none() | st.text(),
        "code": st.none() | st.text() | st.integers(),
        "status": st.none() | st.integers(0, 999),
    }
)
names = st.text("abcdefghijklmnopqrstuvwxyz_-", min_size=1, max_size=30)
moments = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1))  # noqa: DTZ001 - as logs do
hexadecimal = st.text("0123456789abcdef", min_size=2, max_size=30)
# The placeholder differs every time.
TEMPLATES: dict[str, st.SearchStrategy[Any]] = {
    "it took {} ms": st.integers(0, 10**12),
    "no answer after {} seconds": st.floats(0, 1e6).map(lambda seconds: f"{seconds:.3f}"),
    "job {} is gone": st.uuids(),
    "at {} it broke": moments.map(lambda moment: f"{moment:%Y-%m-%d %H:%M:%S}"),
    "since {} it is broken": moments.map(lambda moment: f"{moment:%a, %d %b %Y %H:%M:%S}"),
    "address {} is not there": st.ip_addresses(v=4),
    "the name '{}' is taken": names,
    'the key "{}" is missing': names,
    "the pointer {} is wild": st.integers(0, 2**64).map(hex),
    "commit 7{}a1 is lost": hexadecimal,
    "cannot read /{}/conf.toml": st.lists(names, min_size=1).map("/".join),
    "cannot reach https://{}": st.lists(names, min_size=1).map(".test/".join),
    "broken.py:{}: oh no": st.integers(1, 10**6),
}
templates = st.sampled_from(sorted(TEMPLATES))
# The quoted text is all that identifies the error.
QUOTING_TEMPLATES = [
    "RuntimeError('{}')",
    'worker "a" died: ConnectionError("{}")',
    'Error: "{}"',
    "Tool said '{}'",
    '{{"err": "{}"}}',
    '{{"cause": "{}", "user": "ada"}}',
    "“{}”",
]
quoting_templates = st.sampled_from(QUOTING_TEMPLATES)
CAUSES = ["invalid token", "disk full", "rate limited", "cannot find name foo", "timed out"]
causes = st.sampled_from(CAUSES)
VARIABLE_PARTS: list[st.SearchStrategy[str]] = [
    st.integers(0, 10**9).map(lambda number: f"at row {number}"),
    st.uuids().map(lambda job: f"in job {job}"),
    st.ip_addresses(v=4).map(lambda address: f"from {address}"),
    names.map(lambda name: f"for /home/{name}/conf.toml"),
]


def failure_from(template: str, value: Any) -> Failure:
    return Failure.create(f"FATAL: {template.format(value)}, giving up")


@given(message=texts, evidence=evidence)
def test_any_failure_has_a_fingerprint(message: str, evidence: dict[str, Any]) -> None:
    assert FINGERPRINT_PATTERN.fullmatch(fingerprint_of(Failure.create(message, **evidence)))


@given(message=texts, evidence=evidence)
def test_the_stored_summary_has_the_same_fingerprint(
    message: str, evidence: dict[str, Any]
) -> None:
    failure = Failure.create(message, **evidence)
    stored = Failure.create(
        failure.summary, type=failure.type, code=failure.code, status=failure.status
    )
    assert fingerprint_of(stored) == fingerprint_of(failure)


@given(template=templates, data=st.data())
def test_variable_parts_do_not_change_the_fingerprint(template: str, data: st.DataObject) -> None:
    first, second = (failure_from(template, data.draw(TEMPLATES[template])) for _ in range(2))
    assert fingerprint_of(first) == fingerprint_of(second)


@given(first_template=templates, second_template=templates, data=st.data())
def test_different_messages_have_different_fingerprints(
    first_template: str, second_template: str, data: st.DataObject
) -> None:
    fingerprints = [
        fingerprint_of(failure_from(template, data.draw(TEMPLATES[template])))
        for template in (first_template, second_template)
    ]
    assert (fingerprints[0] == fingerprints[1]) == (first_template == second_template)


@given(template=quoting_templates, first_cause=causes, second_cause=causes, data=st.data())
def test_quoted_causes_distinguish_errors_and_their_variable_parts_do_not(
    template: str, first_cause: str, second_cause: str, data: st.DataObject
) -> None:
    variable_part = data.draw(st.sampled_from(VARIABLE_PARTS))
    fingerprints = [
        fingerprint_of(Failure.create(template.format(f"{cause} {data.draw(variable_part)}")))
        for cause in (first_cause, second_cause)
    ]
    assert (fingerprints[0] == fingerprints[1]) == (first_cause == second_cause)


@given(
    template=st.sampled_from(["SQLSTATE[{}] in row {}", "error code {} at {}", "E{} at {}"]),
    codes=st.tuples(*[st.integers(10_000, 99_999)] * 2),
    numbers=st.tuples(*[st.integers(0, 10**9)] * 2),
)
def test_error_codes_distinguish_errors_and_other_numbers_do_not(
    template: str, codes: tuple[int, int], numbers: tuple[int, int]
) -> None:
    fingerprints = [
        fingerprint_of(Failure.create(template.format(code, number)))
        for code, number in zip(codes, numbers, strict=True)
    ]
    assert (fingerprints[0] == fingerprints[1]) == (codes[0] == codes[1])


@given(name=st.sampled_from(["type", "code", "status"]), template=templates, data=st.data())
def test_type_code_and_status_distinguish_errors(
    name: str, template: str, data: st.DataObject
) -> None:
    message = template.format(data.draw(TEMPLATES[template]))
    base = {"type": "TimeoutError", "code": "ETIMEDOUT", "status": 504}
    changed = {"type": "ValueError", "code": "ENOENT", "status": 500}
    fingerprints = {
        fingerprint_of(Failure.create(message, **evidence))
        for evidence in (base, {**base, name: changed[name]}, {**base, name: None})
    }
    assert len(fingerprints) == 3


def test_a_megabyte_is_fingerprinted_in_time() -> None:
    """Measure processor time and take the better of two runs."""
    hostile = [character * 1_000_000 for character in "a1/'\"{-:.#[ \n@"]
    for message in (*hostile, *hostile_messages(read_policies()["agent"])):
        failure = Failure(message=message)
        assert min(_seconds(failure) for _ in range(2)) < LIMIT_SECONDS, message[:60]


@pytest.mark.parametrize("unit", ["a1", "1a-", "'a", "a/", "1.", "1 ", "ab:", "a.b@", "1s", "{'"])
def test_a_repetitive_summary_is_fingerprinted_in_time(unit: str) -> None:
    failure = Failure(message=unit * (1_000 // len(unit)))
    assert min(_seconds(failure) for _ in range(2)) < LIMIT_SECONDS


def _seconds(failure: Failure) -> float:
    started_at = time.process_time()
    fingerprint_of(failure)
    return time.process_time() - started_at
