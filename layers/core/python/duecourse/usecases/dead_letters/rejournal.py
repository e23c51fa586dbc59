"""Redrive dead letters of the journal: process their changes again, or repair what is lost."""

from __future__ import annotations

from collections.abc import Sequence

from duecourse.domain.dispatch.dead_letter import DeadLetter
from duecourse.domain.dispatch.unjournaled import StreamPosition, is_journaled, parse_unjournaled
from duecourse.domain.events.stream_change import StreamChange
from duecourse.usecases.dead_letters.process_again import RejournalDeps, process_again
from duecourse.usecases.dead_letters.repair_lost import FAILED_AGAIN, repair_lost

NO_TIME = "the request had no time left for it: redrive it again"
UNREADABLE = "it names neither records nor a position in the stream"


def rejournal(letter: DeadLetter, deps: RejournalDeps) -> str | None:
    """Process the letter's changes again; return why it has to stay, else None."""
    if not deps.has_time():
        return NO_TIME
    try:
        content = _parse(letter, deps)
    except (AttributeError, KeyError, TypeError, ValueError):
        return UNREADABLE
    if isinstance(content, StreamPosition):
        return repair_lost(letter, content, deps)
    return None if all(process_again(change, deps) for change in content) else FAILED_AGAIN


def _parse(letter: DeadLetter, deps: RejournalDeps) -> StreamPosition | Sequence[StreamChange]:
    content = parse_unjournaled(letter.body)
    if isinstance(content, StreamPosition):
        return content
    return [deps.parse_change(record) for record in content.records if is_journaled(record)]
