"""PynamoDB models of tasks and state. `bind` sets the table names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

from pynamodb.attributes import (
    JSONAttribute,
    NumberAttribute,
    NumberSetAttribute,
    UnicodeAttribute,
)
from pynamodb.indexes import GlobalSecondaryIndex, KeysOnlyProjection
from pynamodb.models import Model

from duecourse.adapters.aws.dynamodb.attributes import (
    CountAttribute,
    EnumAttribute,
    FlagAttribute,
    InstantAttribute,
    KindAttribute,
    TextsAttribute,
    ValueAttribute,
    WallTimeAttribute,
)
from duecourse.adapters.aws.dynamodb.older_items import read_run, read_skipped
from duecourse.adapters.aws.dynamodb.packed_attributes import PACKED_SCHEMA, RawItem, pack, unpack
from duecourse.adapters.aws.dynamodb.stored_item import SchemaVersionAttribute, StoredItem
from duecourse.adapters.aws.dynamodb.task_links import review_from_stored, review_to_stored
from duecourse.domain.requests.stored_run import run_to_stored
from duecourse.domain.tasks.late_report import LateReport
from duecourse.domain.tasks.recent_errors import RecentErrors
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.wait import Wait


class Connection:
    """Timeouts for DynamoDB.

    PynamoDB's defaults exceed the Lambda timeout; these leave time for a retry and for reporting
    the failure.
    """

    connect_timeout_seconds = 1.0
    read_timeout_seconds = 3.0
    max_retry_attempts = 3


class DueIndex(GlobalSecondaryIndex["TaskItem"]):
    """Tasks by due time. `due_shard` is a lane and a shard, or a partition of blocked tasks.

    Tasks that ended well and cancelled ones have no `due_shard`.
    """

    class Meta:
        index_name = "DueIndex"
        projection = KeysOnlyProjection()

    due_shard = NumberAttribute(hash_key=True)
    due_at = UnicodeAttribute(range_key=True)


class SenderIndex(GlobalSecondaryIndex["TaskItem"]):
    """Tasks by sender. Tasks that code before lanes closed have no `open_sender`."""

    class Meta:
        index_name = "SenderIndex"
        projection = KeysOnlyProjection()

    open_sender = UnicodeAttribute(hash_key=True)
    created_at = UnicodeAttribute(range_key=True)


class CreatedIndex(GlobalSecondaryIndex["TaskItem"]):
    """All tasks by creation time, for listings."""

    class Meta:
        index_name = "CreatedIndex"
        projection = KeysOnlyProjection()

    shard = NumberAttribute(hash_key=True)
    created_at = UnicodeAttribute(range_key=True)


class TaskItem(StoredItem):
    """A task. The keys are short id and id, so one query finds a task by a prefix of its id.

    A task of more than a kilobyte is stored with some attributes packed into one, if `is_packed`.
    """

    kind = "task"
    is_packed = True
    schema_version = SchemaVersionAttribute(1, newest=PACKED_SCHEMA)

    class Meta(Connection):
        table_name = "tasks"

    due_index = DueIndex()
    sender_index = SenderIndex()
    created_index = CreatedIndex()

    # Only of the item: keys, index keys and TTL.
    short_id = UnicodeAttribute(hash_key=True)
    shard = NumberAttribute(null=True)
    due_shard = NumberAttribute(null=True)
    open_sender = UnicodeAttribute(null=True)
    expires_at = NumberAttribute(null=True)

    # Only in older items; never written.
    retry_lane = UnicodeAttribute(null=True)
    waits_for = UnicodeAttribute(null=True)

    # The fields of Task, under the same names.
    id = UnicodeAttribute(range_key=True)
    type = UnicodeAttribute(null=True)
    channel = UnicodeAttribute()
    sender_id = UnicodeAttribute()
    reply_target = UnicodeAttribute()
    description = UnicodeAttribute()
    due_at = InstantAttribute()
    nominal_at = InstantAttribute(null=True)
    created_at = InstantAttribute()
    anchor = WallTimeAttribute(null=True)
    timezone = UnicodeAttribute(null=True)
    repeat = UnicodeAttribute(null=True)
    status = EnumAttribute(Status)
    paused = FlagAttribute(null=True)
    delivered_at = InstantAttribute(null=True)
    retry_count = NumberAttribute(null=True)
    max_retries = NumberAttribute(null=True)
    failed_occurrences = CountAttribute(null=True)
    last_error = UnicodeAttribute(null=True)
    last_error_category = UnicodeAttribute(null=True)
    last_error_kind = KindAttribute(null=True)
    next_retry_at = InstantAttribute(null=True)
    recovery_action = EnumAttribute(Action, null=True)
    guidance = TextsAttribute(null=True)
    policy = UnicodeAttribute(null=True)
    subject = UnicodeAttribute(null=True)
    payload = ValueAttribute[Mapping[str, Any]](dict, dict, null=True)
    verify = FlagAttribute(null=True)
    run = ValueAttribute(run_to_stored, read_run, null=True)
    skipped = ValueAttribute(astuple, read_skipped, null=True)
    wait = ValueAttribute(Wait.to_json, Wait.from_json, null=True)
    waiting_since = InstantAttribute(null=True)
    reviewed_at = InstantAttribute(null=True)
    closed_at = InstantAttribute(null=True)
    blocked_at = InstantAttribute(null=True)
    request_hash = UnicodeAttribute(null=True)
    created_by = UnicodeAttribute(null=True)
    # Stored under their first names.
    rescheduled_at = InstantAttribute(attr_name="asked_at", null=True)
    owner_rescheduled_at = InstantAttribute(attr_name="owner_asked_at", null=True)
    snooze_of = UnicodeAttribute(null=True)
    review = ValueAttribute(review_to_stored, review_from_stored, null=True)
    recent_errors = ValueAttribute(RecentErrors.to_stored, RecentErrors.from_stored, null=True)
    late_report = ValueAttribute(LateReport.to_json, LateReport.from_json, null=True)
    version = NumberAttribute(null=True)

    @property
    def label(self) -> str:
        return f"task {self.id}"

    @classmethod
    def unpack(cls, data: RawItem) -> RawItem:
        return unpack(data)

    def serialize(self, null_check: bool = True) -> RawItem:
        item = super().serialize(null_check)
        return pack(item) if self.is_packed else item


class StateItem(StoredItem):
    """A single value that is neither a task nor history, such as a cursor or a profile."""

    kind = "state"

    class Meta(Connection):
        table_name = "state"

    key = UnicodeAttribute(hash_key=True)
    value = JSONAttribute()
    version = NumberAttribute(null=True)
    expires_at = NumberAttribute(null=True)

    @property
    def label(self) -> str:
        """Name the kind of state, without the owner whose state it is."""
        return f"state {self.key.partition('#')[0]}"


class QuietItem(Model):
    """Quiet hours. `quiet` lists in `shards` which items `quiet#<shard>` exist.

    Each of those has one text attribute per owner.
    """

    class Meta(Connection):
        table_name = "state"

    key = UnicodeAttribute(hash_key=True)
    shards: NumberSetAttribute = NumberSetAttribute(null=True)
    texts: dict[str, str]

    @classmethod
    def from_raw_data(cls, data: dict[str, Any]) -> QuietItem:
        item: QuietItem = super().from_raw_data(data)
        item.texts = {
            name: held["S"]
            for name, held in data.items()
            if "S" in held and name not in cls.get_attributes()
        }
        return item

    @classmethod
    def empty(cls, key: str) -> QuietItem:
        item = cls(key)
        item.texts = {}
        return item


def bind(*, tasks: str, state: str, packs_tasks: bool = True) -> None:
    TaskItem.Meta.table_name = tasks
    TaskItem.is_packed = packs_tasks
    StateItem.Meta.table_name = state
    QuietItem.Meta.table_name = state
