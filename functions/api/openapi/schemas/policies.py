"""Schemas of policies and of explained failures."""

from __future__ import annotations

from collections.abc import Mapping

from duecourse.domain.failures.policy import LimitUnit
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.status import Status
from duecourse.domain.validation.fields import Schema, nullable

from .types import (
    BOOLEAN,
    CLEARS_BY,
    COUNT,
    INTEGER,
    KIND,
    LIKELY,
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
        about=with_description(TEXT, "A summary for people."),
        limits=with_description(
            enum(LimitUnit),
            "What `max_retries` and the limits count: all runs, or the retries after the first.",
        ),
        max_retries=with_description(COUNT, "The default for tasks that set none."),
        jitter=with_description(NUMBER, "The largest share of a delay that is added to it."),
        full_jitter=with_description(
            BOOLEAN, "Whether a retry comes at any time up to its delay instead."
        ),
        fallback=with_description(TEXT, "The category of errors that no rule matches."),
        min_confidence=with_description(
            NUMBER, "Below it, an error has the category `fallback`, and `likely` has the guess."
        ),
        ladder=with_description(
            list_of(enum(Action)),
            "The action after the first, second, … failure; the last one repeats. If it is empty, "
            "failures are retried.",
        ),
        categories=list_of(ref("Category")),
    ),
    "Category": strict_object(
        name=TEXT,
        kinds=with_description(
            list_of(enum(Kind)), "The kinds of failures that it holds, its usual one first."
        ),
        counts=with_description(BOOLEAN, "Whether such a failure uses up a retry."),
        limit=with_description(
            NULLABLE_COUNT, "Caps the task's `max_retries`; null leaves it as it is."
        ),
        delays_seconds=with_description(
            list_of(COUNT), "The delay before each retry; the last one repeats."
        ),
        deadline_seconds=with_description(
            NULLABLE_COUNT, "No retry comes later than this after the first failure."
        ),
        at_limit=with_description(
            nullable(enum(Action)), "The action when no retry is left; null: by the policy."
        ),
        until_budget_clears=with_description(BOOLEAN, "Whether the task waits for its budget."),
        server_time_wins=with_description(
            BOOLEAN, "Whether a `Retry-After` replaces the delay. Otherwise it can only raise it."
        ),
        subject_limit=with_description(
            NULLABLE_COUNT, "After this many failures, the subject fails permanently."
        ),
        subject_delays_seconds=with_description(
            list_of(COUNT), "The delays for tasks with a subject, by its failures, if not empty."
        ),
        trips_breaker=with_description(
            BOOLEAN, "Whether such failures can open the provider's circuit breaker."
        ),
        suggested_fix=with_description(TEXT, "Used unless the rule has its own."),
        rules=list_of(ref("Rule")),
    ),
    "Rule": strict_object(
        id=TEXT,
        category=TEXT,
        kind=KIND,
        confidence=with_description(NUMBER, "As the rule states it, from 0 to 1."),
        types=with_description(list_of(TEXT), "Types of errors; `*` stands for any characters."),
        codes=with_description(list_of(TEXT), "Error codes."),
        statuses=with_description(list_of(INTEGER), "HTTP statuses."),
        exits=with_description(list_of(INTEGER), "Exit codes of programs."),
        says=with_description(
            list_of(TEXT), "Phrases of the message; `#` stands for digits, `*` for any text."
        ),
    ),
    "Explained": strict_object(
        policy=TEXT,
        category=TEXT,
        kind=enum(Kind),
        clears_by=CLEARS_BY,
        likely=LIKELY,
        confidence=with_description(NUMBER, "Of the category, or of `likely`, from 0 to 1."),
        pattern=with_description(NULLABLE_TEXT, "The id of the rule that matched."),
        location=with_description(
            nullable(ref("Location")), "The place in the source code that the error names."
        ),
        suggested_fix=NULLABLE_TEXT,
        counts=with_description(BOOLEAN, "Whether the failure uses up a retry."),
        action=with_description(enum(Action), "The recovery action."),
        status=with_description(enum(Status), "The task's status after the failure."),
        delay_seconds=with_description(
            NULLABLE_COUNT, "The delay before the retry, without jitter; null without a retry."
        ),
        retry_count=with_description(COUNT, "The task's `retry_count` after the failure."),
        max_retries=COUNT,
        guidance=with_description(NULLABLE_TEXT, "The hint for the next attempt."),
    ),
}
