"""Redrive stored dead letters: send them to the queues they came from."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field

from duecourse.domain.dispatch.dead_letter import DeadLetter, Queue
from duecourse.domain.errors import UnknownTaskError, UnreadableItemError
from duecourse.ports.queues import DeadLetters, SourceQueues
from duecourse.ports.tasks import TaskStore

MAX_BATCH_SIZE = 100
NOT_FOUND = "no dead letter has this id"


@dataclass(frozen=True)
class RedriveResult:
    """Letter ids. `skipped` maps each letter that stays stored to the reason."""

    sent: list[str] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)


def redrive(
    ids: Collection[str] | None,
    *,
    dead_letters: DeadLetters,
    source_queues: SourceQueues,
    store: TaskStore,
    rejournal: Callable[[DeadLetter], str | None],
) -> RedriveResult:
    """Redrive the letters named by `ids`; with None, the oldest MAX_BATCH_SIZE that can be sent.

    A letter about a task that is unknown or unreadable stays: the worker would drop it, or it would
    die again. A letter with an unreadable body is sent, because fixed code may be able to read it;
    if not, it is stored again. A letter of the journal has no queue: `rejournal` processes its
    changes again, and returns why that failed, if it did.

    Letters are sent before they are dropped. A crash in between sends one twice, which is harmless.
    """
    done = RedriveResult(skipped=dict.fromkeys(ids or (), NOT_FOUND))
    for letter in select_letters(ids, dead_letters):
        reason = letter.redrive_obstacle or (
            rejournal(letter)
            if letter.queue is Queue.JOURNAL
            else _send_if_task_exists(letter, source_queues, store)
        )
        if reason is not None:
            done.skipped[letter.id] = reason
            continue
        dead_letters.drop(letter)
        done.skipped.pop(letter.id, None)
        done.sent.append(letter.id)
        if len(done.sent) == MAX_BATCH_SIZE:
            break
    return done


def select_letters(ids: Collection[str] | None, dead_letters: DeadLetters) -> Iterator[DeadLetter]:
    return (letter for letter in dead_letters.list_letters() if ids is None or letter.id in ids)


def _send_if_task_exists(
    letter: DeadLetter, source_queues: SourceQueues, store: TaskStore
) -> str | None:
    """Send the letter to its queue, unless its task is missing; return the reason then."""
    try:
        if letter.task_id is not None:
            store.get(letter.task_id)
    except (UnknownTaskError, UnreadableItemError) as error:
        return str(error)
    source_queues.redrive(letter)
    return None
