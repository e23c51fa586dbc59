"""What was learnt is kept by policy and fingerprint, found newest first, forgotten when asked."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.patterns import DynamoPatterns
from duecourse.adapters.aws.dynamodb.stats import DynamoStats
from duecourse.domain.journal.learned_patterns import Pattern, Said, Sighting
from duecourse.domain.tasks.adapted_delay import Tries
from duecourse.domain.tasks.run import Followed
from pynamodb.exceptions import UpdateError

from local.runtime.call_interceptor import Calls, calls_of
from local.testing.faults import Fault, Faults
from tests.support.builders.moments import DAY, MINUTE, NOW, at

PRINT, OTHER = "0123456789abcdef", "fedcba9876543210"
SAID = Said(category="transient", at=NOW + MINUTE, by="local", read_as="code_error")


@pytest.fixture
def patterns() -> DynamoPatterns:
    return DynamoPatterns()


def a_sighting(**fields: Any) -> Sighting:
    defaults: dict[str, Any] = {"policy": "agent", "fingerprint": PRINT, "category": "code_error"}
    return Sighting(**{**defaults, "read_as": "code_error", "example": "boom", "at": NOW, **fields})


def followed(**fields: Any) -> Followed:
    return Followed(**{"category": "code_error", "fingerprint": PRINT, "waited": 120, **fields})


def found(patterns: DynamoPatterns, fingerprint: str = PRINT, *, now: datetime = NOW) -> Pattern:
    pattern = patterns.find("agent", fingerprint, now=now)
    assert pattern is not None
    return pattern


def expiry_of(fingerprint: str = PRINT) -> float:
    key = {"day": {"S": "patterns#agent"}, "counter": {"S": fingerprint}}
    item = boto3.client("dynamodb").get_item(TableName="StatsTable", Key=key)["Item"]
    return float(item["expires_at"]["N"])


def test_what_was_never_seen_is_not_found(patterns: DynamoPatterns) -> None:
    patterns.seen(a_sighting())
    assert patterns.find("agent", OTHER, now=NOW) is None
    assert patterns.find("omega", PRINT, now=NOW) is None


def test_a_failure_is_found_as_it_was_seen_last(patterns: DynamoPatterns) -> None:
    patterns.seen(a_sighting())
    patterns.seen(a_sighting(category="unknown", example="bang", at=NOW + DAY))
    assert found(patterns) == Pattern(
        policy="agent",
        fingerprint=PRINT,
        category="unknown",
        read_as="code_error",
        example="bang",
        last_seen=NOW + DAY,
        count=2,
    )


def test_retries_are_counted_with_what_they_followed(patterns: DynamoPatterns) -> None:
    patterns.seen(a_sighting())
    for worked in (True, False, True):
        patterns.tried("agent", followed(), worked=worked, at=NOW)
    assert (found(patterns).tried, found(patterns).worked) == (3, 2)
    assert patterns.tries("agent", "code_error", now=NOW) == {120: Tries(3, 2)}


def test_a_retry_after_something_forgotten_makes_up_no_pattern(patterns: DynamoPatterns) -> None:
    patterns.tried("agent", followed(), worked=True, at=NOW)
    patterns.tried("agent", followed(fingerprint=None), worked=True, at=NOW)
    assert patterns.newest("agent", limit=9, now=NOW) == []
    assert patterns.tries("agent", "code_error", now=NOW) == {120: Tries(2, 2)}


def test_a_wait_that_was_not_the_policys_tells_nothing_of_delays(patterns: DynamoPatterns) -> None:
    patterns.seen(a_sighting())
    patterns.tried("agent", followed(waited=None), worked=True, at=NOW)
    assert found(patterns).tried == 1
    assert patterns.tries("agent", "code_error", now=NOW) == {}


def test_delays_are_told_by_policy_category_and_seconds(patterns: DynamoPatterns) -> None:
    patterns.tried("agent", followed(waited=30), worked=False, at=NOW)
    patterns.tried("agent", followed(waited=300, category="timeout"), worked=True, at=NOW)
    patterns.tried("omega", followed(waited=120, category="unknown"), worked=True, at=NOW)
    assert patterns.all_tries("agent", now=NOW) == {
        "code_error": {30: Tries(1, 0)},
        "timeout": {300: Tries(1, 1)},
    }
    assert patterns.tries("agent", "timeout", now=NOW) == {300: Tries(1, 1)}
    assert patterns.tries("agent", "time", now=NOW) == {}


def test_what_worked_two_months_ago_need_not_work_today(patterns: DynamoPatterns) -> None:
    for month in ("2025-12-31", "2026-01-01", "2026-02-28"):
        patterns.tried("agent", followed(), worked=True, at=at(f"{month}T23:00:00Z"))
    february, march = at("2026-02-17T12:00:00Z"), at("2026-03-01T00:00:00Z")
    assert patterns.tries("agent", "code_error", now=february) == {120: Tries(2, 2)}
    assert patterns.tries("agent", "code_error", now=march) == {120: Tries(1, 1)}
    assert patterns.all_tries("agent", now=march) == {"code_error": {120: Tries(1, 1)}}


def test_what_a_person_said_is_kept_however_often_it_is_heard(patterns: DynamoPatterns) -> None:
    patterns.seen(a_sighting())
    for _ in range(2):
        patterns.taught(a_sighting(category="transient"), SAID)
    pattern = found(patterns)
    assert (pattern.said, pattern.count, pattern.read_as) == (SAID, 1, "code_error")


def test_a_person_may_teach_what_was_not_counted(patterns: DynamoPatterns) -> None:
    patterns.taught(a_sighting(category="transient"), replace(SAID, by=None))
    pattern = found(patterns)
    assert (pattern.said, pattern.count) == (replace(SAID, by=None), 0)
    assert patterns.newest("agent", limit=9, now=NOW) == [pattern]


def test_of_two_words_the_last_counts(patterns: DynamoPatterns) -> None:
    patterns.taught(a_sighting(), SAID)
    patterns.taught(a_sighting(), Said(category="timeout", at=NOW + DAY))
    assert found(patterns).said == Said(category="timeout", at=NOW + DAY)


def test_what_was_said_can_be_forgotten_and_what_was_counted_stays(
    patterns: DynamoPatterns,
) -> None:
    patterns.seen(a_sighting())
    patterns.taught(a_sighting(category="transient"), SAID)
    assert patterns.forget("agent", PRINT, now=NOW)
    assert not patterns.forget("agent", PRINT, now=NOW)
    pattern = found(patterns)
    assert (pattern.said, pattern.category, pattern.count) == (None, "code_error", 1)


def test_to_forget_what_nobody_said_changes_nothing(patterns: DynamoPatterns) -> None:
    assert not patterns.forget("agent", PRINT, now=NOW)
    assert patterns.find("agent", PRINT, now=NOW) is None


def test_patterns_age_out_and_what_a_person_said_later(patterns: DynamoPatterns) -> None:
    patterns.seen(a_sighting())
    assert expiry_of() == (NOW + 90 * DAY).timestamp()
    patterns.taught(a_sighting(), SAID)
    assert expiry_of() == (SAID.at + 400 * DAY).timestamp()
    patterns.seen(a_sighting(at=NOW + 2 * DAY))
    assert (expiry_of(), found(patterns).count) == ((NOW + 402 * DAY).timestamp(), 2)
    patterns.forget("agent", PRINT, now=NOW)
    assert expiry_of() == (NOW + 90 * DAY).timestamp()


def test_what_has_aged_out_but_is_still_there_is_not_told(patterns: DynamoPatterns) -> None:
    patterns.seen(a_sighting())
    later = NOW + 90 * DAY
    assert patterns.find("agent", PRINT, now=later - MINUTE)
    assert patterns.find("agent", PRINT, now=later) is None
    assert patterns.newest("agent", limit=9, now=later) == []


def test_the_newest_come_first_however_many_there_are(
    patterns: DynamoPatterns, calls: Calls
) -> None:
    for n in range(30):
        patterns.seen(a_sighting(fingerprint=f"{n * 7 % 30:016x}", at=NOW + n * MINUTE))
    patterns.seen(a_sighting(policy="omega"))
    with calls_of("me"):
        newest = patterns.newest("agent", limit=5, now=NOW)
    assert [pattern.last_seen for pattern in newest] == [
        NOW + n * MINUTE for n in (29, 28, 27, 26, 25)
    ]
    assert calls.counts == {("me", "dynamodb.Query"): 1}


def test_it_is_asked_for_with_one_cheap_read(patterns: DynamoPatterns, calls: Calls) -> None:
    seen: list[dict[str, Any]] = []
    calls.watch = lambda call: seen.append(dict(call.body))
    patterns.find("agent", PRINT, now=NOW)
    assert [body.get("ConsistentRead", False) for body in seen] == [False]


def test_the_days_statistics_do_not_see_it(patterns: DynamoPatterns) -> None:
    patterns.seen(a_sighting())
    assert DynamoStats().counters(["2026-02-17"]) == []
    assert DynamoStats().repeated(since=NOW - DAY) == []


@pytest.mark.usefixtures("calls")
def test_an_error_that_is_no_lost_race_is_raised(patterns: DynamoPatterns, faults: Faults) -> None:
    refused = {"code": "ValidationException", "status": 400}
    fault = Fault("dynamodb.UpdateItem", function="me", times=2, kind="error", error=refused)
    faults.add(fault)
    with calls_of("me"), pytest.raises(UpdateError):
        patterns.seen(a_sighting())
    with calls_of("me"), pytest.raises(UpdateError):
        patterns.tried("agent", followed(), worked=True, at=NOW)
