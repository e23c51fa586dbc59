"""What holds for the fingerprint of any failure."""

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
WORDS = ["Error:", "at f (a.js:1:2)", 'File "a.py", line 1', "\n", "'", '"', "{", "/", "#1", "-1a"]
texts = st.one_of(st.text(), st.lists(st.one_of(st.sampled_from(WORDS), st.text())).map(" ".join))
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
# What each tells of differs every time.
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
# What stands there is all that tells what happened.
QUOTING = [
    "RuntimeError('{}')",
    'worker "a" died: ConnectionError("{}")',
    'Error: "{}"',
    "Tool said '{}'",
    '{{"err": "{}"}}',
    '{{"cause": "{}", "user": "ada"}}',
    "“{}”",
]
quoting = st.sampled_from(QUOTING)
HAPPENED = ["invalid token", "disk full", "rate limited", "cannot find name foo", "timed out"]
happened = st.sampled_from(HAPPENED)
PLACES: list[st.SearchStrategy[str]] = [
    st.integers(0, 10**9).map(lambda number: f"at row {number}"),
    st.uuids().map(lambda job: f"in job {job}"),
    st.ip_addresses(v=4).map(lambda address: f"from {address}"),
    names.map(lambda name: f"for /home/{name}/conf.toml"),
]


def said(template: str, told: Any) -> Failure:
    return Failure.create(f"FATAL: {template.format(told)}, giving up")


@given(message=texts, evidence=evidence)
def test_any_failure_has_one(message: str, evidence: dict[str, Any]) -> None:
    assert FINGERPRINT_PATTERN.fullmatch(fingerprint_of(Failure.create(message, **evidence)))


@given(message=texts, evidence=evidence)
def test_one_made_of_what_is_kept_is_the_same(message: str, evidence: dict[str, Any]) -> None:
    failure = Failure.create(message, **evidence)
    kept = Failure.create(
        failure.summary, type=failure.type, code=failure.code, status=failure.status
    )
    assert fingerprint_of(kept) == fingerprint_of(failure)


@given(template=templates, data=st.data())
def test_what_differs_every_time_does_not_matter(template: str, data: st.DataObject) -> None:
    one, other = (said(template, data.draw(TEMPLATES[template])) for _ in range(2))
    assert fingerprint_of(one) == fingerprint_of(other)


@given(one=templates, other=templates, data=st.data())
def test_what_happened_does(one: str, other: str, data: st.DataObject) -> None:
    prints = [fingerprint_of(said(each, data.draw(TEMPLATES[each]))) for each in (one, other)]
    assert (prints[0] == prints[1]) == (one == other)


@given(template=quoting, one=happened, other=happened, data=st.data())
def test_what_is_quoted_tells_errors_apart_and_what_varies_in_it_does_not(
    template: str, one: str, other: str, data: st.DataObject
) -> None:
    where = data.draw(st.sampled_from(PLACES))
    prints = [
        fingerprint_of(Failure.create(template.format(f"{what} {data.draw(where)}")))
        for what in (one, other)
    ]
    assert (prints[0] == prints[1]) == (one == other)


@given(
    template=st.sampled_from(["SQLSTATE[{}] in row {}", "error code {} at {}", "E{} at {}"]),
    codes=st.tuples(*[st.integers(10_000, 99_999)] * 2),
    numbers=st.tuples(*[st.integers(0, 10**9)] * 2),
)
def test_codes_tell_errors_apart_and_other_numbers_do_not(
    template: str, codes: tuple[int, int], numbers: tuple[int, int]
) -> None:
    prints = [
        fingerprint_of(Failure.create(template.format(code, number)))
        for code, number in zip(codes, numbers, strict=True)
    ]
    assert (prints[0] == prints[1]) == (codes[0] == codes[1])


@given(name=st.sampled_from(["type", "code", "status"]), template=templates, data=st.data())
def test_so_does_what_is_structured(name: str, template: str, data: st.DataObject) -> None:
    message = template.format(data.draw(TEMPLATES[template]))
    known = {"type": "TimeoutError", "code": "ETIMEDOUT", "status": 504}
    other = {"type": "ValueError", "code": "ENOENT", "status": 500}
    prints = {
        fingerprint_of(Failure.create(message, **evidence))
        for evidence in (known, {**known, name: other[name]}, {**known, name: None})
    }
    assert len(prints) == 3


def test_no_megabyte_takes_long() -> None:
    """In processor time, the better of two: another program's turn is not ours."""
    hostile = [character * 1_000_000 for character in "a1/'\"{-:.#[ \n@"]
    for message in (*hostile, *hostile_messages(read_policies()["agent"])):
        failure = Failure(message=message)
        assert min(_seconds(failure) for _ in range(2)) < LIMIT_SECONDS, message[:60]


@pytest.mark.parametrize("unit", ["a1", "1a-", "'a", "a/", "1.", "1 ", "ab:", "a.b@", "1s", "{'"])
def test_no_pattern_of_a_summarys_length_takes_long(unit: str) -> None:
    failure = Failure(message=unit * (1_000 // len(unit)))
    assert min(_seconds(failure) for _ in range(2)) < LIMIT_SECONDS


def _seconds(failure: Failure) -> float:
    began = time.process_time()
    fingerprint_of(failure)
    return time.process_time() - began
