"""What scheduled functions remember, in memory."""

from __future__ import annotations

from duecourse.domain.dispatch.deployment import Deployment


class MemoryDeployments:
    def __init__(self, deployment: Deployment | None = None) -> None:
        self.known = deployment

    def load(self) -> Deployment | None:
        return self.known

    def save(self, deployment: Deployment) -> None:
        self.known = deployment
