"""What is remembered of a person who talks to us."""

from __future__ import annotations

from dataclasses import dataclass

from duecourse.domain.chat.notification_kind import NotifyLevel
from duecourse.domain.tasks.owner import Owner


@dataclass(frozen=True, slots=True)
class Profile:
    """`timezone` is what they said by /timezone, `notify` by /notify; None until they do."""

    owner: Owner
    timezone: str | None = None
    notify: NotifyLevel | None = None
