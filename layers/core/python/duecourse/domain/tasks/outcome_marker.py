"""Reads the outcome of an action from the last line of the provider's reply."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from duecourse.domain.text.formatting import remove_unprintable

MARKER = "ACTION_OUTCOME:"
INSTRUCTION = (
    "Carry out the task. End your reply with a line of its own that says how it went: "
    f"`{MARKER} success`, or `{MARKER} failed | <reason>`."
)
# The marker must fill the last line; behind other words it is a quotation. A truncated reply may
# have an ellipsis before it.
_OUTCOME = re.compile(rf"(?:… ?)?{MARKER} (?:(success)|failed(?: \| (\S.*))?)")


@dataclass(frozen=True)
class Succeeded:
    pass


@dataclass(frozen=True)
class Failed:
    reason: str


@dataclass(frozen=True)
class NoOutcome:
    """The reply has no marker. That does not count as success."""


Outcome = Succeeded | Failed | NoOutcome


def parse_outcome(reply: str) -> Outcome:
    lines = reply.strip().rsplit("\n", maxsplit=1)
    match = _OUTCOME.fullmatch(lines[-1].strip())
    if match is None:
        return NoOutcome()
    if match[1]:
        return Succeeded()
    return Failed(match[2] or "the provider gave no reason")


def reply_text(result: Any) -> str:
    """Return the provider's reply in `result` without its marker line; empty without a reply."""
    reply = result.get("reply") if isinstance(result, Mapping) else None
    text = remove_unprintable(reply).strip() if isinstance(reply, str) else ""
    return text if isinstance(parse_outcome(text), NoOutcome) else text.rpartition("\n")[0].rstrip()
