"""Texts and buttons cut down to what a platform takes, and saying so."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from duecourse.adapters.channels.platform import ChannelLimits
from duecourse.adapters.http.surrogates import whole_characters
from duecourse.domain.chat.chat_message import Button

Escape = Callable[[str], str]
_JOINERS = "\u200d\ufe0f\ufe0e"
_TAILS = range(0x1F3FB, 0x1F400)  # skin tones
_LONGEST_CLUSTER = 20


def size(text: str) -> int:
    """In UTF-16 units, as Telegram counts; nobody counts more."""
    return len(text) + sum(character > "\uffff" for character in text)


def fitted(text: str, limit: int, escape: Escape = str) -> str:
    """Escaped, and with the words that tell of a cut, no longer than the limit."""
    text = whole_characters(text)
    # An escaped text is never shorter than its original.
    if len(text) <= limit and size(whole := escape(text)) <= limit:
        return whole
    fits, too_many = 0, min(len(text), limit)
    while too_many - fits > 1:
        middle = (fits + too_many) // 2
        if size(_cut(text, middle, escape)) <= limit:
            fits = middle
        else:
            too_many = middle
    return _cut(text, fits, escape)


def _cut(text: str, most: int, escape: Escape) -> str:
    at = _between_clusters(text, most)
    return escape(f"{text[:at]}… (cut, {len(text) - at:,} characters more)")


def _between_clusters(text: str, at: int) -> int:
    """No emoji is cut in two, unless it goes on for very long."""
    for earlier in range(at, max(at - _LONGEST_CLUSTER, 0), -1):
        if not _goes_on(text[earlier]) and text[earlier - 1] != "\u200d":
            return earlier
    return at


def _goes_on(character: str) -> bool:
    is_mark = unicodedata.combining(character) != 0 or character in _JOINERS
    return is_mark or ord(character) in _TAILS


def pressable(buttons: Sequence[Button], limits: ChannelLimits) -> list[Button]:
    """Without those whose command does not fit: the text tells people what they can say as well."""
    fitting = [one for one in buttons if limits.command_size(one.says) <= limits.longest_command]
    usable = {one.says: one for one in reversed(fitting) if one.says}
    kept = [usable[says] for says in dict.fromkeys(one.says for one in buttons) if says in usable]
    return [
        replace(one, label=_label(one, limits.longest_label)) for one in kept[: limits.most_buttons]
    ]


def _label(button: Button, longest: int) -> str:
    label = " ".join(whole_characters(button.label).split()) or button.says
    return label if size(label) <= longest else f"{label[: longest // 2 - 1]}…"


def rows(buttons: Sequence[Button], length: int) -> Iterator[Sequence[Button]]:
    return (buttons[start : start + length] for start in range(0, len(buttons), length))
