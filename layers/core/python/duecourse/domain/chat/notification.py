"""What a person is told, on its way to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duecourse.domain.chat.chat_message import Saying
from duecourse.domain.chat.notification_kind import Kind
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.time.instant import to_text_or_none
from duecourse.domain.validation.stored_fields import StoredFields

_TEXTS = ("channel", "target", "text", "key", "task_id")


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """`key` is the same however often this is sent, so that a channel can drop repeats.

    `sender_id` is whose task it is about: what they want to hear, and when, holds for it. Without
    one it is told at once, whatever it is. `wanted_at` is when they asked for what it is about,
    `run_id` the run that it speaks of.
    """

    channel: str
    target: str
    saying: Saying
    key: str
    task_id: str
    kind: Kind = Kind.OTHER
    sender_id: str | None = None
    wanted_at: datetime | None = None
    run_id: str | None = None

    @property
    def owner(self) -> Owner | None:
        return None if self.sender_id is None else Owner(self.channel, self.sender_id)

    def to_json(self) -> dict[str, Any]:
        """What is said stands beside the rest, as it did before there were buttons."""
        rest = {"channel": self.channel, "target": self.target}
        rest |= {"key": self.key, "task_id": self.task_id, "kind": str(self.kind)}
        about = {"sender_id": self.sender_id, "wanted_at": to_text_or_none(self.wanted_at)}
        about["run_id"] = self.run_id
        rest |= {name: value for name, value in about.items() if value is not None}
        return rest | self.saying.to_json()

    @classmethod
    def from_json(cls, stored: Any) -> Notice:
        """Raises ValueError for what is no notice. One from before there were buttons has none, and
        one from before there were kinds is told whatever its receiver wants to hear."""
        told = stored if isinstance(stored, Mapping) else {}
        texts = {name: told[name] for name in _TEXTS if isinstance(told.get(name), str)}
        if len(texts) < len(_TEXTS) or not all(texts.values()):
            raise ValueError(f"not a notice: needs {', '.join(_TEXTS)}")
        del texts["text"]
        return cls(
            **texts,
            saying=Saying.from_json(told),
            kind=_kind(told.get("kind")),
            sender_id=_text_or_none(told.get("sender_id")),
            wanted_at=StoredFields.of(told).instant("wanted_at"),
            run_id=_text_or_none(told.get("run_id")),
        )


def _text_or_none(stored: Any) -> str | None:
    return stored if isinstance(stored, str) else None


def _kind(stored: Any) -> Kind:
    try:
        return Kind(stored)
    except ValueError:
        return Kind.OTHER
