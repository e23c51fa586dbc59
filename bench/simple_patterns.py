"""Two simple classifiers that `make bench-waste` compares with the policies.

One searches words anywhere in the text and retries with the delays of `agent`. The other compares
code and status, searches a few phrases, and retries with the delays of `enrichment`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import timedelta

from duecourse.domain.failures.failure import Failure

from bench.waste_simulation import Incident, Step

# In this order: the first category with a pattern in the text decides.
_WORDS = {
    "transient": (
        "network|timeout|econnrefused|econnreset|rate limit|too many requests|429|503"
        "|socket hang up|etimedout"
    ),
    "code_error": (
        r"typescript|ts\d{4}|syntax error|parse error|compilation error|type error"
        "|cannot find name|has no exported member"
    ),
    "test_failure": "test.*fail|assertion.*fail|expect|toequal|tobe|jest|vitest",
    "timeout": "timeout|timed out",
    "resource_exhaustion": (
        "enomem|out of memory|enospc|no space left|cpu usage|resource exhausted"
    ),
    "dependency_missing": (
        "cannot find module|enoent|not found|missing.*import|unresolved.*import"
    ),
}
_PATTERNS = {name: re.compile(words, re.IGNORECASE) for name, words in _WORDS.items()}
_UNKNOWN = "unknown"
_MINUTES_BY_CATEGORY: dict[str, Sequence[float]] = {
    "transient": (0.5, 2, 5),
    "timeout": (5, 15, 30),
    "resource_exhaustion": (15, 30, 60),
}
_OTHER_MINUTES = (2, 5, 15)  # then a person is asked, whatever the category is

_MAX_RUNS = 3
_LONG_DELAY, _DELAY = timedelta(hours=24), timedelta(hours=12)
_FINAL = ("content_policy", "token_limit")
_DELAYS = {"rate_limit": _LONG_DELAY, "budget_exceeded": _LONG_DELAY}


def classify_by_words(text: str) -> str:
    return next((name for name, words in _PATTERNS.items() if words.search(text)), _UNKNOWN)


def classify_by_code(failure: Failure) -> str:
    text, code, status = failure.message.lower(), failure.code, failure.status or 0
    is_category = {
        "rate_limit": status == 429 or code == "rate_limit_exceeded",
        "budget_exceeded": code == "budget_exceeded" or "budget exceeded" in text,
        "network_timeout": code in ("ECONNRESET", "ETIMEDOUT") or status >= 500,
        "json_parse": "json parse failed" in text or "valid json" in text,
        "content_policy": code == "content_policy_violation" or "content policy" in text,
        "token_limit": code == "context_length_exceeded" or "maximum context" in text,
    }
    return next((name for name, matches in is_category.items() if matches), _UNKNOWN)


def retry_by_words(incident: Incident) -> Iterator[Step]:
    """Retry three times with the delays of the category, then ask a person."""
    category = classify_by_words(incident.failure.message)
    at = timedelta()
    for minutes in _MINUTES_BY_CATEGORY.get(category, _OTHER_MINUTES):
        at += timedelta(minutes=minutes)
        yield Step(at)
    yield Step(at, asks_person=True)


def retry_by_code(incident: Incident) -> Iterator[Step]:
    """Run three times at most, or once if the category is final. A used-up budget counts no run."""
    category = classify_by_code(incident.failure)
    if category in _FINAL:
        return
    at, runs = timedelta(), 1
    while runs < _MAX_RUNS:
        at += _DELAYS.get(category, _DELAY)
        yield Step(at)
        runs += category != "budget_exceeded"
