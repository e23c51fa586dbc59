"""State that the scheduled functions (scanner, sweeper, alerts) keep between invocations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from duecourse.domain.alerts.cooldown import AlertCooldown
    from duecourse.domain.alerts.rules import UnreadableNote
    from duecourse.domain.dispatch.deployment import Deployment


class ScanCursors(Protocol):
    def load(self) -> Mapping[int, datetime | None]:
        """Return, per partition of the due index, until when every due task was dispatched.

        None: the partition may hold tasks, and that instant is not known.
        """

    def save(self, cursors: Mapping[int, datetime]) -> None: ...


class Deployments(Protocol):
    def load(self) -> Deployment | None:
        """Return the last deployment seen; None before the first."""

    def save(self, deployment: Deployment) -> None: ...


class UnreadableNotes(Protocol):
    """Items that a sweep could not read, stored for the operators."""

    def write(self, items: Sequence[str], *, at: datetime) -> None: ...

    def read(self, *, now: datetime) -> UnreadableNote | None:
        """Return the note of a recent sweep; None if recent sweeps could read every item."""


class AlertCooldownStore(Protocol):
    """When each alert was last sent. Entries expire once they no longer matter."""

    def get(self, topic: str) -> AlertCooldown | None:
        """Return the cooldown (strongly consistent), or None."""

    def compare_and_set(
        self, topic: str, before: AlertCooldown | None, after: AlertCooldown
    ) -> bool:
        """Replace exactly `before` by `after`; return False, and write nothing, if it has changed.

        Of concurrent callers one wins. A caller that repeats its own write after a lost response
        wins.
        """
