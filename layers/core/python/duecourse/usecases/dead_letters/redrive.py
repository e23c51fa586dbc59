"""Put dead letters that were kept back on the queues they died on."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field

from duecourse.domain.dispatch.dead_letter import DeadLetter
from duecourse.domain.errors import UnknownTaskError, UnreadableItemError
from duecourse.ports.queues import DeadLetters, SourceQueues
from duecourse.ports.tasks import TaskStore

MAX_BATCH_SIZE = 100
NOT_FOUND = "there is no such letter"


@dataclass(frozen=True)
class RedriveResult:
    """By id. `left` says of each that stays why it does."""

    sent: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)


def redrive(
    ids: Collection[str] | None,
    *,
    dead_letters: DeadLetters,
    source_queues: SourceQueues,
    store: TaskStore,
) -> RedriveResult:
    """Those named, or of all of them the oldest hundred that can be sent.

    A letter about a task that does not exist stays: the worker would drop it in silence. So does
    one about a task that cannot be read: it would only die again. One that
    nobody could read is sent, named or not: a mended reader may understand it, and any other lets
    it die again, so that it is kept again.

    Sent first and dropped after: a crash in between sends one again, which does no harm.
    """
    done = RedriveResult(skipped=dict.fromkeys(ids or (), NOT_FOUND))
    for letter in select_letters(ids, dead_letters):
        reason = letter.redrive_obstacle or _missing_task_reason(letter, store)
        if reason is not None:
            done.skipped[letter.id] = reason
            continue
        source_queues.redrive(letter)
        dead_letters.drop(letter)
        done.skipped.pop(letter.id, None)
        done.sent.append(letter.id)
        if len(done.sent) == MAX_BATCH_SIZE:
            break
    return done


def select_letters(ids: Collection[str] | None, dead_letters: DeadLetters) -> Iterator[DeadLetter]:
    return (letter for letter in dead_letters.list_letters() if ids is None or letter.id in ids)


def _missing_task_reason(letter: DeadLetter, store: TaskStore) -> str | None:
    if letter.task_id is None:
        return None
    try:
        store.get(letter.task_id)
    except (UnknownTaskError, UnreadableItemError) as error:
        return str(error)
    return None
