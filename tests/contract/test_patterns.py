"""Learned patterns: stored by policy and fingerprint, listed newest first, corrected and reset."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.patterns import DynamoPatterns
from duecourse.adapters.aws.dynamodb.stats import DynamoStats
from duecourse.domain.journal.learned_patterns import Correction, LearnedPattern, ObservedFailure
from duecourse.domain.tasks.adapted_delay import RetryOutcomes
from duecourse.domain.tasks.run import PreviousFailure
from duecourse.ports.journal import Patterns
from pynamodb.exceptions import UpdateError

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.testing.faults import Fault, Faults
from tests.support.builders.moments import DAY, MINUTE, NOW, parse_instant
from tests.support.fakes.patterns import MemoryPatterns

FINGERPRINT, OTHER_FINGERPRINT = "0123456789abcdef", "fedcba9876543210"
CORRECTION = Correction(
    category="transient",
    corrected_at=NOW + MINUTE,
    corrected_by="local",
    rule_category="code_error",
)


@pytest.fixture
def dynamo() -> DynamoPatterns:
    return DynamoPatterns()


@pytest.fixture(params=["dynamodb", "memory"])
def patterns(request: pytest.FixtureRequest, dynamo: DynamoPatterns) -> Patterns:
    return dynamo if request.param == "dynamodb" else MemoryPatterns()


def an_observation(**fields: Any) -> ObservedFailure:
    defaults: dict[str, Any] = {
        "policy": "agent",
        "fingerprint": FINGERPRINT,
        "category": "code_error",
    }
    return ObservedFailure(
        **{
            **defaults,
            "rule_category": "code_error",
            "example": "boom",
            "observed_at": NOW,
            **fields,
        }
    )


def a_previous_failure(**fields: Any) -> PreviousFailure:
    return PreviousFailure(
        **{"category": "code_error", "fingerprint": FINGERPRINT, "delay_seconds": 120, **fields}
    )


def find_pattern(
    patterns: Patterns, fingerprint: str = FINGERPRINT, *, now: datetime = NOW
) -> LearnedPattern:
    pattern = patterns.find("agent", fingerprint, now=now)
    assert pattern is not None
    return pattern


def read_expiry(fingerprint: str = FINGERPRINT) -> float:
    key = {"day": {"S": "patterns#agent"}, "counter": {"S": fingerprint}}
    item = boto3.client("dynamodb").get_item(TableName="StatsTable", Key=key)["Item"]
    return float(item["expires_at"]["N"])


def test_an_unobserved_failure_has_no_pattern(patterns: Patterns) -> None:
    patterns.record_observation(an_observation())
    assert patterns.find("agent", OTHER_FINGERPRINT, now=NOW) is None
    assert patterns.find("omega", FINGERPRINT, now=NOW) is None


def test_a_pattern_has_the_values_of_the_last_observation(patterns: Patterns) -> None:
    patterns.record_observation(an_observation())
    patterns.record_observation(
        an_observation(category="unknown", example="bang", observed_at=NOW + DAY)
    )
    assert find_pattern(patterns) == LearnedPattern(
        policy="agent",
        fingerprint=FINGERPRINT,
        category="unknown",
        rule_category="code_error",
        example="bang",
        last_seen_at=NOW + DAY,
        count=2,
    )


def test_retries_are_counted_with_the_previous_failure(patterns: Patterns) -> None:
    patterns.record_observation(an_observation())
    for has_succeeded in (True, False, True):
        patterns.record_retry("agent", a_previous_failure(), has_succeeded=has_succeeded, at=NOW)
    assert (find_pattern(patterns).retries_attempted, find_pattern(patterns).retries_succeeded) == (
        3,
        2,
    )
    assert patterns.get_retry_outcomes("agent", "code_error", now=NOW) == {120: RetryOutcomes(3, 2)}


def test_a_retry_after_an_expired_pattern_creates_none(patterns: Patterns) -> None:
    patterns.record_retry("agent", a_previous_failure(), has_succeeded=True, at=NOW)
    patterns.record_retry("agent", a_previous_failure(fingerprint=None), has_succeeded=True, at=NOW)
    assert patterns.list_newest("agent", limit=9, now=NOW) == []
    assert patterns.get_retry_outcomes("agent", "code_error", now=NOW) == {120: RetryOutcomes(2, 2)}


def test_a_retry_without_a_policy_delay_is_not_counted_by_delay(patterns: Patterns) -> None:
    patterns.record_observation(an_observation())
    patterns.record_retry(
        "agent", a_previous_failure(delay_seconds=None), has_succeeded=True, at=NOW
    )
    assert find_pattern(patterns).retries_attempted == 1
    assert patterns.get_retry_outcomes("agent", "code_error", now=NOW) == {}


def test_retry_outcomes_are_counted_by_policy_category_and_delay(patterns: Patterns) -> None:
    patterns.record_retry(
        "agent", a_previous_failure(delay_seconds=30), has_succeeded=False, at=NOW
    )
    patterns.record_retry(
        "agent",
        a_previous_failure(delay_seconds=300, category="timeout"),
        has_succeeded=True,
        at=NOW,
    )
    patterns.record_retry(
        "omega",
        a_previous_failure(delay_seconds=120, category="unknown"),
        has_succeeded=True,
        at=NOW,
    )
    assert patterns.get_all_retry_outcomes("agent", now=NOW) == {
        "code_error": {30: RetryOutcomes(1, 0)},
        "timeout": {300: RetryOutcomes(1, 1)},
    }
    assert patterns.get_retry_outcomes("agent", "timeout", now=NOW) == {300: RetryOutcomes(1, 1)}
    assert patterns.get_retry_outcomes("agent", "time", now=NOW) == {}


def test_retry_outcomes_cover_two_calendar_months(patterns: Patterns) -> None:
    for month in ("2025-12-31", "2026-01-01", "2026-02-28"):
        patterns.record_retry(
            "agent",
            a_previous_failure(),
            has_succeeded=True,
            at=parse_instant(f"{month}T23:00:00Z"),
        )
    february, march = parse_instant("2026-02-17T12:00:00Z"), parse_instant("2026-03-01T00:00:00Z")
    assert patterns.get_retry_outcomes("agent", "code_error", now=february) == {
        120: RetryOutcomes(2, 2)
    }
    assert patterns.get_retry_outcomes("agent", "code_error", now=march) == {
        120: RetryOutcomes(1, 1)
    }
    assert patterns.get_all_retry_outcomes("agent", now=march) == {
        "code_error": {120: RetryOutcomes(1, 1)}
    }


def test_recording_a_correction_twice_stores_it_once(patterns: Patterns) -> None:
    patterns.record_observation(an_observation())
    for _ in range(2):
        patterns.record_correction(an_observation(category="transient"), CORRECTION)
    pattern = find_pattern(patterns)
    assert (pattern.correction, pattern.count, pattern.rule_category) == (
        CORRECTION,
        1,
        "code_error",
    )


def test_a_correction_needs_no_earlier_observation(patterns: Patterns) -> None:
    patterns.record_correction(
        an_observation(category="transient"), replace(CORRECTION, corrected_by=None)
    )
    pattern = find_pattern(patterns)
    assert (pattern.correction, pattern.count) == (replace(CORRECTION, corrected_by=None), 0)
    assert patterns.list_newest("agent", limit=9, now=NOW) == [pattern]


def test_the_last_correction_applies(patterns: Patterns) -> None:
    patterns.record_correction(an_observation(), CORRECTION)
    patterns.record_correction(
        an_observation(), Correction(category="timeout", corrected_at=NOW + DAY)
    )
    assert find_pattern(patterns).correction == Correction(
        category="timeout", corrected_at=NOW + DAY
    )


def test_removing_a_correction_keeps_the_counts(
    patterns: Patterns,
) -> None:
    patterns.record_observation(an_observation())
    patterns.record_correction(an_observation(category="transient"), CORRECTION)
    assert patterns.remove_correction("agent", FINGERPRINT, now=NOW)
    assert not patterns.remove_correction("agent", FINGERPRINT, now=NOW)
    pattern = find_pattern(patterns)
    assert (pattern.correction, pattern.category, pattern.count) == (None, "code_error", 1)


def test_removing_a_missing_correction_changes_nothing(patterns: Patterns) -> None:
    assert not patterns.remove_correction("agent", FINGERPRINT, now=NOW)
    assert patterns.find("agent", FINGERPRINT, now=NOW) is None


def test_patterns_expire_and_corrected_ones_later(dynamo: DynamoPatterns) -> None:
    dynamo.record_observation(an_observation())
    assert read_expiry() == (NOW + 90 * DAY).timestamp()
    dynamo.record_correction(an_observation(), CORRECTION)
    assert read_expiry() == (CORRECTION.corrected_at + 400 * DAY).timestamp()
    dynamo.record_observation(an_observation(observed_at=NOW + 2 * DAY))
    assert (read_expiry(), find_pattern(dynamo).count) == ((NOW + 402 * DAY).timestamp(), 2)
    dynamo.remove_correction("agent", FINGERPRINT, now=NOW)
    assert read_expiry() == (NOW + 90 * DAY).timestamp()


def test_an_expired_pattern_that_still_exists_is_not_returned(patterns: Patterns) -> None:
    patterns.record_observation(an_observation())
    later = NOW + 90 * DAY
    assert patterns.find("agent", FINGERPRINT, now=later - MINUTE)
    assert patterns.find("agent", FINGERPRINT, now=later) is None
    assert patterns.list_newest("agent", limit=9, now=later) == []


def test_the_newest_patterns_are_listed_with_one_query(
    dynamo: DynamoPatterns, calls: CallInterceptor
) -> None:
    for n in range(30):
        dynamo.record_observation(
            an_observation(fingerprint=f"{n * 7 % 30:016x}", observed_at=NOW + n * MINUTE)
        )
    dynamo.record_observation(an_observation(policy="omega"))
    with attribute_calls_to("me"):
        newest = dynamo.list_newest("agent", limit=5, now=NOW)
    assert [pattern.last_seen_at for pattern in newest] == [
        NOW + n * MINUTE for n in (29, 28, 27, 26, 25)
    ]
    assert calls.counts == {("me", "dynamodb.Query"): 1}


def test_a_pattern_is_found_with_one_eventually_consistent_read(
    dynamo: DynamoPatterns, calls: CallInterceptor
) -> None:
    request_bodies: list[dict[str, Any]] = []
    calls.on_aws_call = lambda call: request_bodies.append(dict(call.body))
    dynamo.find("agent", FINGERPRINT, now=NOW)
    assert [body.get("ConsistentRead", False) for body in request_bodies] == [False]


def test_daily_statistics_exclude_patterns(dynamo: DynamoPatterns) -> None:
    dynamo.record_observation(an_observation())
    assert DynamoStats().read_counters(["2026-02-17"]) == []
    assert DynamoStats().list_repeated(since=NOW - DAY) == []


@pytest.mark.usefixtures("calls")
def test_an_error_other_than_a_conflict_is_raised(dynamo: DynamoPatterns, faults: Faults) -> None:
    invalid = {"code": "ValidationException", "status": 400}
    fault = Fault("dynamodb.UpdateItem", function="me", times=2, kind="error", error=invalid)
    faults.add(fault)
    with attribute_calls_to("me"), pytest.raises(UpdateError):
        dynamo.record_observation(an_observation())
    with attribute_calls_to("me"), pytest.raises(UpdateError):
        dynamo.record_retry("agent", a_previous_failure(), has_succeeded=True, at=NOW)
