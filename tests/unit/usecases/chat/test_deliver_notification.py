"""Whether somebody is told, and when: what they want to hear, and their quiet hours."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from duecourse.domain.chat.chat_message import Saying
from duecourse.domain.chat.message import Message
from duecourse.domain.chat.notification import Notice
from duecourse.domain.chat.notification_kind import Kind, Notify
from duecourse.domain.chat.profile import Profile
from duecourse.domain.errors import RecipientGoneError
from duecourse.domain.lifecycle.quiet_hours import QuietTime
from duecourse.domain.tasks.owner import Owner
from duecourse.domain.tasks.status import Status
from duecourse.usecases.chat.deliver_notification import Crier, Given, Told, give_notice

from tests.support.builders.moments import HOUR, MINUTE, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import an_action
from tests.support.chat_bench import MemoryProfiles
from tests.support.fakes.people import MemoryQuietHours
from tests.support.fakes.tasks import MemoryStore

ADA = Owner("console", "ada")


class Heard:
    def __init__(self, error: Exception | None = None) -> None:
        self.targets: list[str] = []
        self._error = error

    def send(self, target: str, saying: Saying, *, key: str) -> None:  # noqa: ARG002
        if self._error:
            raise self._error
        self.targets.append(target)

    def answer(self, message: Message, saying: Saying) -> None:
        raise NotImplementedError


class Bench:
    def __init__(self, *, notify: Notify | None = None, quiet: str | None = None) -> None:
        self.channel = Heard()
        profiles, quiet_hours = MemoryProfiles(), MemoryQuietHours()
        profiles.save(Profile(ADA, notify=notify))
        quiet_hours.set(ADA, QuietTime.from_text(quiet) if quiet else None)
        self.store = MemoryStore()
        self.crier = Crier(
            channels={"console": self.channel},
            profiles=profiles,
            quiet_hours=quiet_hours,
            store=self.store,
            notify=Notify.IMPORTANT,
        )

    def give(self, *, has_waited: bool = False, **fields: Any) -> Given:
        defaults = {"channel": "console", "target": "ada", "saying": Saying("hi"), "key": "x:1"}
        notice = Notice(**{**defaults, "task_id": "x", "sender_id": "ada", **fields})
        return give_notice(notice, self.crier, has_waited=has_waited, now=NOW)


@pytest.mark.parametrize("level", Notify)
@pytest.mark.parametrize("kind", Kind)
def test_somebody_hears_what_they_want_to_hear(level: Notify, kind: Kind) -> None:
    bench = Bench(notify=level)
    told = bench.give(kind=kind).told
    assert told is (Told.SENT if level.wants(kind) else Told.NOT_WANTED)
    assert bool(bench.channel.targets) is level.wants(kind)


def test_whoever_said_nothing_hears_what_the_setting_says() -> None:
    bench = Bench()
    assert bench.give(kind=Kind.RETRY).told is Told.NOT_WANTED
    bench.crier = replace(bench.crier, notify=Notify.ALL)
    assert bench.give(kind=Kind.RETRY).told is Told.SENT


def test_in_quiet_hours_it_is_held_until_they_end() -> None:
    bench = Bench(quiet="11:00 13:30 UTC")
    assert bench.give() == Given(Told.HELD, NOW + HOUR + 30 * MINUTE)
    assert bench.channel.targets == []


def test_nothing_is_held_where_quiet_hours_were_called_off_a_moment_ago(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bench = Bench(quiet="11:00 13:30 UTC")
    monkeypatch.setattr(bench.crier.quiet_hours, "latest", lambda _: None)
    assert bench.give().told is Told.SENT


def test_what_is_not_wanted_is_not_held() -> None:
    assert Bench(quiet="11:00 13:30 UTC").give(kind=Kind.RETRY).told is Told.NOT_WANTED


def test_what_was_asked_for_in_the_same_quiet_hours_is_told() -> None:
    bench = Bench(quiet="11:00 13:30 UTC")
    assert bench.give(wanted_at=NOW - HOUR).told is Told.SENT
    assert bench.give(wanted_at=NOW - 61 * MINUTE).told is Told.HELD


def test_what_is_about_nobody_in_particular_is_told_at_once() -> None:
    """Such as an alert, or what the operators hear of another's task."""
    bench = Bench(notify=Notify.NONE, quiet="11:00 13:30 UTC")
    assert bench.give(sender_id=None, kind=Kind.RETRY).told is Told.SENT


def test_somebody_who_is_gone_is_not_told_and_nothing_is_raised() -> None:
    bench = Bench()
    gone = Heard(RecipientGoneError("console", "left"))
    bench.crier = replace(bench.crier, channels={"console": gone})
    given = bench.give()
    assert given.told is Told.NOBODY
    assert "left" in str(given.reason)


def test_what_the_channel_raises_otherwise_is_passed_on() -> None:
    bench = Bench()
    bench.crier = replace(bench.crier, channels={"console": Heard(OSError("down"))})
    with pytest.raises(OSError, match="down"):
        bench.give()


@pytest.mark.parametrize("kind", Kind)
def test_what_waited_and_is_over_is_not_told(kind: Kind) -> None:
    """Its task is gone. How something ended stays true."""
    bench = Bench(notify=Notify.ALL)
    told = bench.give(kind=kind, run_id="run-1", has_waited=True).told
    assert told is (Told.OUTDATED if kind.may_be_outdated else Told.SENT)
    assert bool(bench.channel.targets) is not kind.may_be_outdated


def test_what_waited_and_still_holds_is_told() -> None:
    bench = Bench()
    bench.store.create(an_action(id="x", status=Status.BLOCKED, run=a_run()))
    assert bench.give(kind=Kind.ESCALATION, run_id="run-1", has_waited=True).told is Told.SENT


def test_for_what_comes_at_once_no_task_is_read() -> None:
    bench = Bench()
    assert bench.give(kind=Kind.FIRST_FAILURE, run_id="run-1").told is Told.SENT


def test_what_is_held_once_more_is_looked_at_when_it_can_be_told() -> None:
    bench = Bench(quiet="11:00 13:30 UTC")
    assert bench.give(kind=Kind.CHECK, run_id="run-1", has_waited=True).told is Told.HELD


def test_a_channel_that_is_not_set_up_tells_nobody() -> None:
    assert Bench().give(channel="pigeon").told is Told.NO_CHANNEL


def test_what_became_of_a_notice_is_logged_in_one_word_each() -> None:
    assert set(Told) == {
        *("notice_sent", "notice_held", "notice_unwanted", "notice_outdated"),
        *("notice_without_channel", "recipient_gone"),
    }
