"""The version that was last seen deployed: one small item."""

from __future__ import annotations

from pynamodb.exceptions import DoesNotExist

from duecourse.adapters.dynamodb.items import StateItem
from duecourse.domain.deployment import Deployment
from duecourse.domain.instant import from_text, to_text

KEY = "deployment"


class DynamoDeployments:
    def load(self) -> Deployment | None:
        try:
            stored = StateItem.get(KEY, consistent_read=True).value
        except DoesNotExist:
            return None
        return Deployment(
            version=stored["version"], since=from_text(stored["since"]), is_done=stored["is_done"]
        )

    def save(self, deployment: Deployment) -> None:
        stored = {
            "version": deployment.version,
            "since": to_text(deployment.since),
            "is_done": deployment.is_done,
        }
        StateItem(KEY, value=stored).save()
