"""Dead letters in the journal table, until they expire or are redriven."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from duecourse.adapters.aws.dynamodb.journal_models import JournalItem
from duecourse.adapters.aws.dynamodb.stored_item import read_items
from duecourse.domain.dispatch.dead_letter import DeadLetter
from duecourse.domain.time.instant import to_text

PARTITION = "dead-letters"


class DynamoDeadLetters:
    def __init__(self, *, retention: timedelta) -> None:
        self._retention = retention

    def save(self, letter: DeadLetter) -> None:
        JournalItem(
            PARTITION,
            _entry_key(letter),
            at=to_text(letter.sent_at),
            detail=letter.to_json(),
            expires_at=int((letter.sent_at + self._retention).timestamp()),
        ).save()

    def list_letters(self, after: str = "") -> Iterator[DeadLetter]:
        found = JournalItem.query(PARTITION, JournalItem.entry > f"d#{after}")
        return read_items(found, lambda item: DeadLetter.from_json(item.detail or {}))

    def drop(self, letter: DeadLetter) -> None:
        JournalItem(PARTITION, _entry_key(letter)).delete()


def _entry_key(letter: DeadLetter) -> str:
    """Return a key made from the message, so saving the same message twice gives one item."""
    return f"d#{letter.sort_key}"
