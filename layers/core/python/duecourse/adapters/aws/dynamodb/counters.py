"""Counters on DynamoDB: pages by stream shard and hour, each batch of changes one write.

Every page is replaced only if it is unchanged since it was read, so a change counts once.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime, timedelta
from typing import Any

from pynamodb.exceptions import PutError

from duecourse.adapters.aws.dynamodb.conditions import is_condition_failed
from duecourse.adapters.aws.dynamodb.counter_encoding import decode_increments, encode_increments
from duecourse.adapters.aws.dynamodb.failed_run_items import FAILED_RUNS_PREFIX, store_if_many
from duecourse.adapters.aws.dynamodb.raw_items import put_stored
from duecourse.adapters.aws.dynamodb.stored_item import read_item, read_items
from duecourse.adapters.aws.dynamodb.tracking_models import CounterItem
from duecourse.domain.errors import StalePageError, UnreadableItemError
from duecourse.domain.journal.counted_runs import read_counted_runs
from duecourse.domain.journal.counter_page import (
    NO_PAGE,
    CountedChange,
    CounterPage,
    PageKey,
    group_by_page,
)
from duecourse.domain.journal.failed_runs import FailedRun, read_failed_runs
from duecourse.domain.journal.increment import Increment, merge_increments
from duecourse.domain.time.utc_days import days_between, utc_day

# A write is billed by the size of the whole item, so a page ends before it costs two units.
FULL_PAGE_BYTES = 580
PAGE_RETENTION = timedelta(days=35)
ROLLUP_RETENTION = timedelta(days=95)
# Lambda reads a change at most 24 hours after it was written. One hour more allows for clocks.
SEALED_AFTER = timedelta(hours=25)
ROLLUP_PARTITION = "rollup"
MAX_ATTEMPTS = 5
MAX_CACHED_PAGES = 32
MAX_FIRST_ROLLUPS = 4
_INCREMENTS_PER_ITEM = 2_000  # keeps a rollup far below the 400 KB of an item
_PAGE_PREFIX = "page#"
_LAST_PART = "last"
_FIRST_TEXTS = ("first_seen",)
_MAXIMUM = "max"
_NEW_PAGE: Mapping[str, Any] = {
    "ConditionExpression": "attribute_not_exists(#counter)",
    "ExpressionAttributeNames": {"#counter": "counter"},
}


class DynamoCounters:
    """Keeps the pages it wrote last, so that the next batch of a shard needs no read."""

    def __init__(self, *, retention: timedelta = PAGE_RETENTION) -> None:
        # Pages name the failed runs, which are listed for as long as their records exist.
        self._retention = max(PAGE_RETENTION, retention)
        self._pages: OrderedDict[PageKey, CounterPage] = OrderedDict()
        self._compacted_until = ""

    def add(self, shard_id: str, changes: Iterable[CountedChange]) -> None:
        for key, group in group_by_page(shard_id, changes):
            if not any(self._try_to_add(key, group) for _ in range(MAX_ATTEMPTS)):
                raise StalePageError(key.shard_id)

    def read_since(self, day: str, *, now: datetime) -> Sequence[Increment]:
        # A run's clock may be ahead of the table's: what it counted may be in yesterday's pages.
        first, today = _day_before(day), utc_day(now)
        rollups = _read_rollups(first)
        rolled_up = {item.counter[:10] for item in rollups}
        pages = [_query_counters(one) for one in days_between(first, today, without=rolled_up)]
        items = [*rollups, *(item for page in pages for item in page)]
        return merge_increments(one for part in read_items(items, _to_increments) for one in part)

    def list_failed_runs(self, day: str) -> Sequence[FailedRun]:
        items = CounterItem.query(day, CounterItem.counter >= _PAGE_PREFIX)
        increments = (one for part in read_items(items, _to_increments) for one in part)
        return sorted(set(read_failed_runs(increments)))

    def list_counted_runs(self, day: str) -> Set[str] | None:
        items = list(_query_counters(day, consistent_read=True))
        if any(not item.counter.startswith(_PAGE_PREFIX) for item in items):
            return None  # counted by version 0.1, which names no runs
        increments = (one for part in read_items(items, _to_increments) for one in part)
        return read_counted_runs(increments)

    def compact(self, *, now: datetime) -> int:
        last_day = _day_before(utc_day(now - SEALED_AFTER))
        if self._compacted_until >= last_day:
            return 0
        days = days_between(_first_day_to_roll_up(last_day), last_day)
        for day in days:
            _write_rollup(day)
        self._compacted_until = last_day
        return len(days)

    def _try_to_add(self, key: PageKey, changes: Sequence[CountedChange]) -> bool:
        """Return False if another invocation stored the page first."""
        before = self._pages.pop(key, None) or _load_last_page(key)
        uncounted = before.find_uncounted(changes)
        after = before.add(store_if_many(key, uncounted, retention=self._retention))
        if after is None:
            return True
        item = _to_page_item(key, after, retention=self._retention)
        if len(item.counted) >= FULL_PAGE_BYTES:
            after = after.mark_full()
            item.is_full = True
        try:
            put_stored(CounterItem, item.serialize(), _unchanged_since(before, after))
        except PutError as error:
            if is_condition_failed(error):
                return False
            raise
        self._pages[key] = after
        if len(self._pages) > MAX_CACHED_PAGES:
            self._pages.popitem(last=False)
        return True


def _query_counters(day: str, *, consistent_read: bool = False) -> Iterable[CounterItem]:
    counters = CounterItem.counter < FAILED_RUNS_PREFIX
    return CounterItem.query(day, counters, consistent_read=consistent_read)


def _unchanged_since(before: CounterPage, after: CounterPage) -> Mapping[str, Any]:
    """Return the parameters of the condition for a put."""
    if after.number != before.number:
        return _NEW_PAGE
    return {
        "ConditionExpression": "last_sequence_number = :last",
        "ExpressionAttributeValues": {":last": {"S": str(before.last_sequence_number)}},
    }


def _load_last_page(key: PageKey) -> CounterPage:
    found = CounterItem.query(
        utc_day(key.hour),
        CounterItem.counter.startswith(_page_prefix(key)),
        scan_index_forward=False,
        consistent_read=True,
        limit=1,
    )
    return next(map(_read_page, found), NO_PAGE)


def _read_page(item: CounterItem) -> CounterPage:
    """Return the page. An unreadable one counts as full: the next page takes over from it."""
    try:
        return read_item(item, _to_page)
    except UnreadableItemError:
        return CounterPage(number=_page_number(item), is_full=True)


def _page_number(item: CounterItem) -> int:
    return int(item.counter.rpartition("#")[2])


def _page_prefix(key: PageKey) -> str:
    return f"{_PAGE_PREFIX}{key.hour:%H}#{key.shard_id}#"


def _to_page_item(key: PageKey, page: CounterPage, *, retention: timedelta) -> CounterItem:
    return CounterItem(
        utc_day(key.hour),
        f"{_page_prefix(key)}{page.number:06d}",
        last_sequence_number=str(page.last_sequence_number),
        counted=encode_increments(page.increments),
        expires_at=int((key.hour + retention).timestamp()),
    )


def _to_page(item: CounterItem) -> CounterPage:
    return CounterPage(
        number=_page_number(item),
        last_sequence_number=int(item.last_sequence_number),
        increments=decode_increments(item.counted),
        is_full=bool(item.is_full),
    )


def _read_rollups(first_day: str) -> Sequence[CounterItem]:
    """Return the rollups since then, without a day whose last part is not written yet."""
    found = list(CounterItem.query(ROLLUP_PARTITION, CounterItem.counter >= first_day))
    complete = {item.counter[:10] for item in found if item.counter.endswith(_LAST_PART)}
    return [item for item in found if item.counter[:10] in complete]


def _first_day_to_roll_up(last_day: str) -> str:
    rollups = CounterItem.query(ROLLUP_PARTITION, scan_index_forward=False, limit=1)
    newest = next((item.counter for item in rollups), None)
    if newest is None:
        return _days_before(last_day, MAX_FIRST_ROLLUPS)
    return _days_before(newest[:10], -1 if newest.endswith(_LAST_PART) else 0)


def _write_rollup(day: str) -> None:
    """Store the sum of a day's pages. Its pages are final, so writing it again changes nothing.

    The part that makes the rollup valid is written last, and sorts last.
    """
    pages = read_items(_query_counters(day, consistent_read=True), _to_increments)
    increments = (one for part in pages for one in part if not one.members)
    counted = merge_increments(increments)
    starts = range(0, max(1, len(counted)), _INCREMENTS_PER_ITEM)
    expires_at = int((datetime.fromisoformat(f"{day}T00:00:00Z") + ROLLUP_RETENTION).timestamp())
    for number, start in enumerate(starts):
        part = counted[start : start + _INCREMENTS_PER_ITEM]
        is_last = start + _INCREMENTS_PER_ITEM >= len(counted)
        key = f"{day}#{_LAST_PART if is_last else f'{number:04d}'}"
        CounterItem(
            ROLLUP_PARTITION, key, counted=encode_increments(part), expires_at=expires_at
        ).save()


def _to_increments(item: CounterItem) -> Sequence[Increment]:
    """Return the increments of a page, a rollup, or a single counter as version 0.1 stored it."""
    if item.counted is not None:
        return decode_increments(item.counted)
    numbers, texts = dict(item.numbers), item.texts
    maximums = {_MAXIMUM: numbers.pop(_MAXIMUM)} if _MAXIMUM in numbers else {}
    earliest = {name: texts[name] for name in texts if name in _FIRST_TEXTS}
    latest = {name: texts[name] for name in texts if name not in _FIRST_TEXTS}
    return [Increment(item.day, item.counter, numbers, maximums, earliest, latest)]


def _day_before(day: str) -> str:
    return _days_before(day, 1)


def _days_before(day: str, count: int) -> str:
    return (datetime.fromisoformat(day) - timedelta(days=count)).date().isoformat()
