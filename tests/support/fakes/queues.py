"""Queues that are lists."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime

from duecourse.domain.chat.notification import Notification
from duecourse.domain.dispatch.dead_letter import DeadLetter
from duecourse.domain.dispatch.timing import Dispatch
from duecourse.domain.failures.failure_report import FailureReport


class ListQueue(list[Dispatch]):
    def send(self, dispatches: Iterable[Dispatch], *, now: datetime) -> int:  # noqa: ARG002
        before = len(self)
        self.extend(dispatches)
        return len(self) - before

    def try_send(self, dispatch: Dispatch, *, now: datetime) -> None:
        with suppress(Exception):
            self.send([dispatch], now=now)


class ListFailures(list[FailureReport]):
    def send(self, report: FailureReport) -> None:
        self.append(report)

    def send_all(self, reports: Sequence[FailureReport]) -> None:
        self.extend(reports)


class ListNotifications(list[Notification]):
    def send(self, notification: Notification) -> None:
        self.append(notification)

    def send_all(self, notifications: Sequence[Notification]) -> int:
        self.extend(notifications)
        return len(notifications)

    def defer(self, receipt_handle: str, *, until: datetime, now: datetime) -> None:
        raise NotImplementedError

    def send_later(self, notification: Notification, *, at: datetime, now: datetime) -> None:
        raise NotImplementedError


class ListLetters(list[DeadLetter]):
    def save(self, letter: DeadLetter) -> None:
        self.append(letter)

    def list_letters(self, after: str = "") -> Iterator[DeadLetter]:
        return iter([letter for letter in self if letter.sort_key > after])

    def drop(self, letter: DeadLetter) -> None:
        self.remove(letter)
