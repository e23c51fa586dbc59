"""Failed runs that are too many for a page of counters: several in an item of their own.

When many tasks fail at once, a batch names many runs. They would fill page after page, and reading
statistics would become slow just then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta

from duecourse.adapters.aws.dynamodb.batch_write import put_all
from duecourse.adapters.aws.dynamodb.counter_encoding import encode_increments
from duecourse.adapters.aws.dynamodb.tracking_models import CounterItem
from duecourse.domain.journal.counter_page import CountedChange, PageKey, split_members
from duecourse.domain.journal.failed_runs import FAILED_PREFIX
from duecourse.domain.journal.increment import Increment
from duecourse.domain.time.utc_days import utc_day

MAX_IN_PAGE = 4
FAILED_RUNS_PREFIX = "~failed#"  # sorts after all counters of a day, which are read without these
_PER_ITEM = 12  # keeps an item below a kilobyte


def store_if_many(
    key: PageKey, changes: Sequence[CountedChange], *, retention: timedelta
) -> Sequence[CountedChange]:
    """Return the changes to count. If they name many runs, these are stored here and left out.

    The same batch gives the same items. A batch that is cut differently may store a run twice,
    which readers notice.
    """
    without, members = split_members(changes, FAILED_PREFIX)
    if sum(len(one.members) for one in members) <= MAX_IN_PAGE:
        return changes
    expires_at = int((key.hour + retention).timestamp())
    first = min(change.sequence_number for change in changes)
    put_all(
        [
            CounterItem(
                utc_day(key.hour),
                f"{FAILED_RUNS_PREFIX}{key.hour:%H}#{key.shard_id}#{first}#{number:04d}",
                counted=encode_increments([part]),
                expires_at=expires_at,
            )
            for number, part in enumerate(_cut(members))
        ]
    )
    return without


def _cut(members: Iterable[Increment]) -> Iterator[Increment]:
    for one in members:
        texts = sorted(one.members)
        for start in range(0, len(texts), _PER_ITEM):
            part = frozenset(texts[start : start + _PER_ITEM])
            yield Increment(one.day, one.counter, members=part)
