"""Whether and when a notification is delivered: notify level, quiet hours, staleness."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from duecourse.domain.chat.chat_message import ChatMessage
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.notification import Notification
from duecourse.domain.chat.notification_kind import NotificationKind, NotifyLevel
from duecourse.domain.chat.profile import Profile
from duecourse.domain.errors import RecipientGoneError
from duecourse.domain.lifecycle.quiet_hours import QuietHours
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.status import Status
from duecourse.usecases.chat.deliver_notification import (
    LATE_AFTER,
    DeliveryOutcome,
    DeliveryResult,
    NotificationDeps,
    deliver_notification,
)
from duecourse.usecases.limits.circuit_breaker import BreakerDeps

from tests.support.builders.moments import HOUR, MINUTE, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import an_action
from tests.support.fakes.chat import MemoryProfiles, MemoryQuietHours
from tests.support.fakes.limits import MemoryBreakers
from tests.support.fakes.tasks import MemoryStore

ADA = Owner("console", "ada")


class FakeChannel:
    def __init__(self, error: Exception | None = None) -> None:
        self.targets: list[str] = []
        self._error = error

    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:  # noqa: ARG002
        if self._error:
            raise self._error
        self.targets.append(target)

    def reply(self, message: Message, content: ChatMessage) -> None:
        raise NotImplementedError


class Harness:
    def __init__(self, *, notify: NotifyLevel | None = None, quiet: str | None = None) -> None:
        self.channel = FakeChannel()
        profiles, quiet_hours = MemoryProfiles(), MemoryQuietHours()
        profiles.save(Profile(ADA, notify=notify))
        quiet_hours.set(ADA, QuietHours.from_text(quiet) if quiet else None)
        self.store = MemoryStore()
        self.deps = NotificationDeps(
            channels={"console": self.channel},
            profiles=profiles,
            quiet_hours=quiet_hours,
            store=self.store,
            default_notify=NotifyLevel.IMPORTANT,
            breakers=BreakerDeps(MemoryBreakers()),
        )

    def deliver(self, *, is_redelivery: bool = False, **fields: Any) -> DeliveryResult:
        defaults = {
            "channel": "console",
            "target": "ada",
            "message": ChatMessage("hi"),
            "idempotency_key": "x:1",
        }
        notification = Notification(**{**defaults, "task_id": "x", "sender_id": "ada", **fields})
        return deliver_notification(notification, self.deps, is_redelivery=is_redelivery, now=NOW)


@pytest.mark.parametrize("level", NotifyLevel)
@pytest.mark.parametrize("kind", NotificationKind)
def test_the_owners_notify_level_decides_what_is_sent(
    level: NotifyLevel, kind: NotificationKind
) -> None:
    harness = Harness(notify=level)
    outcome = harness.deliver(kind=kind).outcome
    assert outcome is (DeliveryOutcome.SENT if level.wants(kind) else DeliveryOutcome.MUTED)
    assert bool(harness.channel.targets) is level.wants(kind)


def test_an_owner_without_a_notify_level_has_the_default() -> None:
    harness = Harness()
    assert harness.deliver(kind=NotificationKind.RETRY).outcome is DeliveryOutcome.MUTED
    harness.deps = replace(harness.deps, default_notify=NotifyLevel.ALL)
    assert harness.deliver(kind=NotificationKind.RETRY).outcome is DeliveryOutcome.SENT


def test_a_notification_in_quiet_hours_is_deferred_until_they_end() -> None:
    harness = Harness(quiet="11:00 13:30 UTC")
    assert harness.deliver() == DeliveryResult(DeliveryOutcome.DEFERRED, NOW + HOUR + 30 * MINUTE)
    assert harness.channel.targets == []


def test_a_notification_is_sent_if_quiet_hours_were_just_turned_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = Harness(quiet="11:00 13:30 UTC")
    monkeypatch.setattr(harness.deps.quiet_hours, "get", lambda _: None)
    assert harness.deliver().outcome is DeliveryOutcome.SENT


def test_a_muted_notification_is_not_deferred() -> None:
    assert (
        Harness(quiet="11:00 13:30 UTC").deliver(kind=NotificationKind.RETRY).outcome
        is DeliveryOutcome.MUTED
    )


def test_a_request_made_in_the_same_quiet_hours_is_not_deferred() -> None:
    harness = Harness(quiet="11:00 13:30 UTC")
    assert harness.deliver(owner_requested_at=NOW - HOUR).outcome is DeliveryOutcome.SENT
    assert harness.deliver(owner_requested_at=NOW - 61 * MINUTE).outcome is DeliveryOutcome.DEFERRED


def test_a_notification_without_an_owner_is_sent_at_once() -> None:
    """For example an alert, or an operator's notification about another owner's task."""
    harness = Harness(notify=NotifyLevel.NONE, quiet="11:00 13:30 UTC")
    assert (
        harness.deliver(sender_id=None, kind=NotificationKind.RETRY).outcome is DeliveryOutcome.SENT
    )


def test_an_unreachable_recipient_is_reported_and_raises_no_error() -> None:
    harness = Harness()
    unreachable = FakeChannel(RecipientGoneError("console", "left"))
    harness.deps = replace(harness.deps, channels={"console": unreachable})
    result = harness.deliver()
    assert result.outcome is DeliveryOutcome.RECIPIENT_GONE
    assert "left" in str(result.reason)


def test_other_channel_errors_are_raised() -> None:
    harness = Harness()
    harness.deps = replace(harness.deps, channels={"console": FakeChannel(OSError("down"))})
    with pytest.raises(OSError, match="down"):
        harness.deliver()


@pytest.mark.parametrize("kind", NotificationKind)
def test_a_deferred_notification_that_became_stale_is_not_sent(kind: NotificationKind) -> None:
    """The task no longer exists. A notification about a final outcome never becomes stale."""
    harness = Harness(notify=NotifyLevel.ALL)
    outcome = harness.deliver(kind=kind, run_id="run-1", is_redelivery=True).outcome
    assert outcome is (DeliveryOutcome.STALE if kind.can_become_stale else DeliveryOutcome.SENT)
    assert bool(harness.channel.targets) is not kind.can_become_stale


@pytest.mark.parametrize("kind", NotificationKind)
def test_a_notification_about_an_old_change_that_became_stale_is_not_sent(
    kind: NotificationKind,
) -> None:
    """Its task no longer exists, and the journal was late."""
    harness = Harness(notify=NotifyLevel.ALL)
    recent = harness.deliver(kind=kind, run_id="run-1", changed_at=NOW - LATE_AFTER)
    assert recent.outcome is DeliveryOutcome.SENT
    old = harness.deliver(kind=kind, run_id="run-1", changed_at=NOW - LATE_AFTER - MINUTE)
    assert old.outcome is (DeliveryOutcome.STALE if kind.can_become_stale else DeliveryOutcome.SENT)


def test_a_deferred_notification_that_still_applies_is_sent() -> None:
    harness = Harness()
    harness.store.create(an_action(id="x", status=Status.BLOCKED, run=a_run()))
    assert (
        harness.deliver(
            kind=NotificationKind.ESCALATION, run_id="run-1", is_redelivery=True
        ).outcome
        is DeliveryOutcome.SENT
    )


def test_a_first_delivery_does_not_read_the_task() -> None:
    harness = Harness()
    assert (
        harness.deliver(kind=NotificationKind.FIRST_FAILURE, run_id="run-1").outcome
        is DeliveryOutcome.SENT
    )


def test_staleness_is_not_checked_while_a_notification_is_deferred() -> None:
    harness = Harness(quiet="11:00 13:30 UTC")
    assert (
        harness.deliver(
            kind=NotificationKind.VERIFICATION, run_id="run-1", is_redelivery=True
        ).outcome
        is DeliveryOutcome.DEFERRED
    )


def test_a_notification_for_an_unconfigured_channel_is_not_sent() -> None:
    assert Harness().deliver(channel="pigeon").outcome is DeliveryOutcome.NO_CHANNEL


def test_each_outcome_has_its_own_log_event() -> None:
    assert set(DeliveryOutcome) == {
        *("notification_sent", "notification_deferred", "notification_muted", "notification_stale"),
        *("notification_without_channel", "recipient_gone", "channel_paused"),
    }
