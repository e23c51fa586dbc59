"""References from a reminder's buttons to its occurrence: the last word of their commands."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime

from duecourse.domain.tasks.task import Task

_REF_PATTERN = re.compile(r"(?:^|\s+)(?:rang|@(?P<second>[0-9a-f]{8,9}))$", re.IGNORECASE)


@dataclass(frozen=True)
class OccurrenceRef:
    """The delivered occurrence that a button belongs to, whatever happened to the task since.

    `nominal_at` None means the latest one: older buttons named no time and can still be pressed.
    """

    nominal_at: datetime | None = None


def encode_ref(nominal_at: datetime) -> str:
    """Return the reference as a short word. No two occurrences share a second."""
    return f"@{int(nominal_at.timestamp()):x}"


def split_ref(text: str) -> tuple[str, OccurrenceRef | None]:
    """Return the text without the reference, and the reference if there is one."""
    found = _REF_PATTERN.search(text)
    if found is None:
        return text, None
    second = found["second"]
    nominal_at = None if second is None else datetime.fromtimestamp(int(second, 16), UTC)
    return text[: found.start()], OccurrenceRef(nominal_at)


def latest_occurrence_at(task: Task) -> datetime:
    """Return the nominal time of the occurrence that was delivered last or is being delivered."""
    return task.run.nominal_at if task.run else task.nominal_at
