"""When which alert was told: an item each, replaced on condition of its version."""

from __future__ import annotations

import uuid
from datetime import timedelta
from typing import Any

from pynamodb.exceptions import PutError

from duecourse.adapters.aws.dynamodb.conditions import lost_its_condition
from duecourse.adapters.aws.dynamodb.models import StateItem
from duecourse.adapters.aws.dynamodb.state import read_state
from duecourse.domain.alerts.cooldown import Telling
from duecourse.domain.time.instant import from_text, to_text

KEPT = timedelta(days=1)  # after it stopped to silence anything


class DynamoAlertMemory:
    def recall(self, topic: str) -> Telling | None:
        return read_state(
            alert_key(topic), lambda item: to_telling(item.value, int(item.version or 0))
        )

    def note(self, topic: str, before: Telling | None, after: Telling) -> bool:
        # Two may begin at the same moment: the token tells one's own write from its twin.
        token = str(uuid.uuid4())
        item = StateItem(
            alert_key(topic),
            value={"written_by": token, **_to_stored(after)},
            version=after.version,
            expires_at=int((after.until + KEPT).timestamp()),
        )
        is_new = StateItem.key.does_not_exist()
        try:
            item.save(StateItem.version == before.version if before else is_new)
        except PutError as error:
            if not lost_its_condition(error):
                raise
            writer = read_state(alert_key(topic), lambda item: item.value["written_by"])
            return writer == token
        return True


def alert_key(topic: str) -> str:
    """Providers are named by callers: half a character is no part of a key."""
    return f"alert#{topic}".encode("utf-8", "replace").decode()


def to_telling(stored: dict[str, Any], version: int) -> Telling:
    return Telling(
        level=stored["level"],
        since=from_text(stored["since"]),
        until=from_text(stored["until"]),
        is_done=stored["is_done"],
        version=version,
    )


def _to_stored(telling: Telling) -> dict[str, Any]:
    return {
        "level": telling.level,
        "since": to_text(telling.since),
        "until": to_text(telling.until),
        "is_done": telling.is_done,
    }
