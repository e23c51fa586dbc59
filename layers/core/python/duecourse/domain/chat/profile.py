"""The stored preferences of a person."""

from __future__ import annotations

from dataclasses import dataclass

from duecourse.domain.chat.notification_kind import NotifyLevel
from duecourse.domain.tasks.owner import Owner


@dataclass(frozen=True, slots=True)
class Profile:
    """`timezone` is set by /timezone and `notify` by /notify; None until then."""

    owner: Owner
    timezone: str | None = None
    notify: NotifyLevel | None = None
