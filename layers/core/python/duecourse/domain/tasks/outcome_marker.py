"""How an action went, by the last line of the provider's own reply."""

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
# It is the whole of the last line, or what was left out before it is marked as such. Behind
# other words it is a quotation.
_OUTCOME = re.compile(rf"(?:… ?)?{MARKER} (?:(success)|failed(?: \| (\S.*))?)")


@dataclass(frozen=True)
class Succeeded:
    pass


@dataclass(frozen=True)
class Failed:
    reason: str


@dataclass(frozen=True)
class NoOutcome:
    """No marker is not success."""


Outcome = Succeeded | Failed | NoOutcome


def parse_outcome(reply: str) -> Outcome:
    lines = reply.strip().rsplit("\n", maxsplit=1)
    found = _OUTCOME.fullmatch(lines[-1].strip())
    if found is None:
        return NoOutcome()
    if found[1]:
        return Succeeded()
    return Failed(found[2] or "the provider gave no reason")


def reply_text(result: Any) -> str:
    """What the provider of an action said, without the line by which it told the outcome."""
    said = result.get("reply") if isinstance(result, Mapping) else None
    text = remove_unprintable(said).strip() if isinstance(said, str) else ""
    return text if isinstance(parse_outcome(text), NoOutcome) else text.rpartition("\n")[0].rstrip()
