"""PynamoDB models of budgets, subjects and statistics. `bind_tracking` sets the table names."""

from __future__ import annotations

from typing import Any

from pynamodb.attributes import (
    BinaryAttribute,
    JSONAttribute,
    MapAttribute,
    NumberAttribute,
    UnicodeAttribute,
    UnicodeSetAttribute,
)
from pynamodb.indexes import AllProjection, GlobalSecondaryIndex

from duecourse.adapters.aws.dynamodb.attributes import FlagAttribute, KindAttribute, ValueAttribute
from duecourse.adapters.aws.dynamodb.models import Connection
from duecourse.adapters.aws.dynamodb.stored_item import StoredItem
from duecourse.domain.tasks.recent_errors import RecentErrors


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


class RepeatedSubjectIndex(GlobalSecondaryIndex["SubjectItem"]):
    """Subjects with repeated failures, by the time of the fourth-last error."""

    class Meta:
        index_name = "RepeatIndex"
        projection = AllProjection()

    repeats = UnicodeAttribute(hash_key=True)
    repeated_since = UnicodeAttribute(range_key=True)


class SubjectItem(StoredItem):
    kind = "subject"

    class Meta(Connection):
        table_name = "subjects"

    gave_up_index = GaveUpIndex()
    repeat_index = RepeatedSubjectIndex()

    id = UnicodeAttribute(hash_key=True)
    failure_count = NumberAttribute()
    gave_up = UnicodeAttribute(null=True)
    status = UnicodeAttribute(null=True)
    last_error_category = UnicodeAttribute(null=True)
    last_error_kind = KindAttribute(null=True)
    last_error_message = UnicodeAttribute(null=True)
    last_attempt_at = UnicodeAttribute(null=True)
    cooldown_until = UnicodeAttribute(null=True)
    recent_errors = ValueAttribute(RecentErrors.to_stored, RecentErrors.from_stored, null=True)
    repeats = UnicodeAttribute(null=True)
    repeated_since = UnicodeAttribute(null=True)
    version = NumberAttribute()
    expires_at = NumberAttribute(null=True)


class CounterItem(StoredItem):
    """A page of counters, under the day on which its changes were written; or a rollup of a day.

    Version 0.1 stored each counter as an item of its own: numbers and texts, under names that the
    domain chooses.
    """

    kind = "counter"

    class Meta(Connection):
        table_name = "stats"

    day = UnicodeAttribute(hash_key=True)
    counter = UnicodeAttribute(range_key=True)
    counted = BinaryAttribute(legacy_encoding=False, null=True)
    last_sequence_number = UnicodeAttribute(null=True)
    is_full = FlagAttribute(null=True)
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
    """Recent errors of a task with repeated failures, in the counters' table under `tracker#...`.

    Version 0.1 also stored those of subjects here, and in another form: `errors` and so on.
    """

    kind = "tracker"

    class Meta(Connection):
        table_name = "stats"

    repeat_index = RepeatIndex()

    day = UnicodeAttribute(hash_key=True)
    counter = UnicodeAttribute(range_key=True)
    subject = UnicodeAttribute(null=True)
    task_id = UnicodeAttribute(null=True)
    recent_errors = ValueAttribute(RecentErrors.to_stored, RecentErrors.from_stored, null=True)
    errors = JSONAttribute(null=True)
    recent = JSONAttribute(null=True)
    last_error_category = UnicodeAttribute(null=True)
    last_error_kind = KindAttribute(null=True)
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
    corrected_kind = KindAttribute(attr_name="said_kind", null=True)
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
