"""Storage for chat users (replies, profiles, quiet hours) and for WebSocket connections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from duecourse.domain.chat.message import Message
    from duecourse.domain.chat.profile import Profile
    from duecourse.domain.chat.stored_reply import StoredReply
    from duecourse.domain.events.connection import Connection, Subscription
    from duecourse.domain.lifecycle.quiet_hours import QuietHours
    from duecourse.domain.tasks.owner import Owner


class ReplyStore(Protocol):
    """Stored replies, kept for days: a message delivered twice gets the same reply."""

    def get(self, message: Message) -> StoredReply | None:
        """Return the stored reply (strongly consistent), or None."""

    def save(self, message: Message, reply: StoredReply) -> None: ...


class Profiles(Protocol):
    def get(self, owner: Owner) -> Profile:
        """Return the profile (strongly consistent); an empty one for an unknown owner."""

    def save(self, profile: Profile) -> None:
        """Store the profile. It expires if it is not renewed."""

    def renew(self, owner: Owner) -> None:
        """Keep the owner's profile, if there is one, because they have written."""

    def delete(self, owner: Owner) -> None:
        """Delete the profile. An unknown owner is no error."""


class QuietHoursStore(Protocol):
    """The quiet hours of each owner. A change takes effect in every container within a minute."""

    def is_unused(self) -> bool:
        """Return whether nobody has quiet hours. At most a minute old."""

    def get_cached(self, owner: Owner) -> QuietHours | None:
        """Return a value at most a minute old. Cheap enough to be called for every reminder."""

    def get(self, owner: Owner) -> QuietHours | None:
        """Return the current value (strongly consistent)."""

    def set(self, owner: Owner, quiet_hours: QuietHours | None) -> None:
        """Store the quiet hours; None removes them. Concurrent writes of other owners are kept.

        They expire if they are not renewed.
        """

    def renew(self, owner: Owner) -> None:
        """Keep the owner's quiet hours, if there are any, because they have written."""

    def expire(self) -> int:
        """Remove the quiet hours that nobody renewed; return how many."""


class Connections(Protocol):
    """The WebSocket connections that receive live events."""

    def add(self, connection: Connection) -> None: ...

    def update_subscription(self, connection_id: str, subscription: Subscription) -> bool:
        """Replace the subscription. Return False if the connection is unknown or removed."""

    def remove(self, connection_id: str) -> None:
        """Remove the connection. An unknown id is no error."""

    def list_all(self) -> Sequence[Connection]:
        """Return all connections, expired ones included.

        Changes made by this process are visible at once, those of others after at most a second.
        """
