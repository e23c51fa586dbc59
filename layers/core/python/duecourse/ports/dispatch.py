"""What the scheduled functions remember from one time to the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from duecourse.domain.alerts.cooldown import AlertCooldown
    from duecourse.domain.alerts.rules import UnreadableNote
    from duecourse.domain.dispatch.deployment import Deployment


class ScanCursors(Protocol):
    def load(self) -> Mapping[int, datetime]:
        """Per shard, the instant up to which all was dispatched."""

    def save(self, cursors: Mapping[int, datetime]) -> None: ...


class Deployments(Protocol):
    def load(self) -> Deployment | None:
        """The last one seen; None before the first."""

    def save(self, deployment: Deployment) -> None: ...


class UnreadableNotes(Protocol):
    """What a sweep could not read, for the operators."""

    def write(self, items: Sequence[str], *, at: datetime) -> None: ...

    def read(self, *, now: datetime) -> UnreadableNote | None:
        """What one of the last sweeps wrote; None where they could read everything."""


class AlertCooldownStore(Protocol):
    """When which alert was told, as far as it matters still."""

    def get(self, topic: str) -> AlertCooldown | None:
        """As last written, never an older state."""

    def compare_and_set(
        self, topic: str, before: AlertCooldown | None, after: AlertCooldown
    ) -> bool:
        """Replace exactly `before`. False for all callers but one; nothing was written then.

        A write whose answer was lost is recognised as one's own.
        """
