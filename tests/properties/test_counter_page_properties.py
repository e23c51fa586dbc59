"""The fence of the counters: each change of a shard counts once, however it is delivered.

A shard delivers its changes in order the first time. After that it may deliver any of them again,
cut into other batches, until they are answered. The model below stores pages as DynamoDB does: by
shard and hour, replaced only if unchanged, with answers that may be lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta

from duecourse.domain.journal.counter_page import (
    NO_PAGE,
    CountedChange,
    CounterPage,
    PageKey,
    group_by_page,
)
from duecourse.domain.journal.increment import Increment, merge_increments
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.builders.moments import NOW

property_settings = settings(deadline=None)
SHARD = "shardId-1"
MAX_DELIVERIES = 12
FULL_AFTER = 3  # counters on a page

Batch = tuple[int, int]  # the positions of its first change and of the one after its last


class LostAnswerError(Exception):
    """The store failed, or its answer was lost."""


@dataclass
class PageStore:
    """Replaces a page only if it is unchanged. `faults` has the outcome of each write."""

    faults: Sequence[str]
    pages: dict[PageKey, dict[int, CounterPage]] = field(default_factory=dict)
    writes: int = 0

    def last_page(self, key: PageKey) -> CounterPage:
        pages = self.pages.get(key, {})
        return pages[max(pages)] if pages else NO_PAGE

    def replace(self, key: PageKey, before: CounterPage, after: CounterPage) -> bool:
        fault = self.faults[self.writes % len(self.faults)] if self.faults else "none"
        self.writes += 1
        if fault == "refused":
            raise LostAnswerError
        stored = self.pages.setdefault(key, {}).get(after.number)
        is_unchanged = (
            stored is None
            if after.number != before.number
            else stored is not None and stored.last_sequence_number == before.last_sequence_number
        )
        if is_unchanged:
            self.pages[key][after.number] = after
        if fault == "lost":
            raise LostAnswerError
        return is_unchanged

    def counted(self) -> list[Increment]:
        pages = [page for pages in self.pages.values() for page in pages.values()]
        return sorted(
            merge_increments(one for page in pages for one in page.increments), key=_sort_key
        )


@dataclass
class Container:
    """A consumer of the shard that keeps the pages it wrote last."""

    store: PageStore
    cache: dict[PageKey, CounterPage] = field(default_factory=dict)

    def add(self, changes: Sequence[CountedChange]) -> None:
        for key, group in group_by_page(SHARD, changes):
            while not self._try_to_add(key, group):
                pass

    def _try_to_add(self, key: PageKey, changes: Sequence[CountedChange]) -> bool:
        before = self.cache.pop(key, None) or self.store.last_page(key)
        after = before.add(changes)
        if after is None:
            return True
        if len(after.increments) >= FULL_AFTER:
            after = after.mark_full()
        if not self.store.replace(key, before, after):
            return False
        self.cache[key] = after
        return True


def _sort_key(increment: Increment) -> tuple[str, str]:
    return increment.day, increment.counter


@st.composite
def changes(draw: st.DrawFn) -> list[CountedChange]:
    """Draw changes in the order of the stream. Their times do not quite follow that order."""
    found, number = [], draw(st.integers(0, 10**20))
    for n in range(draw(st.integers(1, 12))):
        number += draw(st.integers(1, 3))
        minutes = n * draw(st.integers(0, 30)) + draw(st.integers(-2, 2))
        written_at = NOW + timedelta(minutes=minutes)
        counter = st.sampled_from("abcde")
        increments = [
            Increment("2026-02-17", draw(counter), {"n": draw(st.integers(-3, 9))}, {"max": n})
            for _ in range(draw(st.integers(0, 3)))
        ]
        found.append(CountedChange(number, written_at, increments))
    return found


@st.composite
def deliveries(draw: st.DrawFn, count: int) -> list[Batch]:
    """Draw batches of which each begins before what is delivered, or with the next change."""
    found, delivered = list[Batch](), 0
    for _ in range(draw(st.integers(0, MAX_DELIVERIES))):
        start = draw(st.integers(0, min(delivered, count - 1)))
        end = draw(st.integers(start + 1, count))
        found.append((start, end))
        delivered = max(delivered, end)
    return [*found, (delivered, count)] if delivered < count else found


def expected(delivered: Sequence[CountedChange]) -> list[Increment]:
    each_once = merge_increments(one for change in delivered for one in change.increments)
    return sorted(each_once, key=_sort_key)


@property_settings
@given(data=st.data(), stream=changes())
def test_each_change_counts_once_however_it_is_delivered(
    data: st.DataObject, stream: list[CountedChange]
) -> None:
    """Two containers take turns, the store fails and loses answers at random."""
    outcomes = st.sampled_from(["none", "none", "none", "refused", "lost"])
    store = PageStore(data.draw(st.lists(outcomes, max_size=30), label="faults"))
    containers = [Container(store), Container(store)]
    position = 0
    for start, end in data.draw(deliveries(len(stream)), label="deliveries"):
        # A batch that failed is delivered again, before any change after it.
        container = containers[data.draw(st.integers(0, 1), label="container")]
        start, position = min(start, position), max(position, end)
        attempts = 0
        while True:
            try:
                container.add(stream[start:end])
                break
            except LostAnswerError:
                attempts += 1
                container = containers[data.draw(st.integers(0, 1), label="container")]
                if attempts > 5:
                    store.faults = ()
    assert store.counted() == expected(stream)


@property_settings
@given(data=st.data(), stream=changes())
def test_a_page_counts_each_change_once_in_any_batches(
    data: st.DataObject, stream: list[CountedChange]
) -> None:
    page, full_pages = NO_PAGE, list[CounterPage]()
    for start, end in data.draw(deliveries(len(stream)), label="deliveries"):
        batch = data.draw(st.permutations(stream[start:end]), label="batch")
        after = page.add(batch)
        if after is None:
            continue
        if page.is_full:
            full_pages.append(page)
        page = after.mark_full() if data.draw(st.booleans(), label="is full") else after
    counted = [one for page in [*full_pages, page] for one in page.increments]
    assert sorted(merge_increments(counted), key=_sort_key) == expected(stream)


@property_settings
@given(data=st.data(), stream=changes())
def test_a_batch_that_failed_halfway_is_completed_by_its_repetition(
    data: st.DataObject, stream: list[CountedChange]
) -> None:
    """Only the pages of the hours before the failure are written."""
    store = PageStore(["none", "refused"] * 20)
    while True:
        try:
            Container(store).add(stream)
            break
        except LostAnswerError:
            stream_part = data.draw(st.integers(1, len(stream)), label="batch size")
            store.faults = ()
            Container(store).add(stream[:stream_part])
    assert store.counted() == expected(stream)
