"""What is kept of the people who talk to it, and who listens."""

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
    """What was answered to whom, kept for some days: a message may be delivered again."""

    def get(self, message: Message) -> StoredReply | None:
        """As last written, never an older state."""

    def save(self, message: Message, reply: StoredReply) -> None: ...


class Profiles(Protocol):
    def get(self, owner: Owner) -> Profile:
        """As last written; of somebody never seen, one that says nothing."""

    def save(self, profile: Profile) -> None: ...


class QuietHoursStore(Protocol):
    """Who is not to be disturbed, and when. What is set is in force everywhere a minute later."""

    def get_cached(self, owner: Owner) -> QuietHours | None:
        """As it was at most a minute ago: to be asked for every reminder, it must cost nothing."""

    def get(self, owner: Owner) -> QuietHours | None:
        """As last written, never an older state."""

    def set(self, owner: Owner, quiet_hours: QuietHours | None) -> None:
        """Of all who set theirs at the same time, nobody's is lost."""


class Connections(Protocol):
    """Who listens to live events."""

    def add(self, connection: Connection) -> None: ...

    def update_subscription(self, connection_id: str, subscription: Subscription) -> bool:
        """From now on it hears that. False: it is not known, or no more."""

    def remove(self, connection_id: str) -> None:
        """One that is not known is removed already."""

    def list_all(self) -> Sequence[Connection]:
        """At most a second old, but for what was changed here; also those that have expired."""
