"""Deployments and alert cooldowns in memory."""

from __future__ import annotations

from collections.abc import Callable

from duecourse.domain.alerts.cooldown import AlertCooldown
from duecourse.domain.dispatch.deployment import Deployment


class MemoryDeployments:
    def __init__(self, deployment: Deployment | None = None) -> None:
        self.deployment = deployment

    def load(self) -> Deployment | None:
        return self.deployment

    def save(self, deployment: Deployment) -> None:
        self.deployment = deployment


class MemoryAlertCooldowns:
    """The next write calls `concurrent_write` once; write number `failing_write` fails."""

    def __init__(self) -> None:
        self.cooldowns: dict[str, AlertCooldown] = {}
        self.concurrent_write: Callable[[], object] | None = None
        self.failing_write: int | None = None
        self._writes = 0

    def get(self, topic: str) -> AlertCooldown | None:
        return self.cooldowns.get(topic)

    def compare_and_set(
        self, topic: str, before: AlertCooldown | None, after: AlertCooldown
    ) -> bool:
        concurrent_write, self.concurrent_write = self.concurrent_write, None
        if concurrent_write is not None:
            concurrent_write()
        self._writes += 1
        if self._writes == self.failing_write:
            raise TimeoutError
        if self.cooldowns.get(topic) != before:
            return False
        self.cooldowns[topic] = after
        return True
