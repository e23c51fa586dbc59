"""PynamoDB models of budgets, subjects and statistics. `bind_tracking` sets the table names."""

from __future__ import annotations

from typing import Any

from pynamodb.attributes import (
    JSONAttribute,
    MapAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
)
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex

from duecourse.adapters.aws.dynamodb.models import Connection
from duecourse.adapters.aws.dynamodb.stored_item import StoredItem


class BudgetItem(StoredItem):
    """`budget#<name>` holds the latest limit, `budget#<name>#<day>` the spending of one day."""

    kind = "budget"

    class Meta(Connection):
        table_name = "state"

    key = UnicodeAttribute(hash_key=True)
    limit = NumberAttribute()
    version = NumberAttribute()
    remaining = NumberAttribute(null=True)
    spent = NumberAttribute(null=True)
    calls = NumberAttribute(null=True)
    held: MapAttribute[str, int] = MapAttribute(null=True)
    expires_at = NumberAttribute(null=True)


class BudgetDayItem(StoredItem):
    """`budgets#<day>` lists the budgets that were used on that day."""

    kind = "list of budgets"

    class Meta(Connection):
        table_name = "state"

    key = UnicodeAttribute(hash_key=True)
    names = UnicodeSetAttribute(null=True)
    expires_at = NumberAttribute(null=True)


class GaveUpIndex(GlobalSecondaryIndex["SubjectItem"]):
    """Subjects that were given up, by number of failures. Others have no `gave_up`."""

    class Meta:
        index_name = "GaveUpIndex"
        projection = AllProjection()

    gave_up = UnicodeAttribute(hash_key=True)
    failure_count = NumberAttribute(range_key=True)


class SubjectItem(StoredItem):
    kind = "subject"

    class Meta(Connection):
        table_name = "subjects"

    gave_up_index = GaveUpIndex()

    id = UnicodeAttribute(hash_key=True)
    failure_count = NumberAttribute()
    gave_up = UnicodeAttribute(null=True)
    status = UnicodeAttribute(null=True)
    last_error_category = UnicodeAttribute(null=True)
    last_error_message = UnicodeAttribute(null=True)
    last_attempt_at = UnicodeAttribute(null=True)
    cooldown_until = UnicodeAttribute(null=True)
    version = NumberAttribute()


class CounterItem(StoredItem):
    """A counter of one day: numbers and texts, under names that the domain chooses."""

    kind = "counter"

    class Meta(Connection):
        table_name = "stats"

    day = UnicodeAttribute(hash_key=True)
    counter = UnicodeAttribute(range_key=True)
    expires_at = NumberAttribute(null=True)
    rest: dict[str, dict[str, str]]

    @classmethod
    def from_raw_data(cls, data: dict[str, Any]) -> CounterItem:
        item = super().from_raw_data(data)
        item.rest = {name: held for name, held in data.items() if name not in cls.get_attributes()}
        return item

    @property
    def numbers(self) -> dict[str, int]:
        return {name: int(held["N"]) for name, held in self.rest.items() if "N" in held}

    @property
    def texts(self) -> dict[str, str]:
        return {name: held["S"] for name, held in self.rest.items() if "S" in held}


class RepeatIndex(GlobalSecondaryIndex["TrackerItem"]):
    """Subjects and tasks that failed repeatedly, by the time of the fourth-last error."""

    class Meta:
        index_name = "RepeatIndex"
        projection = AllProjection()

    repeats = UnicodeAttribute(hash_key=True)
    repeated_since = UnicodeAttribute(range_key=True)


class TrackerItem(StoredItem):
    """Recent failures of a subject or task, in the counters' table under `tracker#...`."""

    kind = "tracker"

    class Meta(Connection):
        table_name = "stats"

    repeat_index = RepeatIndex()

    day = UnicodeAttribute(hash_key=True)
    counter = UnicodeAttribute(range_key=True)
    subject = UnicodeAttribute(null=True)
    task_id = UnicodeAttribute(null=True)
    errors = JSONAttribute()
    blocked = JSONAttribute(null=True)
    recent = JSONAttribute()
    last_error_category = UnicodeAttribute(null=True)
    repeats = UnicodeAttribute(null=True)
    repeated_since = UnicodeAttribute(null=True)
    version = NumberAttribute()
    expires_at = NumberAttribute()


class NewestPatternIndex(GlobalSecondaryIndex["PatternItem"]):
    """The patterns of a policy by last occurrence.

    Shares RepeatIndex, under `patterns#<policy>`.
    """

    class Meta:
        index_name = "RepeatIndex"
        projection = AllProjection()

    repeats = UnicodeAttribute(hash_key=True)
    last_seen = UnicodeAttribute(range_key=True, attr_name="repeated_since")


class PatternItem(StoredItem):
    """A learned pattern, in the counters' table under `patterns#<policy>` and its fingerprint."""

    kind = "pattern"

    class Meta(Connection):
        table_name = "stats"

    newest_index = NewestPatternIndex()

    day = UnicodeAttribute(hash_key=True)
    counter = UnicodeAttribute(range_key=True)
    repeats = UnicodeAttribute()
    last_seen = UnicodeAttribute(attr_name="repeated_since")
    category = UnicodeAttribute()
    read_as = UnicodeAttribute()
    example = UnicodeAttribute()
    times = NumberAttribute()
    tried = NumberAttribute(null=True)
    worked = NumberAttribute(null=True)
    # Stored under the names of version 0.1.
    corrected_category = UnicodeAttribute(attr_name="said", null=True)
    corrected_at = UnicodeAttribute(attr_name="said_at", null=True)
    corrected_by = UnicodeAttribute(attr_name="said_by", null=True)
    corrected_from = UnicodeAttribute(attr_name="said_of", null=True)
    expires_at = NumberAttribute()


def bind_tracking(*, state: str, subjects: str, stats: str) -> None:
    BudgetItem.Meta.table_name = state
    BudgetDayItem.Meta.table_name = state
    SubjectItem.Meta.table_name = subjects
    CounterItem.Meta.table_name = stats
    TrackerItem.Meta.table_name = stats
    PatternItem.Meta.table_name = stats
