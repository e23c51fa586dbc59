"""Schemas of failures, learned patterns, retries and subjects."""

from __future__ import annotations

from collections.abc import Mapping

from duecourse.domain.failures.subject import SubjectStatus
from duecourse.domain.validation.fields import Schema, nullable

from .types import (
    BOOLEAN,
    CLEARS_BY,
    COUNT,
    INSTANT,
    INTEGER,
    KIND,
    LIKELY,
    NULLABLE_INSTANT,
    NULLABLE_NUMBER,
    NULLABLE_TEXT,
    TEXT,
    UUID,
    enum,
    list_of,
    ref,
    strict_object,
    with_description,
)

_FINGERPRINT_TEXT = "The same for all failures of this pattern."
_TRIED = with_description(COUNT, "How many retries were tried.")
_WORKED = with_description(COUNT, "How many of them succeeded.")
_SUCCESS_PERCENT = with_description(NULLABLE_NUMBER, "`worked` in percent of `tried`.")
FAILURES: Mapping[str, Schema] = {
    "Error": strict_object(
        id=with_description(TEXT, "The id of the run that failed."),
        task_id=UUID,
        subject=NULLABLE_TEXT,
        at=with_description(INSTANT, "When the run failed."),
        category=with_description(TEXT, "A category of the task's policy."),
        kind=KIND,
        clears_by=CLEARS_BY,
        likely=LIKELY,
        message=with_description(TEXT, "The error message, without secrets and shortened."),
        confidence=with_description(NULLABLE_NUMBER, "Of the classification, from 0 to 1."),
        pattern=with_description(
            NULLABLE_TEXT,
            "The id of the rule that matched; `learned` after a correction, `person` for one.",
        ),
        location=with_description(
            nullable(ref("Location")), "The place in the source code that the error names."
        ),
        suggested_fix=with_description(NULLABLE_TEXT, "What to do about the failure."),
        type=with_description(
            NULLABLE_TEXT, "The error's type, such as the class of an exception."
        ),
        code=with_description(NULLABLE_TEXT, "The error code, such as `ETIMEDOUT`."),
        status=with_description(nullable(INTEGER), "The HTTP status."),
        phase=with_description(NULLABLE_TEXT, "The phase of the run that failed."),
        attempt=with_description(COUNT, "The number of the attempt, 1 for the first."),
        retry_count=with_description(COUNT, "The task's `retry_count` after this failure."),
        counted=with_description(BOOLEAN, "Whether the failure used up a retry."),
        action=with_description(NULLABLE_TEXT, "The recovery action that the policy chose."),
        next_retry_at=NULLABLE_INSTANT,
        policy=TEXT,
        provider=with_description(NULLABLE_TEXT, "The provider that the run called."),
        fingerprint=with_description(NULLABLE_TEXT, _FINGERPRINT_TEXT),
        learned=with_description(
            nullable(BOOLEAN),
            "True if the category comes from a person's correction of an earlier failure.",
        ),
        read_as=with_description(
            NULLABLE_TEXT, "The category by the rules alone, if a correction replaced it."
        ),
        adapted=with_description(
            nullable(ref("Adapted")), "Set if the delay was chosen by earlier retries."
        ),
    ),
    "Adapted": strict_object(
        policy_delay_seconds=with_description(COUNT, "The delay that the policy lists."),
        delay_seconds=with_description(COUNT, "The delay that was used instead."),
        tried=with_description(COUNT, "How many retries were tried after that delay."),
        worked=_WORKED,
        because=with_description(TEXT, "The reason as a sentence for people."),
    ),
    "Pattern": strict_object(
        policy=TEXT,
        fingerprint=with_description(TEXT, _FINGERPRINT_TEXT),
        category=with_description(TEXT, "The category of the next such failure."),
        kind=with_description(KIND, "The kind of the next such failure."),
        clears_by=CLEARS_BY,
        read_as=with_description(TEXT, "The category by the policy's rules alone."),
        example=with_description(TEXT, "The message of the latest such failure."),
        count=with_description(COUNT, "How many such failures occurred."),
        tried=_TRIED,
        worked=_WORKED,
        success_percent=_SUCCESS_PERCENT,
        last_seen=INSTANT,
        said_by_person=with_description(BOOLEAN, "Whether a person corrected the category."),
        said_by=with_description(NULLABLE_TEXT, "The name of the token that corrected it."),
        said_at=with_description(NULLABLE_INSTANT, "When it was corrected."),
    ),
    "Forgotten": strict_object(
        policy=TEXT,
        fingerprint=TEXT,
        forgotten=with_description(BOOLEAN, "False if the pattern had no correction."),
    ),
    "Delays": strict_object(
        adapting=with_description(BOOLEAN, "Whether retries use these figures."),
        items=list_of(
            strict_object(
                policy=TEXT,
                category=TEXT,
                delay_seconds=COUNT,
                tried=_TRIED,
                worked=_WORKED,
                success_percent=_SUCCESS_PERCENT,
            )
        ),
    ),
    "Location": strict_object(file=TEXT, line=nullable(INTEGER)),
    "Retry": strict_object(
        id=with_description(UUID, "The id of the task."),
        short_id=TEXT,
        description=TEXT,
        next_retry_at=NULLABLE_INSTANT,
        category=with_description(NULLABLE_TEXT, "The category of the last failure."),
        kind=KIND,
        clears_by=CLEARS_BY,
        attempt=with_description(COUNT, "The number of the next attempt."),
        retry_count=with_description(COUNT, "How many retries were used up."),
        policy=TEXT,
        subject=NULLABLE_TEXT,
        last_error=NULLABLE_TEXT,
    ),
    "Subject": strict_object(
        id=TEXT,
        failure_count=with_description(COUNT, "Failures of all its tasks since the last success."),
        status=with_description(
            nullable(enum(SubjectStatus)), "Null if it was never tried, or was reset."
        ),
        last_error_category=NULLABLE_TEXT,
        last_error_kind=KIND,
        last_error_clears_by=CLEARS_BY,
        last_error_message=NULLABLE_TEXT,
        last_attempt_at=NULLABLE_INSTANT,
        cooldown_until=with_description(
            NULLABLE_INSTANT, "Tasks for this subject are deferred until then."
        ),
    ),
}
