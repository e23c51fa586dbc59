"""Alert cooldowns on DynamoDB: one item per topic, replaced only if its version is unchanged."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from pynamodb.exceptions import PutError

from duecourse.adapters.aws.dynamodb.conditions import is_condition_failed
from duecourse.adapters.aws.dynamodb.models import StateItem
from duecourse.adapters.aws.dynamodb.state import read_state
from duecourse.domain.alerts.cooldown import AlertCooldown
from duecourse.domain.time.instant import from_text, to_text

RETENTION = timedelta(days=1)  # counted from the end of the cooldown


class DynamoAlertCooldownStore:
    def get(self, topic: str) -> AlertCooldown | None:
        return read_state(
            alert_key(topic), lambda item: to_cooldown(item.value, int(item.version or 0))
        )

    def compare_and_set(
        self, topic: str, before: AlertCooldown | None, after: AlertCooldown
    ) -> bool:
        # Two writers may start from the same version. The token shows whether a lost condition was
        # our own write, whose response was lost.
        token = str(uuid.uuid4())
        item = StateItem(
            alert_key(topic),
            value={"written_by": token, **_to_stored(after)},
            version=after.version,
            expires_at=int((after.suppressed_until + RETENTION).timestamp()),
        )
        is_new = StateItem.key.does_not_exist()
        try:
            item.save(StateItem.version == before.version if before else is_new)
        except PutError as error:
            if not is_condition_failed(error):
                raise
            writer = read_state(alert_key(topic), lambda item: item.value["written_by"])
            return writer == token
        return True


def alert_key(topic: str) -> str:
    """Return the item key for `topic`.

    Callers choose provider names, so lone surrogates are replaced: UTF-8 cannot encode them.
    """
    return f"alert#{topic}".encode("utf-8", "replace").decode()


def to_cooldown(stored: dict[str, Any], version: int) -> AlertCooldown:
    return AlertCooldown(
        level=stored["level"],
        started_at=from_text(stored["since"]),
        suppressed_until=from_text(stored["until"]),
        is_sent=stored["is_done"],
        version=version,
    )


def _to_stored(cooldown: AlertCooldown) -> dict[str, Any]:
    return {
        "level": cooldown.level,
        "since": to_text(cooldown.started_at),
        "until": to_text(cooldown.suppressed_until),
        "is_done": cooldown.is_sent,
    }
