"""Schemas of the statistics."""

from __future__ import annotations

from duecourse.domain.failures.subject import SubjectStatus
from duecourse.domain.validation.fields import nullable

from .types import (
    COUNT,
    DAY,
    INSTANT,
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
    days=COUNT,
    errors_by_category=list_of(
        strict_object(
            category=TEXT,
            count=COUNT,
            avg_retry_count=NULLABLE_NUMBER,
            first_seen=NULLABLE_INSTANT,
            last_seen=NULLABLE_INSTANT,
        )
    ),
    errors_by_day=with_description(
        list_of(strict_object(day=DAY, category=TEXT, count=COUNT)),
        "Oldest day first; only what happened.",
    ),
    recovery_rate=list_of(
        strict_object(category=TEXT, failures=COUNT, recovered=COUNT, percent=NULLABLE_NUMBER)
    ),
    top_failing=list_of(
        strict_object(
            subject=TEXT,
            failure_count=COUNT,
            status=nullable(enum(SubjectStatus)),
            last_error_category=NULLABLE_TEXT,
            last_error_message=NULLABLE_TEXT,
            last_attempt_at=NULLABLE_INSTANT,
        )
    ),
    repeated_failures=list_of(
        strict_object(
            subject=NULLABLE_TEXT,
            task_id=NULLABLE_TEXT,
            total_errors=COUNT,
            last_error_category=NULLABLE_TEXT,
            last_error_at=INSTANT,
        )
    ),
    budget_timeline=list_of(strict_object(day=DAY, errors=COUNT, unique_blocked=COUNT)),
    retries_to_success=strict_object(
        average=NULLABLE_NUMBER,
        histogram={"type": "object", "additionalProperties": COUNT},
    ),
    common_patterns=list_of(
        strict_object(pattern=TEXT, category=TEXT, count=COUNT, last_seen=NULLABLE_INSTANT)
    ),
    lateness=strict_object(
        count=COUNT,
        p50=NULLABLE_NUMBER,
        p95=NULLABLE_NUMBER,
        p99=NULLABLE_NUMBER,
        max=NULLABLE_NUMBER,
        histogram=with_description(
            list_of(strict_object(up_to_ms=NULLABLE_COUNT, count=COUNT)),
            "How many runs were at most so late, and later than the one before says. Always the "
            "same steps; the last, without an end, holds the rest.",
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
