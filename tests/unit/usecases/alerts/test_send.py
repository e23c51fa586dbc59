"""Each alert is told once in its cooldown, whatever dies and whoever comes in between."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from duecourse.domain.alerts.rules import Alert, AlertRule
from duecourse.domain.chat.chat_address import ChatAddress
from duecourse.domain.chat.notification import Notification
from duecourse.usecases.alerts.send import AlertDeps, send_alerts

from tests.support.builders.moments import DAY, HOUR, MINUTE, NOW
from tests.support.fakes.dispatch import MemoryAlertCooldowns
from tests.support.fakes.queues import ListNotifications

OPERATOR_CHATS = [ChatAddress("slack", "C1"), ChatAddress("telegram", "42")]
ALERT = Alert(
    rule=AlertRule.BREAKER, subject="openai", text="It is down.", cooldown_until=NOW + HOUR
)
OTHER = Alert(rule=AlertRule.DEAD_LETTERS, text="They are kept.", cooldown_until=NOW + HOUR)


class Outgoing(ListNotifications):
    """`rival` is called once, just before something is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.rival: Callable[[], object] | None = None
        self.is_broken = False

    def send(self, notification: Notification) -> None:
        rival, self.rival = self.rival, None
        if rival is not None:
            rival()
        if self.is_broken:
            raise TimeoutError
        super().send(notification)


@pytest.fixture
def memory() -> MemoryAlertCooldowns:
    return MemoryAlertCooldowns()


@pytest.fixture
def notices() -> Outgoing:
    return Outgoing()


@pytest.fixture
def herald(memory: MemoryAlertCooldowns, notices: Outgoing) -> AlertDeps:
    return AlertDeps(OPERATOR_CHATS, cooldowns=memory, notification_queue=notices)


def tell(herald: AlertDeps, *alerts: Alert, at: datetime = NOW) -> list[str]:
    later = [replace(alert, cooldown_until=at + HOUR) for alert in alerts]
    return send_alerts(later, herald, now=at)


def test_every_operator_is_told(herald: AlertDeps, notices: Outgoing) -> None:
    assert tell(herald, ALERT) == ["breaker:openai"]
    assert [(one.channel, one.target, one.message.text) for one in notices] == [
        ("slack", "C1", "It is down."),
        ("telegram", "42", "It is down."),
    ]
    assert len({one.idempotency_key for one in notices}) == 2


def test_the_name_of_an_alert_is_part_of_its_notice(herald: AlertDeps, notices: Outgoing) -> None:
    tell(herald, ALERT)
    assert notices[0].task_id == "alert:breaker:openai"
    assert notices[0].idempotency_key == "alert:breaker:openai:2026-02-17T12:00:00.000Z:slack:C1"


@pytest.mark.parametrize(
    ("after", "is_told"), [(5 * MINUTE, False), (55 * MINUTE, False), (HOUR, True), (DAY, True)]
)
def test_it_is_told_again_after_its_cooldown_and_not_before(
    herald: AlertDeps, notices: Outgoing, after: timedelta, is_told: bool
) -> None:
    tell(herald, ALERT)
    assert bool(tell(herald, ALERT, at=NOW + after)) is is_told
    assert len({one.idempotency_key for one in notices}) == (4 if is_told else 2)


def test_what_was_over_and_comes_again_within_its_cooldown_stays_silent(herald: AlertDeps) -> None:
    tell(herald, ALERT)
    assert tell(herald, at=NOW + 5 * MINUTE) == []
    assert tell(herald, ALERT, at=NOW + 10 * MINUTE) == []


def test_one_alert_does_not_silence_another(herald: AlertDeps) -> None:
    tell(herald, ALERT)
    assert tell(herald, ALERT, OTHER) == ["dead_letters"]


def test_where_nobody_is_to_be_told_nothing_is_noted(
    memory: MemoryAlertCooldowns, notices: Outgoing
) -> None:
    """So whoever is named later is told of what still lasts."""
    assert tell(AlertDeps([], cooldowns=memory, notification_queue=notices), ALERT) == []
    assert (memory.cooldowns, list(notices)) == ({}, [])


@pytest.mark.parametrize("is_sent_first", [True, False])
def test_of_two_who_look_at_once_one_tells(
    herald: AlertDeps, memory: MemoryAlertCooldowns, notices: Outgoing, is_sent_first: bool
) -> None:
    """The other comes in before the first began, or while it is telling."""
    if is_sent_first:
        notices.rival = lambda: tell(herald, ALERT)
    else:
        memory.concurrent_write = lambda: tell(herald, ALERT)
    tell(herald, ALERT)
    assert len(notices) == len(OPERATOR_CHATS)


def test_whoever_dies_before_it_is_sent_is_made_up_for(
    herald: AlertDeps, notices: Outgoing
) -> None:
    notices.is_broken = True
    with pytest.raises(ExceptionGroup):
        tell(herald, ALERT)
    notices.is_broken = False
    assert tell(herald, ALERT, at=NOW + MINUTE) == []  # whoever began may still be at it
    assert tell(herald, ALERT, at=NOW + 5 * MINUTE) == ["breaker:openai"]
    assert tell(herald, ALERT, at=NOW + 10 * MINUTE) == []


def test_whoever_dies_before_it_is_noted_has_it_told_twice_with_the_same_keys(
    herald: AlertDeps, memory: MemoryAlertCooldowns, notices: Outgoing
) -> None:
    memory.failing_write = 2
    with pytest.raises(ExceptionGroup):
        tell(herald, ALERT)
    for minutes in (5, 10, 15):
        tell(herald, ALERT, at=NOW + minutes * MINUTE)
    assert [one.idempotency_key for one in notices[:2]] == [
        one.idempotency_key for one in notices[2:]
    ]


def test_what_cannot_be_told_does_not_silence_the_rest(
    herald: AlertDeps, memory: MemoryAlertCooldowns
) -> None:
    memory.failing_write = 1
    with pytest.raises(ExceptionGroup, match="some alerts could not be sent"):
        tell(herald, ALERT, OTHER)
    assert memory.cooldowns["dead_letters"].is_sent
