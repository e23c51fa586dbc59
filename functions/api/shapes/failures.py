"""The shapes of failures, and of what waits because of them."""

from __future__ import annotations

from collections.abc import Mapping

from duecourse.domain.fields import Schema, or_null
from duecourse.domain.subject import SubjectStatus

from .kinds import (
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
