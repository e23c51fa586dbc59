"""Put dead letters that were kept back on the queues they died on."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from duecourse.domain.dispatch.dead_letter import DeadLetter
from duecourse.domain.errors import UnknownTaskError, UnreadableItemError
from duecourse.ports.queues import DeadLetters, MailRoom
from duecourse.ports.tasks import TaskStore

MOST_AT_ONCE = 100
NOT_KEPT = "there is no such letter"


@dataclass(frozen=True)
class Redriven:
    """By id. `left` says of each that stays why it does."""

    sent: list[str] = field(default_factory=list)
    left: dict[str, str] = field(default_factory=dict)


def redrive(
    ids: Collection[str] | None, *, letters: DeadLetters, mail_room: MailRoom, store: TaskStore
) -> Redriven:
    """Those named, or of all of them the oldest hundred that can be sent.

    A letter about a task that does not exist stays: the worker would drop it in silence. So does
    one about a task that cannot be read: it would only die again. One that
    nobody could read is sent, named or not: a mended reader may understand it, and any other lets
    it die again, so that it is kept again.

    Sent first and dropped after: a crash in between sends one again, which does no harm.
    """
    done = Redriven(left=dict.fromkeys(ids or (), NOT_KEPT))
    for letter in wanted(ids, letters):
        reason = letter.stays_because or _missing(letter, store)
        if reason is not None:
            done.left[letter.id] = reason
            continue
        mail_room.send_back(letter)
        letters.drop(letter)
        done.left.pop(letter.id, None)
        done.sent.append(letter.id)
        if len(done.sent) == MOST_AT_ONCE:
            break
    return done


def wanted(ids: Collection[str] | None, letters: DeadLetters) -> Iterator[DeadLetter]:
    return (letter for letter in letters.kept() if ids is None or letter.id in ids)


def _missing(letter: DeadLetter, store: TaskStore) -> str | None:
    if letter.task_id is None:
        return None
    try:
        store.get(letter.task_id)
    except (UnknownTaskError, UnreadableItemError) as error:
        return str(error)
    return None
