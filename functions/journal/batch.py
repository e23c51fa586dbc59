"""The stream records of one invocation. Failed records are retried and never overtaken."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from aws_lambda_powertools import Logger
from duecourse.adapters.aws.dynamodb.stream import Record, ordering_key, sequence_number
from duecourse.domain.errors import UnreadableItemError
from duecourse.domain.events.event import LiveEvent
from duecourse.domain.journal.counters import Increment
from duecourse.usecases.journal.project_change import ProjectedChange

logger = Logger(service="journal", child=True)


class Batch:
    def __init__(self, records: Sequence[Record]) -> None:
        self._records = records
        self._projected: dict[str, ProjectedChange] = {}
        self._failed: set[str] = set()

    def project(self, project: Callable[[Record], ProjectedChange]) -> None:
        def project_one(record: Record) -> None:
            try:
                projected = project(record)
            except UnreadableItemError:
                projected = ProjectedChange()  # it is reported; a retry could not read it either
            self._projected[sequence_number(record)] = projected

        self._process_in_order(project_one)

    def notify(self, notify: Callable[[ProjectedChange], None]) -> None:
        self._process_in_order(lambda record: notify(self._projected[sequence_number(record)]))

    def fail_from(self, event: LiveEvent) -> None:
        """Fail the record that caused `event` and all later ones, so that they are retried."""
        numbers = list(self._sequence_numbers())
        first = next(
            n for n in numbers if n in self._projected and event in self._projected[n].events
        )
        self._failed |= set(numbers[numbers.index(first) :])

    @property
    def events(self) -> list[LiveEvent]:
        """Return the events of all projected records, in order."""
        return [
            event
            for number in self._sequence_numbers()
            if number in self._projected
            for event in self._projected[number].events
        ]

    @property
    def increments(self) -> list[Increment]:
        """Return the increments before the first failed record; the others are retried."""
        found: list[Increment] = []
        for number in self._sequence_numbers():
            if number in self._failed:
                break
            found += self._projected[number].increments
        return found

    def response(self) -> dict[str, Any]:
        failed = [number for number in self._sequence_numbers() if number in self._failed]
        return {"batchItemFailures": [{"itemIdentifier": number} for number in failed]}

    def _process_in_order(self, process: Callable[[Record], None]) -> None:
        """Process the records in order. After a failure, later ones of the same task fail too."""
        failed_keys: set[str] = set()
        for record in self._records:
            number, key = sequence_number(record), ordering_key(record)
            if (
                number not in self._failed
                and key not in failed_keys
                and _try_process(process, record)
            ):
                continue
            failed_keys.add(key)
            self._failed.add(number)

    def _sequence_numbers(self) -> Iterator[str]:
        return map(sequence_number, self._records)


def _try_process(process: Callable[[Record], None], record: Record) -> bool:
    try:
        process(record)
    except Exception:
        logger.exception("record_not_projected", keys=record["dynamodb"].get("Keys"))
        return False
    return True
