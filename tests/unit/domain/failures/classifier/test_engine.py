from __future__ import annotations

import pytest
from duecourse.adapters.runtime.policy_files import read_policies
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.policy_loader import load_policies
from duecourse.domain.tasks.run_diagnosis import Location

POLICIES = read_policies()


def told(message: str, policy: str = "agent", **evidence: object) -> Diagnosis:
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
def test_the_codes_of_duecourse_itself(code: str, agent: str, enrichment: str) -> None:
    assert told("it broke", code=code).category == agent
    assert told("it broke", "omega", code=code).category == agent
    assert told("it broke", "enrichment", code=code).category == enrichment


def test_well_known_patterns() -> None:
    compiled = told('file.ts(45,12): error TS2304: Cannot find name "foo"')
    assert compiled.category == "code_error"
    assert compiled.location == Location("file.ts", 45)
    assert compiled.confidence >= 0.8
    tested = told("Test failed: expect(received).toEqual(expected)")
    assert tested.category == "test_failure"
    assert tested.confidence >= 0.8
    away = told("connect ETIMEDOUT 10.0.0.1:443", code="ETIMEDOUT")
    assert away.category == "transient"
    assert away.confidence >= 0.8


def test_a_local_command_that_took_too_long_is_no_network() -> None:
    assert told("Error: spawnSync /bin/sh ETIMEDOUT", code="ETIMEDOUT").category == "timeout"


def test_what_nothing_is_known_about() -> None:
    unknown = told("the frobnicator is sad")
    assert (unknown.category, unknown.pattern) == ("unknown", "unknown")
    assert unknown.confidence <= 0.5
    assert unknown.fix == POLICIES["agent"].fallback_category.fix


def test_the_keys_of_a_provider_blame_no_subject() -> None:
    assert not told("Incorrect API key provided", "enrichment", status=401).blames_subject
    assert told("This model's maximum context length is 9 tokens", "enrichment").blames_subject


def test_the_fix_is_the_rules_or_else_the_categorys() -> None:
    assert "inotify" in told("System limit for number of file watchers reached").fix
    exhausted = POLICIES["agent"].categories["resource_exhaustion"]
    assert told("it broke", code="ENOMEM").fix == exhausted.fix


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
def test_misleading_words_do_not_fool_it(message: str, category: str) -> None:
    assert told(message).category == category


def test_the_last_exception_beats_what_was_logged_before() -> None:
    message = (
        "Connection refused. Retrying 1/3\n"
        "Traceback (most recent call last):\n"
        '  File "poll.py", line 3, in poll\n'
        "    reply.json()\n"
        "AttributeError: 'NoneType' object has no attribute 'json'"
    )
    assert told(message).category == "code_error"


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
        ("spring tide", 503, "both"),  # and both beat either
        ("spring tide", None, "unknown"),
        ("not a spring tide", 503, "status"),
        ("neap\nTideError: exit code 3", None, "loose"),
        ("TideError: exit code 3", None, "resort"),
    ],
)
def test_the_order_in_which_rules_are_believed(message: str, status: int | None, rule: str) -> None:
    policy = load_policies({"own.toml": RULES})["own"]
    assert diagnose(Failure.create(message, status=status), policy).pattern == rule


def test_words_in_the_log_around_count_for_less() -> None:
    policy = load_policies({"own.toml": RULES})["own"]
    log = "the tide is high\n" + 'Traceback (most recent call last):\n  File "a.py", line 1\nXError'
    found = diagnose(Failure.create(log), policy)
    assert (found.pattern, found.confidence) == ("words", 0.72)
