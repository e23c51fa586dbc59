"""What was answered to a message, and whether the sender has got it."""

from __future__ import annotations

from dataclasses import dataclass

from duecourse.domain.chat.saying import Saying


@dataclass(frozen=True, slots=True)
class Answered:
    saying: Saying
    is_told: bool = False
