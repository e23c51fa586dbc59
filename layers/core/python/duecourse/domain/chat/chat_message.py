"""A message to a person in chat: plain text and buttons."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Button:
    """Pressing the button sends `command` on behalf of the person who presses it."""

    label: str
    command: str


@dataclass(frozen=True, slots=True)
class ChatMessage:
    """The text is not escaped; each channel escapes it for its platform."""

    text: str
    buttons: tuple[Button, ...] = ()

    def to_json(self) -> dict[str, Any]:
        buttons = [{"label": button.label, "says": button.command} for button in self.buttons]
        return {"text": self.text, "buttons": buttons}

    @classmethod
    def from_json(cls, stored: Any) -> ChatMessage:
        """Parse a stored message. Raises ValueError if it is invalid."""
        fields = stored if isinstance(stored, Mapping) else {}
        text, buttons = fields.get("text"), fields.get("buttons", [])
        if not isinstance(text, str) or not text or not isinstance(buttons, list):
            raise ValueError("not a chat message: needs text")
        return cls(text, tuple(_parse_button(button) for button in buttons))


def _parse_button(stored: Any) -> Button:
    match stored:
        case {"label": str(label), "says": str(command)}:
            return Button(label, command)
    raise ValueError("not a button: needs label and says")
