"""Truncate texts and select buttons to fit a platform's limits."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from duecourse.adapters.channels.platform import ChannelLimits
from duecourse.adapters.http.surrogates import replace_surrogates
from duecourse.domain.chat.chat_message import Button

Escape = Callable[[str], str]
_JOINERS = "\u200d\ufe0f\ufe0e"
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_MAX_CLUSTER_LENGTH = 20


def utf16_length(text: str) -> int:
    """Return the length in UTF-16 units, as Telegram counts. No platform counts more than that."""
    return len(text) + sum(character > "\uffff" for character in text)


def truncate_text(text: str, limit: int, escape: Escape = str) -> str:
    """Return `text` escaped, truncated to `limit` with a note of how much is missing."""
    text = replace_surrogates(text)
    # Escaping never shortens a text.
    if len(text) <= limit and utf16_length(whole := escape(text)) <= limit:
        return whole
    fits, too_many = 0, min(len(text), limit)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if utf16_length(_truncate_at(text, middle, escape)) <= limit:
            fits = middle
        else:
            too_many = middle
    return _truncate_at(text, fits, escape)


def _truncate_at(text: str, max_length: int, escape: Escape) -> str:
    at = _cluster_boundary(text, max_length)
    return escape(f"{text[:at]}… (cut, {len(text) - at:,} more characters)")


def _cluster_boundary(text: str, at: int) -> int:
    """Return the last position up to `at` that splits no emoji, unless the emoji is very long."""
    for earlier in range(at, max(at - _MAX_CLUSTER_LENGTH, 0), -1):
        if not _is_continuation(text[earlier]) and text[earlier - 1] != "\u200d":
            return earlier
    return at


def _is_continuation(character: str) -> bool:
    is_mark = unicodedata.combining(character) != 0 or character in _JOINERS
    return is_mark or ord(character) in _SKIN_TONES


def select_buttons(buttons: Sequence[Button], limits: ChannelLimits) -> list[Button]:
    """Return the buttons that fit, without duplicates.

    Leaving out a button whose command is too long is safe: the message text names the commands.
    """
    fitting = [
        button
        for button in buttons
        if limits.command_size(button.command) <= limits.longest_command
    ]
    usable = {button.command: button for button in reversed(fitting) if button.command}
    selected = [
        usable[command]
        for command in dict.fromkeys(button.command for button in buttons)
        if command in usable
    ]
    return [
        replace(button, label=_shorten_label(button, limits.longest_label))
        for button in selected[: limits.most_buttons]
    ]


def _shorten_label(button: Button, max_length: int) -> str:
    label = " ".join(replace_surrogates(button.label).split()) or button.command
    return label if utf16_length(label) <= max_length else f"{label[: max_length // 2 - 1]}…"


def split_rows(buttons: Sequence[Button], row_length: int) -> Iterator[Sequence[Button]]:
    return (buttons[start : start + row_length] for start in range(0, len(buttons), row_length))
