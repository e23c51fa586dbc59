"""What a person is told, on its way to them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from duecourse.domain.chat.saying import Button, Saying

_TEXTS = ("channel", "target", "text", "key", "task_id")


@dataclass(frozen=True, kw_only=True, slots=True)
class Notice:
    """`key` is the same however often this is sent, so that a channel can drop repeats.

    The text is plain: it quotes people and software as they are, and channels escape it.
    """

    channel: str
    target: str
    text: str
    key: str
    task_id: str
    buttons: tuple[Button, ...] = ()

    @property
    def saying(self) -> Saying:
        return Saying(self.text, self.buttons)

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"buttons": [asdict(button) for button in self.buttons]}

    @classmethod
    def from_json(cls, stored: Any) -> Notice:
        """Raises ValueError for what is no notice. One from before there were buttons has none."""
        said = stored if isinstance(stored, Mapping) else {}
        texts = {name: said[name] for name in _TEXTS if isinstance(said.get(name), str)}
        if len(texts) < len(_TEXTS) or not all(texts.values()):
            raise ValueError(f"not a notice: needs {', '.join(_TEXTS)}")
        return cls(**texts, buttons=Saying.from_json(said).buttons)
