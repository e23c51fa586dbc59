"""Chat stores, connections and the audit log in memory."""

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
        self._replies: dict[tuple[str, str], StoredReply] = {}

    def get(self, message: Message) -> StoredReply | None:
        return self._replies.get((message.channel, message.dedup_key))

    def save(self, message: Message, reply: StoredReply) -> None:
        self._replies[message.channel, message.dedup_key] = reply


class MemoryProfiles:
    def __init__(self) -> None:
        self.profiles: dict[Owner, Profile] = {}

    def get(self, owner: Owner) -> Profile:
        return self.profiles.get(owner, Profile(owner))

    def save(self, profile: Profile) -> None:
        self.profiles[profile.owner] = profile

    def renew(self, owner: Owner) -> None:
        """Nothing expires here."""

    def delete(self, owner: Owner) -> None:
        self.profiles.pop(owner, None)


class MemoryQuietHours:
    """A change applies at once: nothing is cached."""

    def __init__(self) -> None:
        self.by_owner: dict[Owner, QuietHours] = {}

    def is_unused(self) -> bool:
        return not self.by_owner

    def get_cached(self, owner: Owner) -> QuietHours | None:
        return self.by_owner.get(owner)

    get = get_cached

    def set(self, owner: Owner, quiet_hours: QuietHours | None) -> None:
        if quiet_hours is None:
            self.by_owner.pop(owner, None)
        else:
            self.by_owner[owner] = quiet_hours

    def renew(self, owner: Owner) -> None:
        """Nothing expires here."""

    def expire(self) -> int:
        return 0


class MemoryConnections:
    """`list_calls` counts the calls of `list_all`."""

    def __init__(self, *connections: Connection) -> None:
        self.connections = {connection.id: connection for connection in connections}
        self.list_calls = 0

    def add(self, connection: Connection) -> None:
        self.connections[connection.id] = connection

    def update_subscription(self, connection_id: str, subscription: Subscription) -> bool:
        known = self.connections.get(connection_id)
        if known is not None:
            self.connections[connection_id] = replace(known, subscription=subscription)
        return known is not None

    def remove(self, connection_id: str) -> None:
        self.connections.pop(connection_id, None)

    def list_all(self) -> Sequence[Connection]:
        self.list_calls += 1
        return list(self.connections.values())


class ListAuditLog:
    """While `error` is set, every call raises it."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.error: Exception | None = None

    def record_change(self, change: ApiChange | OperatorChange) -> None:
        if self.error:
            raise self.error
        self.texts.append(change.text)
