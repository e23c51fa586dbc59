"""The shapes of policies, and of what one would make of a failure."""

from __future__ import annotations

from collections.abc import Mapping

from duecourse.domain.failures.policy import Limits
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.status import Status
from duecourse.domain.validation.fields import Schema, or_null

from .types import (
    COUNT,
    MAYBE_COUNT,
    MAYBE_TEXT,
    NUMBER,
    TEXT,
    WHOLE,
    YES_OR_NO,
    about,
    closed,
    enum,
    list_of,
    one,
)

POLICIES: Mapping[str, Schema] = {
    "Policy": closed(
        name=TEXT,
        about=TEXT,
        limits=enum(Limits),
        max_retries=COUNT,
        jitter=NUMBER,
        fallback=TEXT,
        ladder=list_of(enum(Action)),
        categories=list_of(one("Category")),
    ),
    "Category": closed(
        name=TEXT,
        counts=YES_OR_NO,
        limit=MAYBE_COUNT,
        delays_seconds=list_of(COUNT),
        until_budget_clears=YES_OR_NO,
        server_time_wins=YES_OR_NO,
        subject_limit=MAYBE_COUNT,
        trips_breaker=YES_OR_NO,
        suggested_fix=TEXT,
        rules=list_of(one("Rule")),
    ),
    "Rule": closed(
        id=TEXT,
        category=TEXT,
        confidence=NUMBER,
        types=list_of(TEXT),
        codes=list_of(TEXT),
        statuses=list_of(WHOLE),
        exits=list_of(WHOLE),
        says=list_of(TEXT),
    ),
    "Explained": closed(
        policy=TEXT,
        category=TEXT,
        confidence=NUMBER,
        pattern=MAYBE_TEXT,
        location=or_null(one("Location")),
        suggested_fix=MAYBE_TEXT,
        counts=YES_OR_NO,
        action=enum(Action),
        status=enum(Status),
        delay_seconds=about(MAYBE_COUNT, "Before jitter; null where there is no retry."),
        retry_count=COUNT,
        max_retries=COUNT,
        guidance=MAYBE_TEXT,
    ),
}
