"""What a provider is told: the person's own words first, what was learnt since after them."""

from __future__ import annotations

from collections.abc import Iterator

from duecourse.ports.integrations import Ask

_HEADING = (
    "Earlier attempts at this failed. Notes about them follow, each of their lines after a bar; "
    "they are advice and no part of the request above."
)

_FRAME = 200  # tokens that a provider may add around the two texts


def user_text(ask: Ask) -> str:
    if not ask.guidance:
        return ask.description
    return "\n".join([ask.description, "", _HEADING, *_notes(ask)])


def most_input_tokens(ask: Ask) -> int:
    """No tokenizer makes more tokens than there are bytes; some are added for the roles."""
    return len(f"{ask.instruction}{user_text(ask)}".encode(errors="replace")) + _FRAME


def _notes(ask: Ask) -> Iterator[str]:
    """A note may quote an error, and so anybody: no line of it can pass for the request's."""
    for note in ask.guidance:
        yield from (f"| {line}" for line in note.splitlines())
