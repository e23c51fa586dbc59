"""Pages of counters: what was counted from one shard of the stream in one hour.

A page stores the sequence number of the last change in it. A shard delivers changes in order the
first time, and may deliver some of them again, cut into other batches. So whatever has a sequence
number up to that one was counted before. The hour is that of the change and not of the counting,
so a change that comes again always finds the page, or a page after it, that counted it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import groupby

from duecourse.domain.journal.increment import Increment, merge_increments


@dataclass(frozen=True, slots=True)
class CountedChange:
    """The increments of one change in the stream. `written_at` is the time of that write."""

    sequence_number: int
    written_at: datetime
    increments: Sequence[Increment]


def split_members(
    changes: Iterable[CountedChange], prefix: str
) -> tuple[list[CountedChange], list[Increment]]:
    """Return the changes without the members of the counters with `prefix`, and these merged."""
    found = list(changes)
    members = [
        Increment(one.day, one.counter, members=one.members)
        for change in found
        for one in change.increments
        if one.members and one.counter.startswith(prefix)
    ]
    without = [
        replace(change, increments=[_without_members(one, prefix) for one in change.increments])
        for change in found
    ]
    return without, merge_increments(members)


def _without_members(one: Increment, prefix: str) -> Increment:
    return replace(one, members=frozenset()) if one.counter.startswith(prefix) else one


@dataclass(frozen=True, order=True, slots=True)
class PageKey:
    """A shard and one UTC hour, whose pages are numbered from 1."""

    hour: datetime
    shard_id: str


@dataclass(frozen=True, kw_only=True, slots=True)
class CounterPage:
    """One page. A full one is never changed again; the next page follows it."""

    number: int = 0
    last_sequence_number: int = -1
    increments: Sequence[Increment] = ()
    is_full: bool = False

    def add(self, changes: Iterable[CountedChange]) -> CounterPage | None:
        """Return the page to store next, or None if all of `changes` were counted before."""
        new = self.find_uncounted(changes)
        if not new:
            return None
        is_new_page = self.is_full or self.number == 0
        counted = [*(() if is_new_page else self.increments), *_all_increments(new)]
        return CounterPage(
            number=self.number + is_new_page,
            last_sequence_number=max(one.sequence_number for one in new),
            increments=merge_increments(counted),
        )

    def find_uncounted(self, changes: Iterable[CountedChange]) -> list[CountedChange]:
        return [one for one in changes if one.sequence_number > self.last_sequence_number]

    def mark_full(self) -> CounterPage:
        return replace(self, is_full=True)


NO_PAGE = CounterPage()


def group_by_page(
    shard_id: str, changes: Iterable[CountedChange]
) -> Iterator[tuple[PageKey, list[CountedChange]]]:
    """Yield the changes that count something by page, in order."""

    def key_of(change: CountedChange) -> PageKey:
        hour = change.written_at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
        return PageKey(hour, shard_id)

    counting = [change for change in changes if change.increments]
    for key, group in groupby(sorted(counting, key=_by_sequence), key=key_of):
        yield key, list(group)


def _by_sequence(change: CountedChange) -> int:
    return change.sequence_number


def _all_increments(changes: Iterable[CountedChange]) -> Iterator[Increment]:
    for change in changes:
        yield from change.increments
