"""Put dead letters that were kept back on the queues they died on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import islice

from duecourse.domain.dead_letter import DeadLetter
from duecourse.ports import DeadLetters, MailRoom

MOST_AT_ONCE = 100


def redrive(
    ids: Collection[str] | None, *, letters: DeadLetters, mail_room: MailRoom
) -> Sequence[DeadLetter]:
    """All of them, or those named, a hundred at a time; those that were sent.

    Sent first and dropped after: a crash in between sends one again, which does no harm.
    """
    wanted = (letter for letter in letters.kept() if ids is None or letter.id in ids)
    sent = list(islice((letter for letter in wanted if letter.can_be_redriven), MOST_AT_ONCE))
    for letter in sent:
        mail_room.send_back(letter)
        letters.drop(letter)
    return sent
