"""The items of the tables, as PynamoDB models. Table names are set by `bind`."""

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
    TextsAttribute,
    ValueAttribute,
    WallTimeAttribute,
)
from duecourse.adapters.aws.dynamodb.older_items import read_run
from duecourse.adapters.aws.dynamodb.stored_item import StoredItem
from duecourse.adapters.aws.dynamodb.task_links import review_from_stored, review_to_stored
from duecourse.domain.requests.json import run_to_stored
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import SkippedOccurrences
from duecourse.domain.tasks.wait import Wait


class Connection:
    """PynamoDB's own limits outlive a Lambda; these leave time for a retry and for a report."""

    connect_timeout_seconds = 1.0
    read_timeout_seconds = 3.0
    max_retry_attempts = 3


class DueIndex(GlobalSecondaryIndex["TaskItem"]):
    """Only tasks that wait or run are in it, and those that are blocked, under shards of their own:
    `due_shard` is absent from all others."""

    class Meta:
        index_name = "DueIndex"
        projection = KeysOnlyProjection()

    due_shard = NumberAttribute(hash_key=True)
    due_at = UnicodeAttribute(range_key=True)


class SenderIndex(GlobalSecondaryIndex["TaskItem"]):
    """Only open tasks are in it: `open_sender` is absent from closed ones."""

    class Meta:
        index_name = "SenderIndex"
        projection = KeysOnlyProjection()

    open_sender = UnicodeAttribute(hash_key=True)
    created_at = UnicodeAttribute(range_key=True)


class RetryIndex(GlobalSecondaryIndex["TaskItem"]):
    """Only tasks that wait for a retry are in it, by the lane they wait in; and in a lane of their
    own those that wait for somebody's verdict."""

    class Meta:
        index_name = "RetryIndex"
        projection = KeysOnlyProjection()

    retry_lane = UnicodeAttribute(hash_key=True)
    next_retry_at = UnicodeAttribute(range_key=True)


class CreatedIndex(GlobalSecondaryIndex["TaskItem"]):
    """All tasks by age, for listings."""

    class Meta:
        index_name = "CreatedIndex"
        projection = KeysOnlyProjection()

    shard = NumberAttribute(hash_key=True)
    created_at = UnicodeAttribute(range_key=True)


class TaskItem(StoredItem):
    """Keyed by short id and id, so that the beginning of an id finds its task in one read."""

    kind = "task"

    class Meta(Connection):
        table_name = "tasks"

    due_index = DueIndex()
    sender_index = SenderIndex()
    created_index = CreatedIndex()
    retry_index = RetryIndex()

    # Of the item alone, for its keys, its indexes and its expiry.
    short_id = UnicodeAttribute(hash_key=True)
    shard = NumberAttribute(null=True)
    due_shard = NumberAttribute(null=True)
    open_sender = UnicodeAttribute(null=True)
    retry_lane = UnicodeAttribute(null=True)
    expires_at = NumberAttribute(null=True)

    # Of older items: read, never written.
    waits_for = UnicodeAttribute(null=True)

    # The fields of a task, by their own names.
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
    next_retry_at = InstantAttribute(null=True)
    recovery_action = EnumAttribute(Action, null=True)
    guidance = TextsAttribute(null=True)
    policy = UnicodeAttribute(null=True)
    subject = UnicodeAttribute(null=True)
    payload = ValueAttribute[Mapping[str, Any]](dict, dict, null=True)
    verify = FlagAttribute(null=True)
    run = ValueAttribute(run_to_stored, read_run, null=True)
    skipped = ValueAttribute(astuple, lambda stored: SkippedOccurrences(*stored), null=True)
    wait = ValueAttribute(Wait.to_json, Wait.from_json, null=True)
    reviewed_at = InstantAttribute(null=True)
    closed_at = InstantAttribute(null=True)
    blocked_at = InstantAttribute(null=True)
    request_hash = UnicodeAttribute(null=True)
    created_by = UnicodeAttribute(null=True)
    # Stored under the names of the first edition.
    rescheduled_at = InstantAttribute(attr_name="asked_at", null=True)
    owner_rescheduled_at = InstantAttribute(attr_name="owner_asked_at", null=True)
    snooze_of = UnicodeAttribute(null=True)
    review = ValueAttribute(review_to_stored, review_from_stored, null=True)
    version = NumberAttribute(null=True)

    @property
    def label(self) -> str:
        return f"task {self.id}"


class JournalItem(StoredItem):
    """`entry` begins with `e#` for an event, `r#` for a run and `x#` for an error, then sorts by
    age. Errors are also kept under `subject#<id>` and `category#<name>#<day>`, what was done for
    people and changed over HTTP under `audit#<day>`. Marks that make sure
    an event is counted once: `o#` for an occurrence's first failure, `s#` for its recovery."""

    kind = "journal entry"

    class Meta(Connection):
        table_name = "journal"

    task_id = UnicodeAttribute(hash_key=True)
    entry = UnicodeAttribute(range_key=True)
    at = UnicodeAttribute()
    type = UnicodeAttribute(null=True)
    detail = JSONAttribute(null=True)
    run = JSONAttribute(null=True)
    error = JSONAttribute(null=True)
    expires_at = NumberAttribute()


class StateItem(StoredItem):
    """The few things that are neither task nor history, one item each."""

    kind = "state"

    class Meta(Connection):
        table_name = "state"

    key = UnicodeAttribute(hash_key=True)
    value = JSONAttribute()
    version = NumberAttribute(null=True)
    expires_at = NumberAttribute(null=True)

    @property
    def label(self) -> str:
        """Without whom it is about."""
        return f"state {self.key.partition('#')[0]}"


class QuietItem(Model):
    """`quiet` says in `shards` which items `quiet#<shard>` there are; in those, each owner has a
    text."""

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


def bind(*, tasks: str, journal: str, state: str) -> None:
    TaskItem.Meta.table_name = tasks
    JournalItem.Meta.table_name = journal
    StateItem.Meta.table_name = state
    QuietItem.Meta.table_name = state
