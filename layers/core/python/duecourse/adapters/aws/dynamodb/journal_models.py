"""PynamoDB model of the journal. `bind_journal` sets the table's name."""

from __future__ import annotations

from pynamodb.attributes import JSONAttribute, NumberAttribute, UnicodeAttribute

from duecourse.adapters.aws.dynamodb.attributes import CompressedJsonAttribute
from duecourse.adapters.aws.dynamodb.models import Connection
from duecourse.adapters.aws.dynamodb.stored_item import StoredItem


class JournalItem(StoredItem):
    """An entry of the journal. The prefix of `entry` tells its kind.

    Under a task's id, `e#` is an event that no run tells and `r#` the record of an ended run. Under
    `subject#<id>` and `category#<name>#<day>`, `x#` points to the record of a failed run. The rest
    of these keys sorts by time. Audit entries are under `audit#<day>`.

    Version 0.1 stored every event, so its runs have no `events`, and a copy of each error under its
    task, subject and category.
    """

    kind = "journal entry"

    class Meta(Connection):
        table_name = "journal"

    task_id = UnicodeAttribute(hash_key=True)
    entry = UnicodeAttribute(range_key=True)
    at = UnicodeAttribute()
    type = UnicodeAttribute(null=True)
    detail = JSONAttribute(null=True)
    ended_run = CompressedJsonAttribute(null=True)
    run = JSONAttribute(null=True)  # only in older items
    events = JSONAttribute(null=True)
    version = NumberAttribute(null=True)
    former_detail = JSONAttribute(null=True)  # only of runs that a person amended
    # Only of failed runs.
    subject = UnicodeAttribute(null=True)
    policy = UnicodeAttribute(null=True)
    provider = UnicodeAttribute(null=True)
    next_retry_at = UnicodeAttribute(null=True)
    audit = JSONAttribute(null=True)
    error = JSONAttribute(null=True)  # only in older items
    expires_at = NumberAttribute()


def bind_journal(*, journal: str) -> None:
    JournalItem.Meta.table_name = journal
