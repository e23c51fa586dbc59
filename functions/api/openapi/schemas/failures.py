"""The shapes of failures, and of what waits because of them."""

from __future__ import annotations

from collections.abc import Mapping

from duecourse.domain.failures.subject import SubjectStatus
from duecourse.domain.validation.fields import Schema, or_null

from .types import (
    COUNT,
    INSTANT,
    MAYBE_INSTANT,
    MAYBE_NUMBER,
    MAYBE_TEXT,
    TEXT,
    UUID,
    WHOLE,
    YES_OR_NO,
    about,
    closed,
    enum,
    list_of,
    one,
)

FAILURES: Mapping[str, Schema] = {
    "Error": closed(
        id=about(TEXT, "That of the run that failed."),
        task_id=UUID,
        subject=MAYBE_TEXT,
        at=INSTANT,
        category=TEXT,
        message=TEXT,
        confidence=MAYBE_NUMBER,
        pattern=MAYBE_TEXT,
        location=or_null(one("Location")),
        suggested_fix=MAYBE_TEXT,
        type=MAYBE_TEXT,
        code=MAYBE_TEXT,
        status=or_null(WHOLE),
        phase=MAYBE_TEXT,
        attempt=COUNT,
        retry_count=COUNT,
        counted=YES_OR_NO,
        action=MAYBE_TEXT,
        next_retry_at=MAYBE_INSTANT,
        policy=TEXT,
        provider=MAYBE_TEXT,
        fingerprint=about(MAYBE_TEXT, "The same for all failures of this kind."),
        learned=about(or_null(YES_OR_NO), "True where a person said so of this kind before."),
        read_as=about(MAYBE_TEXT, "What it would be by the rules, where it was learned."),
        adapted=or_null(one("Adapted")),
    ),
    "Adapted": closed(
        policy_delay_seconds=COUNT,
        delay_seconds=about(COUNT, "What was taken in its place."),
        tried=about(COUNT, "Retries after that delay."),
        worked=COUNT,
        because=TEXT,
    ),
    "Pattern": closed(
        policy=TEXT,
        fingerprint=TEXT,
        category=TEXT,
        read_as=about(TEXT, "Its category by the policy's rules."),
        example=TEXT,
        count=COUNT,
        tried=about(COUNT, "Retries after such a failure."),
        worked=COUNT,
        success_percent=MAYBE_NUMBER,
        last_seen=INSTANT,
        said_by_person=YES_OR_NO,
        said_by=about(MAYBE_TEXT, "The name of the token."),
        said_at=MAYBE_INSTANT,
    ),
    "Forgotten": closed(
        policy=TEXT,
        fingerprint=TEXT,
        forgotten=about(YES_OR_NO, "False: nobody had said anything of it."),
    ),
    "Delays": closed(
        adapting=YES_OR_NO,
        items=list_of(
            closed(
                policy=TEXT,
                category=TEXT,
                delay_seconds=COUNT,
                tried=COUNT,
                worked=COUNT,
                success_percent=MAYBE_NUMBER,
            )
        ),
    ),
    "Location": closed(file=TEXT, line=or_null(WHOLE)),
    "Retry": closed(
        id=UUID,
        short_id=TEXT,
        description=TEXT,
        next_retry_at=MAYBE_INSTANT,
        category=MAYBE_TEXT,
        attempt=COUNT,
        retry_count=COUNT,
        policy=TEXT,
        subject=MAYBE_TEXT,
        last_error=MAYBE_TEXT,
    ),
    "Subject": closed(
        id=TEXT,
        failure_count=COUNT,
        status=or_null(enum(SubjectStatus)),
        last_error_category=MAYBE_TEXT,
        last_error_message=MAYBE_TEXT,
        last_attempt_at=MAYBE_INSTANT,
        cooldown_until=MAYBE_INSTANT,
    ),
}
