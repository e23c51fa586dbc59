"""Schemas of policies and of explained failures."""

from __future__ import annotations

from collections.abc import Mapping

from duecourse.domain.failures.policy import LimitUnit
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.status import Status
from duecourse.domain.validation.fields import Schema, nullable

from .types import (
    BOOLEAN,
    COUNT,
    INTEGER,
    NULLABLE_COUNT,
    NULLABLE_TEXT,
    NUMBER,
    TEXT,
    enum,
    list_of,
    ref,
    strict_object,
    with_description,
)

POLICIES: Mapping[str, Schema] = {
    "Policy": strict_object(
        name=TEXT,
        about=TEXT,
        limits=enum(LimitUnit),
        max_retries=COUNT,
        jitter=NUMBER,
        fallback=TEXT,
        ladder=list_of(enum(Action)),
        categories=list_of(ref("Category")),
    ),
    "Category": strict_object(
        name=TEXT,
        counts=BOOLEAN,
        limit=NULLABLE_COUNT,
        delays_seconds=list_of(COUNT),
        until_budget_clears=BOOLEAN,
        server_time_wins=BOOLEAN,
        subject_limit=NULLABLE_COUNT,
        trips_breaker=BOOLEAN,
        suggested_fix=TEXT,
        rules=list_of(ref("Rule")),
    ),
    "Rule": strict_object(
        id=TEXT,
        category=TEXT,
        confidence=NUMBER,
        types=list_of(TEXT),
        codes=list_of(TEXT),
        statuses=list_of(INTEGER),
        exits=list_of(INTEGER),
        says=list_of(TEXT),
    ),
    "Explained": strict_object(
        policy=TEXT,
        category=TEXT,
        confidence=NUMBER,
        pattern=NULLABLE_TEXT,
        location=nullable(ref("Location")),
        suggested_fix=NULLABLE_TEXT,
        counts=BOOLEAN,
        action=enum(Action),
        status=enum(Status),
        delay_seconds=with_description(
            NULLABLE_COUNT, "Before jitter; null where there is no retry."
        ),
        retry_count=COUNT,
        max_retries=COUNT,
        guidance=NULLABLE_TEXT,
    ),
}
