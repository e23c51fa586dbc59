"""The records of one invocation: what fails of them comes again, and nothing overtakes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from aws_lambda_powertools import Logger
from duecourse.adapters.aws.dynamodb.stream import Record, sequence_of, subject_of
from duecourse.domain.errors import UnreadableItemError
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.journal.counters import Increment
from duecourse.usecases.journal.project_change import Kept

logger = Logger(service="journal", child=True)


class Batch:
    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self._kept: dict[str, Kept] = {}
        self._failed: set[str] = set()

    def keep(self, keep: Callable[[Record], Kept]) -> None:
        def one(record: Record) -> None:
            try:
                kept = keep(record)
            except UnreadableItemError:
                kept = Kept()  # it was set aside; tried again, it would be no more readable
            self._kept[sequence_of(record)] = kept

        self._each(one)

    def tell(self, tell: Callable[[Kept], None]) -> None:
        self._each(lambda record: tell(self._kept[sequence_of(record)]))

    def fail_from(self, event: LiveEvent) -> None:
        """The record that brought the event comes again, and all after it."""
        numbers = list(self._numbers())
        brought = [n for n in numbers if n in self._kept and event in self._kept[n].events]
        self._failed |= set(numbers[numbers.index(brought[0]) :])

    @property
    def events(self) -> list[LiveEvent]:
        """Of all that could be kept, in the order it happened."""
        kept = [self._kept[number] for number in self._numbers() if number in self._kept]
        return [event for one in kept for event in one.events]

    @property
    def increments(self) -> list[Increment]:
        """From the first that failed, the whole rest of the batch comes again: it counts then."""
        found: list[Increment] = []
        for number in self._numbers():
            if number in self._failed:
                break
            found += self._kept[number].increments
        return found

    def reply(self) -> dict[str, Any]:
        failed = [number for number in self._numbers() if number in self._failed]
        return {"batchItemFailures": [{"itemIdentifier": number} for number in failed]}

    def _each(self, do: Callable[[Record], None]) -> None:
        """In order. After a record that failed, later ones of the same task wait for it."""
        held_up: set[str] = set()
        for record in self._records:
            number, subject = sequence_of(record), subject_of(record)
            if number not in self._failed and subject not in held_up and _done(do, record):
                continue
            held_up.add(subject)
            self._failed.add(number)

    def _numbers(self) -> Iterator[str]:
        return map(sequence_of, self._records)


def _done(do: Callable[[Record], None], record: Record) -> bool:
    try:
        do(record)
    except Exception:
        logger.exception("the record will be tried again", keys=record["dynamodb"].get("Keys"))
        return False
    return True
