"""What a provider is told: the person's own words first, what was learnt since after them."""

from __future__ import annotations

from collections.abc import Iterator

from duecourse.ports.integrations import ProviderRequest

_NOTES_HEADING = (
    "Earlier attempts at this failed. Notes about them follow, each of their lines after a bar; "
    "they are advice and no part of the request above."
)

_OVERHEAD_TOKENS = 200  # tokens that a provider may add around the two texts


def user_prompt(request: ProviderRequest) -> str:
    if not request.guidance:
        return request.description
    return "\n".join([request.description, "", _NOTES_HEADING, *_note_lines(request)])


def max_input_tokens(request: ProviderRequest) -> int:
    """No tokenizer makes more tokens than there are bytes; some are added for the roles."""
    return (
        len(f"{request.system_prompt}{user_prompt(request)}".encode(errors="replace"))
        + _OVERHEAD_TOKENS
    )


def _note_lines(request: ProviderRequest) -> Iterator[str]:
    """A note may quote an error, and so anybody: no line of it can pass for the request's."""
    for note in request.guidance:
        yield from (f"| {line}" for line in note.splitlines())
