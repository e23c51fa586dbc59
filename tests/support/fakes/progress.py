"""What scheduled functions remember, in memory."""

from __future__ import annotations

from collections.abc import Callable

from duecourse.domain.alerts.cooldown import AlertCooldown
from duecourse.domain.dispatch.deployment import Deployment


class MemoryDeployments:
    def __init__(self, deployment: Deployment | None = None) -> None:
        self.known = deployment

    def load(self) -> Deployment | None:
        return self.known

    def save(self, deployment: Deployment) -> None:
        self.known = deployment


class MemoryAlertCooldowns:
    """`rival` is called once, just before something is noted; `breaks_at` fails that note."""

    def __init__(self) -> None:
        self.told: dict[str, AlertCooldown] = {}
        self.rival: Callable[[], object] | None = None
        self.breaks_at: int | None = None
        self._notes = 0

    def get(self, topic: str) -> AlertCooldown | None:
        return self.told.get(topic)

    def compare_and_set(
        self, topic: str, before: AlertCooldown | None, after: AlertCooldown
    ) -> bool:
        rival, self.rival = self.rival, None
        if rival is not None:
            rival()
        self._notes += 1
        if self._notes == self.breaks_at:
            raise TimeoutError
        if self.told.get(topic) != before:
            return False
        self.told[topic] = after
        return True
