"""Tell the operators what they should know, and not again before its cooldown is over."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from duecourse.domain.alerts.cooldown import Telling, begun
from duecourse.domain.alerts.rules import Alert
from duecourse.domain.chat.chat_address import Place
from duecourse.domain.chat.chat_message import Saying
from duecourse.domain.chat.notification import Notice
from duecourse.domain.time.instant import to_text
from duecourse.ports.dispatch import AlertMemory
from duecourse.ports.queues import Notices


@dataclass(frozen=True)
class Herald:
    operators: Sequence[Place]
    memory: AlertMemory
    notices: Notices


def raise_alerts(alerts: Sequence[Alert], herald: Herald, *, now: datetime) -> list[str]:
    """The names of those that were told.

    Each is told at least once while it lasts, and once in a cooldown however many look at it at the
    same time. Whoever dies before noting that it was sent has it sent again, with the same key.
    Where one cannot be told the others are, and the errors are raised together at the end.
    """
    told, errors = [], []
    for alert in alerts if herald.operators else ():
        try:
            if _tell(alert, herald, now):
                told.append(alert.name)
        except Exception as error:  # noqa: BLE001 - raised below
            errors.append(error)
    if errors:
        raise ExceptionGroup("not all alerts could be told", errors)
    return told


def _tell(alert: Alert, herald: Herald, now: datetime) -> bool:
    """False where it was told before, or somebody else tells it."""
    before = herald.memory.recall(alert.topic)
    if before is not None and before.silences(alert, now=now):
        return False
    telling = begun(alert, before, now=now)
    if not herald.memory.note(alert.topic, before, telling):
        return False
    for operator in herald.operators:
        herald.notices.send(_notice(alert, operator, telling))
    herald.memory.note(alert.topic, telling, telling.ended(alert))
    return True


def _notice(alert: Alert, operator: Place, telling: Telling) -> Notice:
    return Notice(
        channel=operator.channel,
        target=operator.target,
        saying=Saying(alert.text),
        key=f"alert:{alert.name}:{to_text(telling.since)}:{operator}",
        task_id=f"alert:{alert.name}",
    )
