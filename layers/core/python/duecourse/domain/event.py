"""One thing that happened to a task or to a circuit breaker."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from duecourse.domain.event_types import EventType


@dataclass(frozen=True, slots=True)
class Event:
    """`task_id` is the key of the breaker where the event is about one."""

    type: EventType
    task_id: str
    at: datetime
    detail: dict[str, Any] = field(default_factory=dict)
