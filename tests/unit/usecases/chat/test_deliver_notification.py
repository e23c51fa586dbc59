"""Whether somebody is told, and when: what they want to hear, and their quiet hours."""

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
    DeliveryOutcome,
    DeliveryResult,
    NotificationDeps,
    deliver_notification,
)

from tests.support.builders.moments import HOUR, MINUTE, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import an_action
from tests.support.fakes.chat import MemoryProfiles, MemoryQuietHours
from tests.support.fakes.tasks import MemoryStore

ADA = Owner("console", "ada")


class Heard:
    def __init__(self, error: Exception | None = None) -> None:
        self.targets: list[str] = []
        self._error = error

    def send(self, target: str, content: ChatMessage, *, idempotency_key: str) -> None:  # noqa: ARG002
        if self._error:
            raise self._error
        self.targets.append(target)

    def reply(self, message: Message, content: ChatMessage) -> None:
        raise NotImplementedError


class Bench:
    def __init__(self, *, notify: NotifyLevel | None = None, quiet: str | None = None) -> None:
        self.channel = Heard()
        profiles, quiet_hours = MemoryProfiles(), MemoryQuietHours()
        profiles.save(Profile(ADA, notify=notify))
        quiet_hours.set(ADA, QuietHours.from_text(quiet) if quiet else None)
        self.store = MemoryStore()
        self.crier = NotificationDeps(
            channels={"console": self.channel},
            profiles=profiles,
            quiet_hours=quiet_hours,
            store=self.store,
            default_notify=NotifyLevel.IMPORTANT,
        )

    def give(self, *, has_waited: bool = False, **fields: Any) -> DeliveryResult:
        defaults = {
            "channel": "console",
            "target": "ada",
            "message": ChatMessage("hi"),
            "idempotency_key": "x:1",
        }
        notice = Notification(**{**defaults, "task_id": "x", "sender_id": "ada", **fields})
        return deliver_notification(notice, self.crier, is_redelivery=has_waited, now=NOW)


@pytest.mark.parametrize("level", NotifyLevel)
@pytest.mark.parametrize("kind", NotificationKind)
def test_somebody_hears_what_they_want_to_hear(level: NotifyLevel, kind: NotificationKind) -> None:
    harness = Bench(notify=level)
    told = harness.give(kind=kind).outcome
    assert told is (DeliveryOutcome.SENT if level.wants(kind) else DeliveryOutcome.MUTED)
    assert bool(harness.channel.targets) is level.wants(kind)


def test_whoever_said_nothing_hears_what_the_setting_says() -> None:
    harness = Bench()
    assert harness.give(kind=NotificationKind.RETRY).outcome is DeliveryOutcome.MUTED
    harness.crier = replace(harness.crier, default_notify=NotifyLevel.ALL)
    assert harness.give(kind=NotificationKind.RETRY).outcome is DeliveryOutcome.SENT


def test_in_quiet_hours_it_is_held_until_they_end() -> None:
    harness = Bench(quiet="11:00 13:30 UTC")
    assert harness.give() == DeliveryResult(DeliveryOutcome.DEFERRED, NOW + HOUR + 30 * MINUTE)
    assert harness.channel.targets == []


def test_nothing_is_held_where_quiet_hours_were_called_off_a_moment_ago(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    harness = Bench(quiet="11:00 13:30 UTC")
    monkeypatch.setattr(harness.crier.quiet_hours, "get", lambda _: None)
    assert harness.give().outcome is DeliveryOutcome.SENT


def test_what_is_not_wanted_is_not_held() -> None:
    assert (
        Bench(quiet="11:00 13:30 UTC").give(kind=NotificationKind.RETRY).outcome
        is DeliveryOutcome.MUTED
    )


def test_what_was_asked_for_in_the_same_quiet_hours_is_told() -> None:
    harness = Bench(quiet="11:00 13:30 UTC")
    assert harness.give(owner_requested_at=NOW - HOUR).outcome is DeliveryOutcome.SENT
    assert harness.give(owner_requested_at=NOW - 61 * MINUTE).outcome is DeliveryOutcome.DEFERRED


def test_what_is_about_nobody_in_particular_is_told_at_once() -> None:
    """Such as an alert, or what the operators hear of another's task."""
    harness = Bench(notify=NotifyLevel.NONE, quiet="11:00 13:30 UTC")
    assert harness.give(sender_id=None, kind=NotificationKind.RETRY).outcome is DeliveryOutcome.SENT


def test_somebody_who_is_gone_is_not_told_and_nothing_is_raised() -> None:
    harness = Bench()
    gone = Heard(RecipientGoneError("console", "left"))
    harness.crier = replace(harness.crier, channels={"console": gone})
    given = harness.give()
    assert given.outcome is DeliveryOutcome.RECIPIENT_GONE
    assert "left" in str(given.reason)


def test_what_the_channel_raises_otherwise_is_passed_on() -> None:
    harness = Bench()
    harness.crier = replace(harness.crier, channels={"console": Heard(OSError("down"))})
    with pytest.raises(OSError, match="down"):
        harness.give()


@pytest.mark.parametrize("kind", NotificationKind)
def test_what_waited_and_is_over_is_not_told(kind: NotificationKind) -> None:
    """Its task is gone. How something ended stays true."""
    harness = Bench(notify=NotifyLevel.ALL)
    told = harness.give(kind=kind, run_id="run-1", has_waited=True).outcome
    assert told is (DeliveryOutcome.STALE if kind.can_become_stale else DeliveryOutcome.SENT)
    assert bool(harness.channel.targets) is not kind.can_become_stale


def test_what_waited_and_still_holds_is_told() -> None:
    harness = Bench()
    harness.store.create(an_action(id="x", status=Status.BLOCKED, run=a_run()))
    assert (
        harness.give(kind=NotificationKind.ESCALATION, run_id="run-1", has_waited=True).outcome
        is DeliveryOutcome.SENT
    )


def test_for_what_comes_at_once_no_task_is_read() -> None:
    harness = Bench()
    assert (
        harness.give(kind=NotificationKind.FIRST_FAILURE, run_id="run-1").outcome
        is DeliveryOutcome.SENT
    )


def test_what_is_held_once_more_is_looked_at_when_it_can_be_told() -> None:
    harness = Bench(quiet="11:00 13:30 UTC")
    assert (
        harness.give(kind=NotificationKind.VERIFICATION, run_id="run-1", has_waited=True).outcome
        is DeliveryOutcome.DEFERRED
    )


def test_a_channel_that_is_not_set_up_tells_nobody() -> None:
    assert Bench().give(channel="pigeon").outcome is DeliveryOutcome.NO_CHANNEL


def test_what_became_of_a_notice_is_logged_in_one_word_each() -> None:
    assert set(DeliveryOutcome) == {
        *("notification_sent", "notification_deferred", "notification_muted", "notification_stale"),
        *("notification_without_channel", "recipient_gone"),
    }
