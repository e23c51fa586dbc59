"""The shape of the statistics."""

from __future__ import annotations

from duecourse.domain.failures.subject import SubjectStatus
from duecourse.domain.validation.fields import or_null

from .types import (
    COUNT,
    DAY,
    INSTANT,
    MAYBE_COUNT,
    MAYBE_INSTANT,
    MAYBE_NUMBER,
    MAYBE_TEXT,
    TEXT,
    about,
    closed,
    enum,
    list_of,
)

STATS = closed(
    days=COUNT,
    errors_by_category=list_of(
        closed(
            category=TEXT,
            count=COUNT,
            avg_retry_count=MAYBE_NUMBER,
            first_seen=MAYBE_INSTANT,
            last_seen=MAYBE_INSTANT,
        )
    ),
    errors_by_day=about(
        list_of(closed(day=DAY, category=TEXT, count=COUNT)),
        "Oldest day first; only what happened.",
    ),
    recovery_rate=list_of(
        closed(category=TEXT, failures=COUNT, recovered=COUNT, percent=MAYBE_NUMBER)
    ),
    top_failing=list_of(
        closed(
            subject=TEXT,
            failure_count=COUNT,
            status=or_null(enum(SubjectStatus)),
            last_error_category=MAYBE_TEXT,
            last_error_message=MAYBE_TEXT,
            last_attempt_at=MAYBE_INSTANT,
        )
    ),
    repeated_failures=list_of(
        closed(
            subject=MAYBE_TEXT,
            task_id=MAYBE_TEXT,
            total_errors=COUNT,
            last_error_category=MAYBE_TEXT,
            last_error_at=INSTANT,
        )
    ),
    budget_timeline=list_of(closed(day=DAY, errors=COUNT, unique_blocked=COUNT)),
    retries_to_success=closed(
        average=MAYBE_NUMBER,
        histogram={"type": "object", "additionalProperties": COUNT},
    ),
    common_patterns=list_of(
        closed(pattern=TEXT, category=TEXT, count=COUNT, last_seen=MAYBE_INSTANT)
    ),
    lateness=closed(
        count=COUNT,
        p50=MAYBE_NUMBER,
        p95=MAYBE_NUMBER,
        p99=MAYBE_NUMBER,
        max=MAYBE_NUMBER,
        histogram=about(
            list_of(closed(up_to_ms=MAYBE_COUNT, count=COUNT)),
            "How many runs were at most so late, and later than the one before says. Always the "
            "same steps; the last, without an end, holds the rest.",
        ),
    ),
    by_provider=list_of(
        closed(
            provider=TEXT,
            runs=COUNT,
            failures=COUNT,
            recovered=COUNT,
            failure_percent=MAYBE_NUMBER,
            avg_duration_ms=MAYBE_NUMBER,
        )
    ),
)
