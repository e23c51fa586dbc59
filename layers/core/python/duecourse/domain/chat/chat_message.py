"""What a person is told in chat: plain text, and the buttons under it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Button:
    """`says` is a command: pressing the button is saying it, for whoever presses."""

    label: str
    command: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """It quotes people and software as they are: channels escape it."""

    text: str
    buttons: tuple[Button, ...] = ()

    def to_json(self) -> dict[str, Any]:
        buttons = [{"label": button.label, "says": button.command} for button in self.buttons]
        return {"text": self.text, "buttons": buttons}

    @classmethod
    def from_json(cls, stored: Any) -> ChatMessage:
        """Raises ValueError for what is none."""
        said = stored if isinstance(stored, Mapping) else {}
        text, buttons = said.get("text"), said.get("buttons", [])
        if not isinstance(text, str) or not text or not isinstance(buttons, list):
            raise ValueError("not a saying: needs text")
        return cls(text, tuple(_parse_button(button) for button in buttons))


def _parse_button(stored: Any) -> Button:
    match stored:
        case {"label": str(label), "says": str(says)}:
            return Button(label, says)
    raise ValueError("not a button: needs label and says")
