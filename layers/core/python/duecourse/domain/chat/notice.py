"""What a person is told, on its way to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from duecourse.domain.chat.saying import Saying

_TEXTS = ("channel", "target", "text", "key", "task_id")


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """`key` is the same however often this is sent, so that a channel can drop repeats."""

    channel: str
    target: str
    saying: Saying
    key: str
    task_id: str

    def to_json(self) -> dict[str, Any]:
        """What is said stands beside the rest, as it did before there were buttons."""
        rest = {"channel": self.channel, "target": self.target}
        rest |= {"key": self.key, "task_id": self.task_id}
        return rest | self.saying.to_json()

    @classmethod
    def from_json(cls, stored: Any) -> Notice:
        """Raises ValueError for what is no notice. One from before there were buttons has none."""
        told = stored if isinstance(stored, Mapping) else {}
        texts = {name: told[name] for name in _TEXTS if isinstance(told.get(name), str)}
        if len(texts) < len(_TEXTS) or not all(texts.values()):
            raise ValueError(f"not a notice: needs {', '.join(_TEXTS)}")
        del texts["text"]
        return cls(**texts, saying=Saying.from_json(told))
