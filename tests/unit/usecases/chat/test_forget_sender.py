"""What forgetting a sender reports: the deleted tasks, and whether there were settings."""

from __future__ import annotations

from datetime import time

import pytest
from duecourse.domain.chat.profile import Profile
from duecourse.domain.lifecycle.quiet_hours import QuietHours
from duecourse.domain.tasks.owner import Owner
from duecourse.usecases.chat.forget_sender import ForgetDeps, ForgetResult, forget_sender

from tests.support.builders.moments import NOW
from tests.support.builders.tasks import a_task
from tests.support.fakes.chat import MemoryProfiles, MemoryQuietHours
from tests.support.fakes.tasks import MemoryStore

ADA, BOB = Owner("console", "ada"), Owner("console", "bob")
NIGHT = QuietHours(time(22), time(7), "UTC")


def test_an_unknown_sender_has_nothing() -> None:
    deps = ForgetDeps(MemoryStore(), MemoryProfiles(), MemoryQuietHours())
    deps.quiet_hours.set(BOB, NIGHT)

    result = forget_sender(ADA, deps, limit=10, now=NOW)

    assert result == ForgetResult(0, deleted_settings=False, is_complete=True)
    assert deps.quiet_hours.get(BOB) == NIGHT


@pytest.mark.parametrize(
    ("hours", "profile"),
    [(NIGHT, Profile(ADA)), (None, Profile(ADA, timezone="Asia/Tokyo"))],
)
def test_settings_are_reported_once(hours: QuietHours | None, profile: Profile) -> None:
    deps = ForgetDeps(MemoryStore(), MemoryProfiles(), MemoryQuietHours())
    deps.quiet_hours.set(ADA, hours)
    deps.profiles.save(profile)

    results = [forget_sender(ADA, deps, limit=10, now=NOW) for _ in range(2)]

    assert [result.deleted_settings for result in results] == [True, False]


def test_settings_are_kept_until_all_tasks_are_deleted() -> None:
    tasks = [a_task(id=f"{number:08x}-0000-4000-8000-000000000000") for number in range(3)]
    deps = ForgetDeps(MemoryStore(*tasks), MemoryProfiles(), MemoryQuietHours())
    deps.quiet_hours.set(tasks[0].owner, NIGHT)

    results = [forget_sender(tasks[0].owner, deps, limit=2, now=NOW) for _ in range(2)]

    assert results == [
        ForgetResult(2, deleted_settings=False, is_complete=False),
        ForgetResult(1, deleted_settings=True, is_complete=True),
    ]
