"""Each alert is sent once per cooldown, despite crashes and concurrent runs."""

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
OTHER_ALERT = Alert(rule=AlertRule.DEAD_LETTERS, text="They are kept.", cooldown_until=NOW + HOUR)


class InterruptedNotifications(ListNotifications):
    """Calls `concurrent_run` once, just before a notification is sent."""

    def __init__(self) -> None:
        super().__init__()
        self.concurrent_run: Callable[[], object] | None = None
        self.is_failing = False

    def send(self, notification: Notification) -> None:
        concurrent_run, self.concurrent_run = self.concurrent_run, None
        if concurrent_run is not None:
            concurrent_run()
        if self.is_failing:
            raise TimeoutError
        super().send(notification)


@pytest.fixture
def cooldowns() -> MemoryAlertCooldowns:
    return MemoryAlertCooldowns()


@pytest.fixture
def notifications() -> InterruptedNotifications:
    return InterruptedNotifications()


@pytest.fixture
def deps(cooldowns: MemoryAlertCooldowns, notifications: InterruptedNotifications) -> AlertDeps:
    return AlertDeps(OPERATOR_CHATS, cooldowns=cooldowns, notification_queue=notifications)


def send_at(deps: AlertDeps, *alerts: Alert, at: datetime = NOW) -> list[str]:
    with_cooldown = [replace(alert, cooldown_until=at + HOUR) for alert in alerts]
    return send_alerts(with_cooldown, deps, now=at)


def test_an_alert_is_sent_to_every_operator_chat(
    deps: AlertDeps, notifications: InterruptedNotifications
) -> None:
    assert send_at(deps, ALERT) == ["breaker:openai"]
    assert [
        (notification.channel, notification.target, notification.message.text)
        for notification in notifications
    ] == [
        ("slack", "C1", "It is down."),
        ("telegram", "42", "It is down."),
    ]
    assert len({notification.idempotency_key for notification in notifications}) == 2


def test_the_alert_name_is_part_of_its_notification_keys(
    deps: AlertDeps, notifications: InterruptedNotifications
) -> None:
    send_at(deps, ALERT)
    assert notifications[0].task_id == "alert:breaker:openai"
    assert (
        notifications[0].idempotency_key == "alert:breaker:openai:2026-02-17T12:00:00.000Z:slack:C1"
    )


@pytest.mark.parametrize(
    ("after", "is_sent"), [(5 * MINUTE, False), (55 * MINUTE, False), (HOUR, True), (DAY, True)]
)
def test_an_alert_is_sent_again_only_after_its_cooldown(
    deps: AlertDeps, notifications: InterruptedNotifications, after: timedelta, is_sent: bool
) -> None:
    send_at(deps, ALERT)
    assert bool(send_at(deps, ALERT, at=NOW + after)) is is_sent
    assert len({notification.idempotency_key for notification in notifications}) == (
        4 if is_sent else 2
    )


def test_an_alert_that_recurs_within_its_cooldown_is_not_sent(deps: AlertDeps) -> None:
    send_at(deps, ALERT)
    assert send_at(deps, at=NOW + 5 * MINUTE) == []
    assert send_at(deps, ALERT, at=NOW + 10 * MINUTE) == []


def test_one_alert_does_not_suppress_another(deps: AlertDeps) -> None:
    send_at(deps, ALERT)
    assert send_at(deps, ALERT, OTHER_ALERT) == ["dead_letters"]


def test_without_operator_chats_no_cooldown_starts(
    cooldowns: MemoryAlertCooldowns, notifications: InterruptedNotifications
) -> None:
    """An operator chat that is configured later still receives a lasting alert."""
    assert (
        send_at(AlertDeps([], cooldowns=cooldowns, notification_queue=notifications), ALERT) == []
    )
    assert (cooldowns.cooldowns, list(notifications)) == ({}, [])


@pytest.mark.parametrize("is_sent_first", [True, False])
def test_only_one_of_two_concurrent_runs_sends_an_alert(
    deps: AlertDeps,
    cooldowns: MemoryAlertCooldowns,
    notifications: InterruptedNotifications,
    is_sent_first: bool,
) -> None:
    """The other run sends before the first one starts, or while the first one sends."""
    if is_sent_first:
        notifications.concurrent_run = lambda: send_at(deps, ALERT)
    else:
        cooldowns.concurrent_write = lambda: send_at(deps, ALERT)
    send_at(deps, ALERT)
    assert len(notifications) == len(OPERATOR_CHATS)


def test_an_alert_is_sent_later_after_a_crash_before_sending(
    deps: AlertDeps, notifications: InterruptedNotifications
) -> None:
    notifications.is_failing = True
    with pytest.raises(ExceptionGroup):
        send_at(deps, ALERT)
    notifications.is_failing = False
    assert send_at(deps, ALERT, at=NOW + MINUTE) == []  # the first run may still be sending
    assert send_at(deps, ALERT, at=NOW + 5 * MINUTE) == ["breaker:openai"]
    assert send_at(deps, ALERT, at=NOW + 10 * MINUTE) == []


def test_a_crash_after_sending_resends_with_the_same_idempotency_keys(
    deps: AlertDeps, cooldowns: MemoryAlertCooldowns, notifications: InterruptedNotifications
) -> None:
    cooldowns.failing_write = 2
    with pytest.raises(ExceptionGroup):
        send_at(deps, ALERT)
    for minutes in (5, 10, 15):
        send_at(deps, ALERT, at=NOW + minutes * MINUTE)
    assert [notification.idempotency_key for notification in notifications[:2]] == [
        notification.idempotency_key for notification in notifications[2:]
    ]


def test_an_alert_that_cannot_be_sent_does_not_block_the_others(
    deps: AlertDeps, cooldowns: MemoryAlertCooldowns
) -> None:
    cooldowns.failing_write = 1
    with pytest.raises(ExceptionGroup, match="some alerts could not be sent"):
        send_at(deps, ALERT, OTHER_ALERT)
    assert cooldowns.cooldowns["dead_letters"].is_sent
