"""Schemas of failures, learned patterns, retries and subjects."""

from __future__ import annotations

from collections.abc import Mapping

from duecourse.domain.failures.subject import SubjectStatus
from duecourse.domain.validation.fields import Schema, nullable

from .types import (
    BOOLEAN,
    COUNT,
    INSTANT,
    INTEGER,
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

FAILURES: Mapping[str, Schema] = {
    "Error": strict_object(
        id=with_description(TEXT, "That of the run that failed."),
        task_id=UUID,
        subject=NULLABLE_TEXT,
        at=INSTANT,
        category=TEXT,
        message=TEXT,
        confidence=NULLABLE_NUMBER,
        pattern=NULLABLE_TEXT,
        location=nullable(ref("Location")),
        suggested_fix=NULLABLE_TEXT,
        type=NULLABLE_TEXT,
        code=NULLABLE_TEXT,
        status=nullable(INTEGER),
        phase=NULLABLE_TEXT,
        attempt=COUNT,
        retry_count=COUNT,
        counted=BOOLEAN,
        action=NULLABLE_TEXT,
        next_retry_at=NULLABLE_INSTANT,
        policy=TEXT,
        provider=NULLABLE_TEXT,
        fingerprint=with_description(NULLABLE_TEXT, "The same for all failures of this kind."),
        learned=with_description(
            nullable(BOOLEAN), "True where a person said so of this kind before."
        ),
        read_as=with_description(
            NULLABLE_TEXT, "What it would be by the rules, where it was learned."
        ),
        adapted=nullable(ref("Adapted")),
    ),
    "Adapted": strict_object(
        policy_delay_seconds=COUNT,
        delay_seconds=with_description(COUNT, "What was taken in its place."),
        tried=with_description(COUNT, "Retries after that delay."),
        worked=COUNT,
        because=TEXT,
    ),
    "Pattern": strict_object(
        policy=TEXT,
        fingerprint=TEXT,
        category=TEXT,
        read_as=with_description(TEXT, "Its category by the policy's rules."),
        example=TEXT,
        count=COUNT,
        tried=with_description(COUNT, "Retries after such a failure."),
        worked=COUNT,
        success_percent=NULLABLE_NUMBER,
        last_seen=INSTANT,
        said_by_person=BOOLEAN,
        said_by=with_description(NULLABLE_TEXT, "The name of the token."),
        said_at=NULLABLE_INSTANT,
    ),
    "Forgotten": strict_object(
        policy=TEXT,
        fingerprint=TEXT,
        forgotten=with_description(BOOLEAN, "False: nobody had said anything of it."),
    ),
    "Delays": strict_object(
        adapting=BOOLEAN,
        items=list_of(
            strict_object(
                policy=TEXT,
                category=TEXT,
                delay_seconds=COUNT,
                tried=COUNT,
                worked=COUNT,
                success_percent=NULLABLE_NUMBER,
            )
        ),
    ),
    "Location": strict_object(file=TEXT, line=nullable(INTEGER)),
    "Retry": strict_object(
        id=UUID,
        short_id=TEXT,
        description=TEXT,
        next_retry_at=NULLABLE_INSTANT,
        category=NULLABLE_TEXT,
        attempt=COUNT,
        retry_count=COUNT,
        policy=TEXT,
        subject=NULLABLE_TEXT,
        last_error=NULLABLE_TEXT,
    ),
    "Subject": strict_object(
        id=TEXT,
        failure_count=COUNT,
        status=nullable(enum(SubjectStatus)),
        last_error_category=NULLABLE_TEXT,
        last_error_message=NULLABLE_TEXT,
        last_attempt_at=NULLABLE_INSTANT,
        cooldown_until=NULLABLE_INSTANT,
    ),
}
