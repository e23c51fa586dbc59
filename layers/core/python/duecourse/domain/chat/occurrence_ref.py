"""Which ringing of a reminder its buttons are about: the last word of what they say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from duecourse.domain.tasks.task import Task

_REF_PATTERN = re.compile(r"(?:^|\s+)(?:rang|@(?P<second>[0-9a-f]{8,9}))$", re.IGNORECASE)


@dataclass(frozen=True)
class OccurrenceRef:
    """What was delivered is meant, whatever has become of the task since: the occurrence of this
    time, or the latest. Buttons named none once, and some of those are still to be pressed."""

    nominal_at: datetime | None = None


def encode_ref(nominal_at: datetime) -> str:
    """Short, as a button has little room; no two occurrences share a second."""
    return f"@{int(nominal_at.timestamp()):x}"


def split_ref(text: str) -> tuple[str, OccurrenceRef | None]:
    """The text without its mark, and what that means."""
    found = _REF_PATTERN.search(text)
    if found is None:
        return text, None
    second = found["second"]
    nominal_at = None if second is None else datetime.fromtimestamp(int(second, 16), UTC)
    return text[: found.start()], OccurrenceRef(nominal_at)


def latest_occurrence_at(task: Task) -> datetime:
    """The own time of what rang last, or rings now."""
    return task.run.nominal_at if task.run else task.nominal_at
