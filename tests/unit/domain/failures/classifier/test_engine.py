"""The classification of failures by rules, and the order in which rules apply."""

from __future__ import annotations

import pytest
from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.policy import DEFAULT_MIN_CONFIDENCE
from duecourse.domain.failures.policy_loader import load_policies
from duecourse.domain.tasks.run_diagnosis import Location

from tests.support.builders.failures import share_of

POLICIES = read_policies()


def classify(message: str, policy: str = "agent", **evidence: object) -> Diagnosis:
    return diagnose(Failure.create(message, **evidence), POLICIES[policy])


@pytest.mark.parametrize(
    ("code", "agent", "enrichment"),
    [
        ("budget_exceeded", "budget_exceeded", "budget_exceeded"),
        ("worker_vanished", "transient", "unknown"),
        ("function_timeout", "timeout", "network_timeout"),
        ("function_throttled", "transient", "network_timeout"),
        ("no_outcome", "unknown", "unknown"),
    ],
)
def test_duecourse_codes_are_classified(code: str, agent: str, enrichment: str) -> None:
    assert classify("it broke", code=code).category == agent
    assert classify("it broke", "omega", code=code).category == agent
    assert classify("it broke", "enrichment", code=code).category == enrichment


def test_well_known_patterns_are_classified() -> None:
    compile_error = classify('file.ts(45,12): error TS2304: Cannot find name "foo"')
    assert compile_error.category == "code_error"
    assert compile_error.location == Location("file.ts", 45)
    assert compile_error.confidence >= 0.8
    test_error = classify("Test failed: expect(received).toEqual(expected)")
    assert test_error.category == "test_failure"
    assert test_error.confidence >= 0.8
    network_error = classify("connect ETIMEDOUT 10.0.0.1:443", code="ETIMEDOUT")
    assert network_error.category == "transient"
    assert network_error.confidence >= 0.8


def test_a_local_command_timeout_is_not_a_network_error() -> None:
    assert classify("Error: spawnSync /bin/sh ETIMEDOUT", code="ETIMEDOUT").category == "timeout"


def test_an_unknown_error_has_the_fallback_category() -> None:
    unknown = classify("the frobnicator is sad")
    assert (unknown.category, unknown.pattern) == ("unknown", "unknown")
    assert unknown.confidence == share_of("unknown") < DEFAULT_MIN_CONFIDENCE
    assert unknown.fix == POLICIES["agent"].fallback_category.fix


def test_an_invalid_api_key_does_not_blame_the_subject() -> None:
    assert not classify("Incorrect API key provided", "enrichment", status=401).blames_subject
    assert classify("This model's maximum context length is 9 tokens", "enrichment").blames_subject


def test_the_fix_is_the_rules_or_the_categorys() -> None:
    assert "inotify" in classify("System limit for number of file watchers reached").fix
    resource_exhaustion = POLICIES["agent"].categories["resource_exhaustion"]
    assert classify("it broke", code="ENOMEM").fix == resource_exhaustion.fix


@pytest.mark.parametrize(
    ("message", "category"),
    [
        ("error: pathspec 'timeout-429' did not match any file(s) known to git", "unknown"),
        ("quay_test.go:3:5: undefined: TestNetworkError", "code_error"),
        ("TypeError: f is not a function\n    at f (/srv/timeout.js:429:5)", "code_error"),
        ("NameError: name 'connection_refused' is not defined", "code_error"),
        ("cannot find symbol\n  symbol: class OutOfMemoryError", "code_error"),
        (
            "a.js:1\n  no space left on device()\n  ^\n\nTypeError: x is not a function",
            "code_error",
        ),
        ("FAILED tests/test_net.py::test_x - ConnectionRefusedError: refused", "test_failure"),
        ("HTTP Error 404: Not Found for https://a.example/503/rate-limit-exceeded", "unknown"),
    ],
)
def test_misleading_words_do_not_change_the_category(message: str, category: str) -> None:
    assert classify(message).category == category


def test_the_last_exception_outranks_earlier_log_lines() -> None:
    message = (
        "Connection refused. Retrying 1/3\n"
        "Traceback (most recent call last):\n"
        '  File "poll.py", line 3, in poll\n'
        "    reply.json()\n"
        "AttributeError: 'NoneType' object has no attribute 'json'"
    )
    assert classify(message).category == "code_error"


RULES = """
about = "x"
limits = "runs"
max_retries = 3
fallback = "none"
[categories]
none = {}
a = {}
b = {}
c = {}
[[rules]]
id = "words"
category = "a"
says = "tide is high"
example = "the tide is high"
[[rules]]
id = "status"
category = "b"
status = "5xx"
example = { message = "x", status = 503 }
[[rules]]
id = "both"
category = "c"
status = 503
says = ["spring tide"]
unless = ["not a spring tide"]
example = { message = "spring tide", status = 503 }
[[rules]]
id = "loose"
category = "a"
where = "text"
says = "neap"
example = "neap"
[[rules]]
id = "resort"
category = "b"
tier = "last"
exit = 3
example = "exit code 3"
"""


@pytest.mark.parametrize(
    ("message", "status", "rule"),
    [
        ("the tide is high", 500, "status"),  # structure beats words
        ("the tide is high", None, "words"),
        ("spring tide", 503, "both"),  # both together beat either
        ("spring tide", None, "unknown"),
        ("not a spring tide", 503, "status"),
        ("neap\nTideError: exit code 3", None, "loose"),
        ("TideError: exit code 3", None, "resort"),
    ],
)
def test_rules_are_applied_in_order_of_evidence(
    message: str, status: int | None, rule: str
) -> None:
    policy = load_policies({"own.toml": RULES})["own"]
    assert diagnose(Failure.create(message, status=status), policy).pattern == rule


def test_words_in_surrounding_log_lines_have_less_confidence() -> None:
    policy = load_policies({"own.toml": RULES})["own"]
    log = "the tide is high\n" + 'Traceback (most recent call last):\n  File "a.py", line 1\nXError'
    diagnosis = diagnose(Failure.create(log), policy)
    assert (diagnosis.pattern, diagnosis.confidence) == ("words", 0.8)
