"""Learned patterns: counts from the counters, examples from the runs, corrections as items."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb.counters import DynamoCounters
from duecourse.adapters.aws.dynamodb.error_log import DynamoErrorLog
from duecourse.adapters.aws.dynamodb.journal import DynamoJournal
from duecourse.adapters.aws.dynamodb.journal_models import JournalItem
from duecourse.adapters.aws.dynamodb.patterns import OUTCOMES_CACHED_FOR, DynamoPatterns
from duecourse.adapters.aws.dynamodb.run_records import amend_record
from duecourse.adapters.aws.dynamodb.stats import DynamoStats
from duecourse.domain.journal.counter_page import CountedChange
from duecourse.domain.journal.counters import count_change
from duecourse.domain.journal.journal_entries import to_journal_entries
from duecourse.domain.journal.learned_patterns import Correction, LearnedPattern, ObservedFailure
from duecourse.domain.journal.run_record import to_run_record
from duecourse.domain.tasks.adapted_delay import RetryOutcomes
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.run import PreviousFailure, Run
from duecourse.ports.journal import Patterns
from pynamodb.exceptions import UpdateError

from local.runtime.call_interceptor import CallInterceptor, attribute_calls_to
from local.testing.faults import Fault, Faults
from tests.contract.conftest import RETENTION
from tests.support.builders.moments import DAY, MINUTE, NOW, parse_instant
from tests.support.builders.runs import DIAGNOSIS, a_committed_run, a_failed_run
from tests.support.builders.tasks import an_action
from tests.support.fakes.patterns import MemoryPatterns

FINGERPRINT, OTHER_FINGERPRINT = "0123456789abcdef", "fedcba9876543210"
CORRECTION = Correction(
    category="transient",
    corrected_at=NOW + MINUTE,
    corrected_by="local",
    rule_category="code_error",
)
GET, BATCH_GET, QUERY = (
    ("me", f"dynamodb.{operation}") for operation in ("GetItem", "BatchGetItem", "Query")
)


def new_patterns() -> DynamoPatterns:
    return DynamoPatterns(DynamoCounters(), DynamoErrorLog(DynamoCounters(), retention=RETENTION))


@pytest.fixture
def dynamo() -> DynamoPatterns:
    return new_patterns()


@pytest.fixture(params=["dynamodb", "memory"])
def patterns(request: pytest.FixtureRequest, dynamo: DynamoPatterns) -> Patterns:
    return dynamo if request.param == "dynamodb" else MemoryPatterns()


class Recorder:
    """Journals and counts ended runs, as the journal function does."""

    def __init__(self) -> None:
        self._counters = DynamoCounters()
        self._journal = DynamoJournal(retention=RETENTION)
        self._number = 0

    def end(self, run: Run, *, policy: str = "agent") -> None:
        task = an_action(policy=policy, run=run)
        self._number += 1
        at = run.ended_at or run.started_at
        self._journal.write([to_journal_entries(None, task, at=at)])
        increments = count_change(None, task, late_after=MINUTE)
        self._counters.add("shard", [CountedChange(self._number, at, increments)])

    def fail(
        self,
        *,
        fingerprint: str = FINGERPRINT,
        policy: str = "agent",
        at: datetime = NOW,
        **fields: Any,
    ) -> None:
        diagnosis = replace(DIAGNOSIS, fingerprint=fingerprint, retry_count=1)
        run = a_failed_run(
            **{"id": f"run-{self._number}", "category": "code_error", "error": "boom", **fields},
            at=at,
            diagnosis=diagnosis,
        )
        self.end(run, policy=policy)

    def retry(
        self,
        *,
        has_succeeded: bool = True,
        policy: str = "agent",
        at: datetime = NOW,
        **previous: Any,
    ) -> None:
        known = {"category": "code_error", "fingerprint": FINGERPRINT, "delay_seconds": 120}
        fields: dict[str, Any] = {
            "id": f"run-{self._number}",
            "at": at,
            "previous_failure": PreviousFailure(**{**known, **previous}),
        }
        run = a_committed_run(**fields) if has_succeeded else a_failed_run(**fields)
        self.end(run, policy=policy)


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


def an_observation(**fields: Any) -> ObservedFailure:
    defaults: dict[str, Any] = {
        "policy": "agent",
        "fingerprint": FINGERPRINT,
        "category": "code_error",
        "rule_category": "code_error",
        "example": "boom",
        "observed_at": NOW,
    }
    return ObservedFailure(**{**defaults, **fields})


def find(patterns: Patterns, fingerprint: str = FINGERPRINT) -> Correction | None:
    return patterns.find_correction("agent", fingerprint, now=NOW)


def only_pattern(patterns: Patterns, *, now: datetime = NOW) -> LearnedPattern:
    [pattern] = patterns.list_newest("agent", limit=9, now=now)
    return pattern


def read_item(fingerprint: str = FINGERPRINT) -> dict[str, Any]:
    key = {"day": {"S": "patterns#agent"}, "counter": {"S": fingerprint}}
    item = boto3.client("dynamodb").get_item(TableName="StatsTable", Key=key).get("Item", {})
    return dict(item)


def read_expiry() -> float:
    return float(read_item()["expires_at"]["N"])


# Counts and examples


def test_a_pattern_has_the_values_of_its_latest_failure(
    dynamo: DynamoPatterns, recorder: Recorder
) -> None:
    recorder.fail()
    recorder.fail(error="bang", category="unknown", at=NOW + 2 * MINUTE)
    recorder.fail(error="late", at=NOW + MINUTE)
    assert dynamo.list_newest("agent", limit=9, now=NOW) == [
        LearnedPattern(
            policy="agent",
            fingerprint=FINGERPRINT,
            category="unknown",
            rule_category="unknown",
            kind=Kind.TIMEOUT,
            rule_kind=Kind.TIMEOUT,
            example="bang",
            last_seen_at=NOW + 2 * MINUTE,
            count=3,
        )
    ]
    assert dynamo.list_newest("omega", limit=9, now=NOW) == []


def test_a_pattern_is_listed_though_its_latest_failure_was_corrected(
    dynamo: DynamoPatterns, recorder: Recorder
) -> None:
    recorder.fail()
    failed = an_action(run=a_failed_run(id="run-0", category="code_error", error="boom", at=NOW))
    succeeded = replace(failed, run=a_committed_run(id="run-0", at=NOW))
    record = to_run_record(failed, succeeded, at=NOW)
    assert record is not None
    assert record.is_amendment
    amend_record(record, retention=RETENTION)
    pattern = only_pattern(dynamo)
    assert (pattern.category, pattern.example, pattern.count) == ("code_error", "boom", 1)


def test_retries_are_counted_with_the_previous_failure(
    dynamo: DynamoPatterns, recorder: Recorder
) -> None:
    recorder.fail()
    for has_succeeded in (True, False, True):
        recorder.retry(has_succeeded=has_succeeded)
    pattern = only_pattern(dynamo)
    assert (pattern.count, pattern.retries_attempted, pattern.retries_succeeded) == (1, 3, 2)


def test_a_retry_of_an_unknown_failure_lists_no_pattern(
    dynamo: DynamoPatterns, recorder: Recorder
) -> None:
    recorder.retry()
    recorder.retry(fingerprint=None)
    assert dynamo.list_newest("agent", limit=9, now=NOW) == []


def test_a_pattern_whose_latest_run_expired_is_not_listed(
    dynamo: DynamoPatterns, recorder: Recorder
) -> None:
    recorder.fail()
    recorder.fail(fingerprint=OTHER_FINGERPRINT)
    JournalItem("0a1b2c3d-0000-4000-8000-000000000000", f"r#{_at(NOW)}#run-0").delete()
    assert only_pattern(dynamo).fingerprint == OTHER_FINGERPRINT


def _at(instant: datetime) -> str:
    return instant.strftime("%Y-%m-%dT%H:%M:%S.000Z")


def test_the_newest_patterns_are_listed_with_a_fixed_number_of_reads(
    dynamo: DynamoPatterns, recorder: Recorder, calls: CallInterceptor
) -> None:
    for n in range(30):
        recorder.fail(fingerprint=f"{n * 7 % 30:016x}", at=NOW + n * MINUTE)
    recorder.fail(policy="omega")
    DynamoCounters().compact(now=NOW)
    with attribute_calls_to("me"):
        newest = dynamo.list_newest("agent", limit=5, now=NOW)
    assert [pattern.last_seen_at for pattern in newest] == [
        NOW + n * MINUTE for n in (29, 28, 27, 26, 25)
    ]
    assert calls.counts[BATCH_GET] == 2  # the runs, and the corrections of their patterns
    assert calls.counts[QUERY] == 1 + 1 + 92 - 5  # items, rollups, and days without a rollup


# Corrections


def test_a_failure_without_a_correction_has_none(patterns: Patterns) -> None:
    patterns.record_correction(an_observation(), CORRECTION)
    assert find(patterns, OTHER_FINGERPRINT) is None
    assert patterns.find_correction("omega", FINGERPRINT, now=NOW) is None
    assert find(patterns) == CORRECTION


def test_recording_a_correction_twice_stores_it_once(
    dynamo: DynamoPatterns, recorder: Recorder
) -> None:
    recorder.fail()
    for _ in range(2):
        dynamo.record_correction(an_observation(category="transient"), CORRECTION)
    pattern = only_pattern(dynamo)
    assert (pattern.correction, pattern.count) == (CORRECTION, 1)
    assert (pattern.category, pattern.rule_category) == ("code_error", "code_error")


def test_a_correction_is_listed_without_a_counted_failure(dynamo: DynamoPatterns) -> None:
    """Its failure may have happened before anything was counted."""
    correction = replace(CORRECTION, corrected_by=None)
    dynamo.record_correction(an_observation(category="transient"), correction)
    assert only_pattern(dynamo) == LearnedPattern(
        policy="agent",
        fingerprint=FINGERPRINT,
        category="transient",
        rule_category="code_error",
        example="boom",
        last_seen_at=NOW,
        correction=correction,
    )


def test_the_correction_of_a_pattern_beyond_the_newest_items_is_found(
    dynamo: DynamoPatterns, recorder: Recorder
) -> None:
    dynamo.record_correction(an_observation(), CORRECTION)
    for n in range(3):
        observed = an_observation(fingerprint=f"{n}", observed_at=NOW + DAY)
        dynamo.record_correction(observed, CORRECTION)
    recorder.fail(at=NOW + 2 * DAY)
    newest, *others = dynamo.list_newest("agent", limit=2, now=NOW + 2 * DAY)
    assert (newest.fingerprint, newest.correction) == (FINGERPRINT, CORRECTION)
    assert len(others) == 1


def test_the_last_correction_applies(patterns: Patterns) -> None:
    patterns.record_correction(an_observation(), CORRECTION)
    last = Correction(category="timeout", corrected_at=NOW + DAY)
    patterns.record_correction(an_observation(), last)
    assert find(patterns) == last


def test_removing_a_correction_removes_it_once(patterns: Patterns) -> None:
    patterns.record_correction(an_observation(), CORRECTION)
    assert patterns.remove_correction("agent", FINGERPRINT, now=NOW)
    assert not patterns.remove_correction("agent", FINGERPRINT, now=NOW)
    assert find(patterns) is None


def test_removing_a_correction_keeps_the_counts(dynamo: DynamoPatterns, recorder: Recorder) -> None:
    recorder.fail()
    dynamo.record_correction(an_observation(category="transient"), CORRECTION)
    dynamo.remove_correction("agent", FINGERPRINT, now=NOW)
    pattern = only_pattern(dynamo)
    assert (pattern.correction, pattern.category, pattern.count) == (None, "code_error", 1)


def test_removing_a_missing_correction_changes_nothing(dynamo: DynamoPatterns) -> None:
    assert not dynamo.remove_correction("agent", FINGERPRINT, now=NOW)
    assert read_item() == {}


def test_corrections_expire_late_and_removed_ones_earlier(dynamo: DynamoPatterns) -> None:
    dynamo.record_correction(an_observation(), CORRECTION)
    assert read_expiry() == (CORRECTION.corrected_at + 400 * DAY).timestamp()
    dynamo.remove_correction("agent", FINGERPRINT, now=NOW)
    assert read_expiry() == (NOW + 90 * DAY).timestamp()


def test_an_expired_correction_that_still_exists_is_not_returned(dynamo: DynamoPatterns) -> None:
    dynamo.record_correction(an_observation(), CORRECTION)
    later = CORRECTION.corrected_at + 400 * DAY
    assert dynamo.find_correction("agent", FINGERPRINT, now=later - MINUTE)
    assert dynamo.find_correction("agent", FINGERPRINT, now=later) is None
    assert dynamo.list_newest("agent", limit=9, now=later) == []


def test_a_correction_is_found_with_one_eventually_consistent_read(
    dynamo: DynamoPatterns, calls: CallInterceptor
) -> None:
    request_bodies: list[dict[str, Any]] = []
    calls.on_aws_call = lambda call: request_bodies.append(dict(call.body))
    with attribute_calls_to("me"):
        dynamo.find_correction("agent", FINGERPRINT, now=NOW)
    assert calls.counts == {GET: 1}
    assert [body.get("ConsistentRead", False) for body in request_bodies] == [False]


def test_daily_statistics_exclude_corrections(dynamo: DynamoPatterns) -> None:
    dynamo.record_correction(an_observation(), CORRECTION)
    assert DynamoCounters().read_since("2026-02-17", now=NOW) == []
    assert DynamoStats().list_repeated(since=NOW - DAY) == []


@pytest.mark.usefixtures("calls")
def test_an_error_other_than_a_conflict_is_raised(dynamo: DynamoPatterns, faults: Faults) -> None:
    invalid = {"code": "ValidationException", "status": 400}
    faults.add(Fault("dynamodb.UpdateItem", function="me", times=2, kind="error", error=invalid))
    with attribute_calls_to("me"), pytest.raises(UpdateError):
        dynamo.record_correction(an_observation(), CORRECTION)
    with attribute_calls_to("me"), pytest.raises(UpdateError):
        dynamo.remove_correction("agent", FINGERPRINT, now=NOW)


# Outcomes of retries


def test_retry_outcomes_are_counted_by_policy_category_and_delay(
    dynamo: DynamoPatterns, recorder: Recorder
) -> None:
    recorder.retry(delay_seconds=30, has_succeeded=False)
    recorder.retry(delay_seconds=300, category="timeout")
    recorder.retry(policy="omega", category="unknown")
    assert dynamo.get_all_retry_outcomes("agent", now=NOW) == {
        "code_error": {30: RetryOutcomes(1, 0)},
        "timeout": {300: RetryOutcomes(1, 1)},
    }
    assert dynamo.get_retry_outcomes("agent", "timeout", now=NOW) == {300: RetryOutcomes(1, 1)}
    assert dynamo.get_retry_outcomes("agent", "time", now=NOW) == {}


def test_retry_outcomes_cover_two_calendar_months(recorder: Recorder) -> None:
    for day in ("2025-12-31", "2026-01-01", "2026-02-28"):
        recorder.retry(at=parse_instant(f"{day}T23:00:00Z"))
    for now, outcomes in (
        ("2026-02-28T23:00:00Z", RetryOutcomes(2, 2)),
        ("2026-03-01T00:00:00Z", RetryOutcomes(1, 1)),
    ):
        expected, instant = {120: outcomes}, parse_instant(now)
        assert new_patterns().get_retry_outcomes("agent", "code_error", now=instant) == expected
        assert new_patterns().get_all_retry_outcomes("agent", now=instant) == {
            "code_error": expected
        }


def test_retry_outcomes_are_cached_for_all_categories(
    dynamo: DynamoPatterns, recorder: Recorder, calls: CallInterceptor
) -> None:
    """Every failure asks for them if delays are adapted."""
    recorder.retry()
    dynamo.get_retry_outcomes("agent", "code_error", now=NOW)
    recorder.retry()
    with attribute_calls_to("me"):
        for name in ("code_error", "timeout"):
            dynamo.get_retry_outcomes("agent", name, now=NOW + OUTCOMES_CACHED_FOR - MINUTE)
        assert not calls.counts
        later = NOW + OUTCOMES_CACHED_FOR
        outcomes = dynamo.get_retry_outcomes("agent", "code_error", now=later)
    assert outcomes == {120: RetryOutcomes(2, 2)}


# Version 0.1


def put_old_pattern(**attributes: Any) -> None:
    texts = {
        "day": "patterns#agent",
        "counter": FINGERPRINT,
        "repeats": "patterns#agent",
        "repeated_since": "2026-02-16T12:00:00.000Z",
        "category": "unknown",
        "read_as": "unknown",
        "example": "old",
    }
    numbers = {"times": 7, "tried": 5, "worked": 3, "expires_at": int((NOW + DAY).timestamp())}
    item = {
        **{name: {"S": text} for name, text in texts.items()},
        **{name: {"N": str(number)} for name, number in numbers.items()},
        **attributes,
    }
    boto3.client("dynamodb").put_item(TableName="StatsTable", Item=item)


def test_a_pattern_of_version_0_1_is_listed_with_its_counts(dynamo: DynamoPatterns) -> None:
    put_old_pattern()
    assert only_pattern(dynamo) == LearnedPattern(
        policy="agent",
        fingerprint=FINGERPRINT,
        category="unknown",
        rule_category="unknown",
        example="old",
        last_seen_at=NOW - DAY,
        count=7,
        retries_attempted=5,
        retries_succeeded=3,
    )


def test_later_counts_are_added_to_those_of_version_0_1(
    dynamo: DynamoPatterns, recorder: Recorder
) -> None:
    put_old_pattern()
    recorder.fail()
    recorder.retry()
    pattern = only_pattern(dynamo)
    assert (pattern.count, pattern.retries_attempted, pattern.retries_succeeded) == (8, 6, 4)
    assert (pattern.example, pattern.last_seen_at) == ("boom", NOW)


def test_a_retry_of_a_pattern_of_version_0_1_is_added(
    dynamo: DynamoPatterns, recorder: Recorder
) -> None:
    put_old_pattern()
    recorder.retry()
    assert only_pattern(dynamo).retries_attempted == 6


def test_a_correction_of_version_0_1_is_found_and_can_be_replaced(dynamo: DynamoPatterns) -> None:
    put_old_pattern(
        said={"S": "timeout"},
        said_at={"S": "2026-02-16T12:00:00.000Z"},
        said_by={"S": "ada"},
        said_of={"S": "unknown"},
    )
    assert find(dynamo) == Correction(
        category="timeout", corrected_at=NOW - DAY, corrected_by="ada", rule_category="unknown"
    )
    dynamo.record_correction(an_observation(), CORRECTION)
    pattern = only_pattern(dynamo)
    assert (pattern.correction, pattern.count) == (CORRECTION, 7)


def test_an_unreadable_pattern_is_left_out(dynamo: DynamoPatterns) -> None:
    put_old_pattern(repeated_since={"S": "yesterday"})
    dynamo.record_correction(an_observation(fingerprint=OTHER_FINGERPRINT), CORRECTION)
    assert only_pattern(dynamo).fingerprint == OTHER_FINGERPRINT


def test_a_correction_keeps_its_kind_until_it_is_removed(dynamo: DynamoPatterns) -> None:
    observed, correction = an_observation(), Correction(category="transient", corrected_at=NOW)
    dynamo.record_correction(observed, replace(correction, kind=Kind.RATE_LIMIT))
    found = dynamo.find_correction("agent", FINGERPRINT, now=NOW)
    assert found is not None
    assert found.kind is Kind.RATE_LIMIT
    dynamo.record_correction(observed, replace(correction, kind=None))
    found = dynamo.find_correction("agent", FINGERPRINT, now=NOW)
    assert found is not None
    assert found.kind is None
