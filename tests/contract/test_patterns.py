"""What was learnt is kept by policy and fingerprint, found newest first, forgotten when asked."""

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

PRINT, OTHER = "0123456789abcdef", "fedcba9876543210"
SAID = Correction(
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


def a_sighting(**fields: Any) -> ObservedFailure:
    defaults: dict[str, Any] = {"policy": "agent", "fingerprint": PRINT, "category": "code_error"}
    return ObservedFailure(
        **{
            **defaults,
            "rule_category": "code_error",
            "example": "boom",
            "observed_at": NOW,
            **fields,
        }
    )


def followed(**fields: Any) -> PreviousFailure:
    return PreviousFailure(
        **{"category": "code_error", "fingerprint": PRINT, "delay_seconds": 120, **fields}
    )


def found(patterns: Patterns, fingerprint: str = PRINT, *, now: datetime = NOW) -> LearnedPattern:
    pattern = patterns.find("agent", fingerprint, now=now)
    assert pattern is not None
    return pattern


def expiry_of(fingerprint: str = PRINT) -> float:
    key = {"day": {"S": "patterns#agent"}, "counter": {"S": fingerprint}}
    item = boto3.client("dynamodb").get_item(TableName="StatsTable", Key=key)["Item"]
    return float(item["expires_at"]["N"])


def test_what_was_never_seen_is_not_found(patterns: Patterns) -> None:
    patterns.record_observation(a_sighting())
    assert patterns.find("agent", OTHER, now=NOW) is None
    assert patterns.find("omega", PRINT, now=NOW) is None


def test_a_failure_is_found_as_it_was_seen_last(patterns: Patterns) -> None:
    patterns.record_observation(a_sighting())
    patterns.record_observation(
        a_sighting(category="unknown", example="bang", observed_at=NOW + DAY)
    )
    assert found(patterns) == LearnedPattern(
        policy="agent",
        fingerprint=PRINT,
        category="unknown",
        rule_category="code_error",
        example="bang",
        last_seen_at=NOW + DAY,
        count=2,
    )


def test_retries_are_counted_with_what_they_followed(patterns: Patterns) -> None:
    patterns.record_observation(a_sighting())
    for worked in (True, False, True):
        patterns.record_retry("agent", followed(), has_succeeded=worked, at=NOW)
    assert (found(patterns).retries_attempted, found(patterns).retries_succeeded) == (3, 2)
    assert patterns.get_retry_outcomes("agent", "code_error", now=NOW) == {120: RetryOutcomes(3, 2)}


def test_a_retry_after_something_forgotten_makes_up_no_pattern(patterns: Patterns) -> None:
    patterns.record_retry("agent", followed(), has_succeeded=True, at=NOW)
    patterns.record_retry("agent", followed(fingerprint=None), has_succeeded=True, at=NOW)
    assert patterns.list_newest("agent", limit=9, now=NOW) == []
    assert patterns.get_retry_outcomes("agent", "code_error", now=NOW) == {120: RetryOutcomes(2, 2)}


def test_a_wait_that_was_not_the_policys_tells_nothing_of_delays(patterns: Patterns) -> None:
    patterns.record_observation(a_sighting())
    patterns.record_retry("agent", followed(delay_seconds=None), has_succeeded=True, at=NOW)
    assert found(patterns).retries_attempted == 1
    assert patterns.get_retry_outcomes("agent", "code_error", now=NOW) == {}


def test_delays_are_told_by_policy_category_and_seconds(patterns: Patterns) -> None:
    patterns.record_retry("agent", followed(delay_seconds=30), has_succeeded=False, at=NOW)
    patterns.record_retry(
        "agent", followed(delay_seconds=300, category="timeout"), has_succeeded=True, at=NOW
    )
    patterns.record_retry(
        "omega", followed(delay_seconds=120, category="unknown"), has_succeeded=True, at=NOW
    )
    assert patterns.get_all_retry_outcomes("agent", now=NOW) == {
        "code_error": {30: RetryOutcomes(1, 0)},
        "timeout": {300: RetryOutcomes(1, 1)},
    }
    assert patterns.get_retry_outcomes("agent", "timeout", now=NOW) == {300: RetryOutcomes(1, 1)}
    assert patterns.get_retry_outcomes("agent", "time", now=NOW) == {}


def test_what_worked_two_months_ago_need_not_work_today(patterns: Patterns) -> None:
    for month in ("2025-12-31", "2026-01-01", "2026-02-28"):
        patterns.record_retry(
            "agent", followed(), has_succeeded=True, at=parse_instant(f"{month}T23:00:00Z")
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


def test_what_a_person_said_is_kept_however_often_it_is_heard(patterns: Patterns) -> None:
    patterns.record_observation(a_sighting())
    for _ in range(2):
        patterns.record_correction(a_sighting(category="transient"), SAID)
    pattern = found(patterns)
    assert (pattern.correction, pattern.count, pattern.rule_category) == (SAID, 1, "code_error")


def test_a_person_may_teach_what_was_not_counted(patterns: Patterns) -> None:
    patterns.record_correction(a_sighting(category="transient"), replace(SAID, corrected_by=None))
    pattern = found(patterns)
    assert (pattern.correction, pattern.count) == (replace(SAID, corrected_by=None), 0)
    assert patterns.list_newest("agent", limit=9, now=NOW) == [pattern]


def test_of_two_words_the_last_counts(patterns: Patterns) -> None:
    patterns.record_correction(a_sighting(), SAID)
    patterns.record_correction(a_sighting(), Correction(category="timeout", corrected_at=NOW + DAY))
    assert found(patterns).correction == Correction(category="timeout", corrected_at=NOW + DAY)


def test_what_was_said_can_be_forgotten_and_what_was_counted_stays(
    patterns: Patterns,
) -> None:
    patterns.record_observation(a_sighting())
    patterns.record_correction(a_sighting(category="transient"), SAID)
    assert patterns.remove_correction("agent", PRINT, now=NOW)
    assert not patterns.remove_correction("agent", PRINT, now=NOW)
    pattern = found(patterns)
    assert (pattern.correction, pattern.category, pattern.count) == (None, "code_error", 1)


def test_to_forget_what_nobody_said_changes_nothing(patterns: Patterns) -> None:
    assert not patterns.remove_correction("agent", PRINT, now=NOW)
    assert patterns.find("agent", PRINT, now=NOW) is None


def test_patterns_age_out_and_what_a_person_said_later(dynamo: DynamoPatterns) -> None:
    dynamo.record_observation(a_sighting())
    assert expiry_of() == (NOW + 90 * DAY).timestamp()
    dynamo.record_correction(a_sighting(), SAID)
    assert expiry_of() == (SAID.corrected_at + 400 * DAY).timestamp()
    dynamo.record_observation(a_sighting(observed_at=NOW + 2 * DAY))
    assert (expiry_of(), found(dynamo).count) == ((NOW + 402 * DAY).timestamp(), 2)
    dynamo.remove_correction("agent", PRINT, now=NOW)
    assert expiry_of() == (NOW + 90 * DAY).timestamp()


def test_what_has_aged_out_but_is_still_there_is_not_told(patterns: Patterns) -> None:
    patterns.record_observation(a_sighting())
    later = NOW + 90 * DAY
    assert patterns.find("agent", PRINT, now=later - MINUTE)
    assert patterns.find("agent", PRINT, now=later) is None
    assert patterns.list_newest("agent", limit=9, now=later) == []


def test_the_newest_come_first_however_many_there_are(
    dynamo: DynamoPatterns, calls: CallInterceptor
) -> None:
    for n in range(30):
        dynamo.record_observation(
            a_sighting(fingerprint=f"{n * 7 % 30:016x}", observed_at=NOW + n * MINUTE)
        )
    dynamo.record_observation(a_sighting(policy="omega"))
    with attribute_calls_to("me"):
        newest = dynamo.list_newest("agent", limit=5, now=NOW)
    assert [pattern.last_seen_at for pattern in newest] == [
        NOW + n * MINUTE for n in (29, 28, 27, 26, 25)
    ]
    assert calls.counts == {("me", "dynamodb.Query"): 1}


def test_it_is_asked_for_with_one_cheap_read(
    dynamo: DynamoPatterns, calls: CallInterceptor
) -> None:
    seen: list[dict[str, Any]] = []
    calls.on_aws_call = lambda call: seen.append(dict(call.body))
    dynamo.find("agent", PRINT, now=NOW)
    assert [body.get("ConsistentRead", False) for body in seen] == [False]


def test_the_days_statistics_do_not_see_it(dynamo: DynamoPatterns) -> None:
    dynamo.record_observation(a_sighting())
    assert DynamoStats().read_counters(["2026-02-17"]) == []
    assert DynamoStats().list_repeated(since=NOW - DAY) == []


@pytest.mark.usefixtures("calls")
def test_an_error_that_is_no_lost_race_is_raised(dynamo: DynamoPatterns, faults: Faults) -> None:
    refused = {"code": "ValidationException", "status": 400}
    fault = Fault("dynamodb.UpdateItem", function="me", times=2, kind="error", error=refused)
    faults.add(fault)
    with attribute_calls_to("me"), pytest.raises(UpdateError):
        dynamo.record_observation(a_sighting())
    with attribute_calls_to("me"), pytest.raises(UpdateError):
        dynamo.record_retry("agent", followed(), has_succeeded=True, at=NOW)
