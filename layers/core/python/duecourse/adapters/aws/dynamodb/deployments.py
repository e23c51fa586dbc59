"""The code version that was last seen deployed: one item of the state table."""

from __future__ import annotations

from duecourse.adapters.aws.dynamodb.models import StateItem
from duecourse.adapters.aws.dynamodb.state import read_state
from duecourse.domain.dispatch.deployment import Deployment
from duecourse.domain.time.instant import from_text, to_text

STATE_KEY = "deployment"


class DynamoDeployments:
    def load(self) -> Deployment | None:
        return read_state(STATE_KEY, _to_deployment)

    def save(self, deployment: Deployment) -> None:
        stored = {
            "version": deployment.version,
            "since": to_text(deployment.first_seen_at),
            "is_done": deployment.is_rescan_done,
        }
        StateItem(STATE_KEY, value=stored).save()


def _to_deployment(item: StateItem) -> Deployment:
    stored = item.value
    return Deployment(
        version=stored["version"],
        first_seen_at=from_text(stored["since"]),
        is_rescan_done=stored["is_done"],
    )
