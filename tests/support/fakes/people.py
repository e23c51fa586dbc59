"""What is kept of people, in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from duecourse.domain.chat.audit_operator import OperatorChange
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.profile import Profile
from duecourse.domain.chat.stored_reply import StoredReply
from duecourse.domain.events.connection import Connection, Subscription
from duecourse.domain.journal.audit_api import ApiChange
from duecourse.domain.lifecycle.quiet_hours import QuietHours
from duecourse.domain.tasks.owner import Owner


class MemoryReplyStore:
    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], StoredReply] = {}

    def get(self, message: Message) -> StoredReply | None:
        return self._kept.get((message.channel, message.dedup_key))

    def save(self, message: Message, reply: StoredReply) -> None:
        self._kept[message.channel, message.dedup_key] = reply


class MemoryProfiles:
    def __init__(self) -> None:
        self.kept: dict[Owner, Profile] = {}

    def get(self, owner: Owner) -> Profile:
        return self.kept.get(owner, Profile(owner))

    def save(self, profile: Profile) -> None:
        self.kept[profile.owner] = profile


class MemoryQuietHours:
    """What is set is in force at once."""

    def __init__(self) -> None:
        self.kept: dict[Owner, QuietHours] = {}

    def get_cached(self, owner: Owner) -> QuietHours | None:
        return self.kept.get(owner)

    get = get_cached

    def set(self, owner: Owner, quiet_hours: QuietHours | None) -> None:
        if quiet_hours is None:
            self.kept.pop(owner, None)
        else:
            self.kept[owner] = quiet_hours


class MemoryConnections:
    """`looks` counts how often all of them were asked for."""

    def __init__(self, *connections: Connection) -> None:
        self.known = {connection.id: connection for connection in connections}
        self.looks = 0

    def add(self, connection: Connection) -> None:
        self.known[connection.id] = connection

    def update_subscription(self, connection_id: str, subscription: Subscription) -> bool:
        known = self.known.get(connection_id)
        if known is not None:
            self.known[connection_id] = replace(known, subscription=subscription)
        return known is not None

    def remove(self, connection_id: str) -> None:
        self.known.pop(connection_id, None)

    def list_all(self) -> Sequence[Connection]:
        self.looks += 1
        return list(self.known.values())


class ListAuditLog:
    """`error` is raised by the next notes, until it is taken away."""

    def __init__(self) -> None:
        self.noted: list[str] = []
        self.error: Exception | None = None

    def record_change(self, change: ApiChange | OperatorChange) -> None:
        if self.error:
            raise self.error
        self.noted.append(change.text)
