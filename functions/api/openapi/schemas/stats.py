"""Schemas of the statistics."""

from __future__ import annotations

from duecourse.domain.failures.subject import SubjectStatus
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.validation.fields import nullable

from .types import (
    CLEARS_BY,
    COUNT,
    DAY,
    INSTANT,
    KIND,
    NULLABLE_COUNT,
    NULLABLE_INSTANT,
    NULLABLE_NUMBER,
    NULLABLE_TEXT,
    TEXT,
    enum,
    list_of,
    strict_object,
    with_description,
)

STATS = strict_object(
    days=with_description(COUNT, "How many UTC days are covered, including today."),
    errors_by_category=with_description(
        list_of(
            strict_object(
                category=TEXT,
                count=COUNT,
                avg_retry_count=NULLABLE_NUMBER,
                first_seen=NULLABLE_INSTANT,
                last_seen=NULLABLE_INSTANT,
            )
        ),
        "Most frequent first.",
    ),
    errors_by_kind=with_description(
        list_of(strict_object(kind=enum(Kind), clears_by=CLEARS_BY, count=COUNT)),
        "Most frequent first. Failures stored without a kind are in none.",
    ),
    errors_by_day=with_description(
        list_of(strict_object(day=DAY, category=TEXT, count=COUNT)),
        "One entry for each day and category with errors, oldest day first.",
    ),
    recovery_rate=with_description(
        list_of(
            strict_object(category=TEXT, failures=COUNT, recovered=COUNT, percent=NULLABLE_NUMBER)
        ),
        "How many failed occurrences succeeded in the end. Each counts once, by its first failure.",
    ),
    top_failing=with_description(
        list_of(
            strict_object(
                subject=TEXT,
                failure_count=COUNT,
                status=nullable(enum(SubjectStatus)),
                last_error_category=NULLABLE_TEXT,
                last_error_kind=KIND,
                last_error_clears_by=CLEARS_BY,
                last_error_message=NULLABLE_TEXT,
                last_attempt_at=NULLABLE_INSTANT,
            )
        ),
        "The subjects with the most failures.",
    ),
    repeated_failures=with_description(
        list_of(
            strict_object(
                subject=NULLABLE_TEXT,
                task_id=NULLABLE_TEXT,
                total_errors=COUNT,
                last_error_category=NULLABLE_TEXT,
                last_error_kind=KIND,
                last_error_clears_by=CLEARS_BY,
                last_error_at=INSTANT,
            )
        ),
        "The subjects and tasks with the most errors.",
    ),
    budget_timeline=with_description(
        list_of(
            strict_object(
                day=DAY,
                errors=COUNT,
                unique_blocked=with_description(COUNT, "How many tasks or subjects had to wait."),
            )
        ),
        "Days on which a budget was exceeded, newest first.",
    ),
    retries_to_success=with_description(
        strict_object(
            average=NULLABLE_NUMBER,
            histogram={"type": "object", "additionalProperties": COUNT},
        ),
        "How many retries a success took: `histogram` has the successes by number of retries.",
    ),
    common_patterns=with_description(
        list_of(
            strict_object(
                pattern=TEXT,
                category=TEXT,
                kind=KIND,
                clears_by=CLEARS_BY,
                count=COUNT,
                last_seen=NULLABLE_INSTANT,
            )
        ),
        "The rules that matched most often, each with the kind that it gave most often.",
    ),
    lateness=strict_object(
        count=with_description(COUNT, "How many runs were measured."),
        p50=NULLABLE_NUMBER,
        p95=NULLABLE_NUMBER,
        p99=NULLABLE_NUMBER,
        max=NULLABLE_NUMBER,
        histogram=with_description(
            list_of(strict_object(up_to_ms=NULLABLE_COUNT, count=COUNT)),
            "The number of runs by lateness: each entry counts those up to `up_to_ms` and above "
            "the entry before. The steps are always the same; the last has no upper bound (null).",
        ),
    ),
    by_provider=list_of(
        strict_object(
            provider=TEXT,
            runs=COUNT,
            failures=COUNT,
            recovered=COUNT,
            failure_percent=NULLABLE_NUMBER,
            avg_duration_ms=NULLABLE_NUMBER,
        )
    ),
)
