"""What forgetting a sender deletes and reports."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import time
from typing import Any

import pytest
from duecourse.domain.chat.profile import Profile
from duecourse.domain.chat.undeliverable import undeliverable_notification
from duecourse.domain.dispatch.dead_letter import DeadLetter, Queue
from duecourse.domain.lifecycle.quiet_hours import QuietHours
from duecourse.domain.tasks.owner import Owner
from duecourse.usecases.chat.forget_sender import ForgetDeps, ForgetResult, forget_sender

from tests.support.builders.chat import a_message
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.tasks import a_task
from tests.support.fakes.chat import MemoryProfiles, MemoryQuietHours
from tests.support.fakes.queues import ListLetters
from tests.support.fakes.tasks import MemoryStore

ADA, BOB = Owner("console", "ada"), Owner("console", "bob")
NIGHT = QuietHours(time(22), time(7), "UTC")


def test_an_unknown_sender_has_nothing() -> None:
    deps = ForgetDeps(MemoryStore(), MemoryProfiles(), MemoryQuietHours(), ListLetters())
    deps.quiet_hours.set(BOB, NIGHT)

    result = forget_sender(ADA, deps, limit=10, now=NOW)

    assert result == ForgetResult(0, deleted_settings=False, is_complete=True)
    assert deps.quiet_hours.get(BOB) == NIGHT


@pytest.mark.parametrize(
    ("hours", "profile"),
    [(NIGHT, Profile(ADA)), (None, Profile(ADA, timezone="Asia/Tokyo"))],
)
def test_settings_are_reported_once(hours: QuietHours | None, profile: Profile) -> None:
    deps = ForgetDeps(MemoryStore(), MemoryProfiles(), MemoryQuietHours(), ListLetters())
    deps.quiet_hours.set(ADA, hours)
    deps.profiles.save(profile)

    results = [forget_sender(ADA, deps, limit=10, now=NOW) for _ in range(2)]

    assert [result.deleted_settings for result in results] == [True, False]


def test_settings_are_kept_until_all_tasks_are_deleted() -> None:
    tasks = [a_task(id=f"{number:08x}-0000-4000-8000-000000000000") for number in range(3)]
    deps = ForgetDeps(MemoryStore(*tasks), MemoryProfiles(), MemoryQuietHours(), ListLetters())
    deps.quiet_hours.set(tasks[0].owner, NIGHT)

    results = [forget_sender(tasks[0].owner, deps, limit=2, now=NOW) for _ in range(2)]

    assert results == [
        ForgetResult(2, deleted_settings=False, is_complete=False),
        ForgetResult(1, deleted_settings=True, is_complete=True),
    ]


def a_letter(number: int, queue: Queue, content: Any, **fields: Any) -> DeadLetter:
    sent_at = NOW + number * MINUTE
    return DeadLetter(
        id=f"letter-{number}", queue=queue, body=json.dumps(content), sent_at=sent_at, **fields
    )


def test_dead_letters_of_the_sender_and_of_their_tasks_are_dropped() -> None:
    task, message = a_task(), a_message(sender_id="ada", source_chat="a-group")
    unanswered = replace(undeliverable_notification(message), target="a-group")
    others = [
        a_letter(4, Queue.CHAT, a_message(sender_id="bob", dedup_key="other").to_json()),
        a_letter(5, Queue.WORK, {}, task_id="another"),
        a_letter(6, Queue.JOURNAL, {}),
    ]
    letters = [
        a_letter(1, Queue.CHAT, message.to_json()),
        a_letter(2, Queue.NOTIFICATIONS, unanswered.to_json()),
        a_letter(3, Queue.JOURNAL, {"records": []}, task_id=task.id),
    ]
    stored = ListLetters(letters + others)
    deps = ForgetDeps(MemoryStore(task), MemoryProfiles(), MemoryQuietHours(), stored)

    result = forget_sender(task.owner, deps, limit=10, now=NOW)

    assert (stored, result.deleted_dead_letters, result.is_complete) == (others, 3, True)


def test_tasks_are_kept_until_all_dead_letters_are_dropped() -> None:
    """Letters of a task can be found only while it exists."""
    task = a_task()
    stored = ListLetters(a_letter(n, Queue.WORK, {}, task_id=task.id) for n in range(3))
    deps = ForgetDeps(MemoryStore(task), MemoryProfiles(), MemoryQuietHours(), stored)

    results = [forget_sender(task.owner, deps, limit=2, now=NOW) for _ in range(2)]

    assert results == [
        ForgetResult(0, deleted_settings=False, is_complete=False, deleted_dead_letters=2),
        ForgetResult(1, deleted_settings=False, is_complete=True, deleted_dead_letters=1),
    ]
