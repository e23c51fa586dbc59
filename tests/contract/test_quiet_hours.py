"""Quiet hours on the template's own table: nobody's are lost, and to ask costs next to nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import timedelta

import pytest
from duecourse.adapters.aws.dynamodb.models import QuietItem
from duecourse.adapters.aws.dynamodb.quiet_hours import DynamoQuietHoursStore
from duecourse.domain.lifecycle.quiet_hours import QuietHours
from duecourse.domain.tasks.owner import Owner
from duecourse.ports.chat import QuietHoursStore
from duecourse.usecases.limits.quiet_hours import QuietHoursDeferral, check_quiet_hours
from pynamodb.expressions.operand import Path

from local.runtime.call_interceptor import Call, CallInterceptor
from tests.support.builders.moments import MILLISECOND, NOW, parse_instant
from tests.support.fakes.chat import MemoryQuietHours
from tests.support.fakes.clock import ManualClock

ADA, BOB = Owner("slack", "ada"), Owner("slack", "bob")
NIGHT = QuietHours.from_text("22:00 07:00 Europe/Berlin")
NOON = QuietHours.from_text("12:00 14:00 America/Argentina/Buenos_Aires")
KEPT = timedelta(seconds=60)


def hours(clock: ManualClock | None = None) -> DynamoQuietHoursStore:
    """As another container has them."""
    return DynamoQuietHoursStore(clock or ManualClock(NOW))


Container = Callable[[], QuietHoursStore]


@pytest.fixture(params=["dynamodb", "memory"])
def container(request: pytest.FixtureRequest) -> Container:
    """Each call is another container; all of them share what is stored."""
    memory = MemoryQuietHours()
    return hours if request.param == "dynamodb" else lambda: memory


def test_somebody_never_seen_has_none(container: Container) -> None:
    assert container().get_cached(ADA) is None
    assert container().get(ADA) is None


def test_they_are_remembered_for_one_person_on_one_channel(container: Container) -> None:
    container().set(ADA, NIGHT)
    assert container().get_cached(ADA) == container().get(ADA) == NIGHT
    assert container().get_cached(BOB) is None
    assert container().get_cached(Owner("telegram", "ada")) is None


def test_they_are_changed_and_called_off(container: Container) -> None:
    container().set(ADA, NIGHT)
    container().set(ADA, NOON)
    assert container().get_cached(ADA) == NOON
    container().set(ADA, None)
    assert container().get_cached(ADA) is None
    assert container().get(ADA) is None


@pytest.mark.parametrize("name", ["a.b", "a#b", "key", "shards", "[0]", "é😀", "x" * 1_000, " "])
def test_people_may_be_called_as_they_like(name: str) -> None:
    hours().set(Owner("slack", name), NIGHT)
    assert hours().get_cached(Owner("slack", name)) == NIGHT


def test_of_many_who_set_theirs_nobodys_is_lost() -> None:
    """Far more than there are items: each has several."""
    people = [Owner("slack", f"U{n}") for n in range(300)]
    both = (hours(), hours())
    for n, owner in enumerate(people):
        both[n % 2].set(owner, NIGHT if n % 3 else NOON)
    for owner in people[::7]:
        hours().set(owner, None)
    seen = hours()
    assert [seen.get_cached(owner) for owner in people] == [
        None if n % 7 == 0 else NIGHT if n % 3 else NOON for n in range(300)
    ]
    assert len(list(QuietItem.scan())) <= 65


def test_elsewhere_a_change_is_in_force_after_a_minute() -> None:
    clock = ManualClock(NOW)
    elsewhere = hours(clock)
    assert elsewhere.get_cached(ADA) is None
    hours().set(ADA, NIGHT)
    clock.at = NOW + KEPT - MILLISECOND
    assert elsewhere.get_cached(ADA) is None
    assert elsewhere.get(ADA) == NIGHT
    clock.at = NOW + KEPT
    assert elsewhere.get_cached(ADA) == NIGHT
    hours().set(ADA, NOON)
    clock.at += KEPT - MILLISECOND
    assert elsewhere.get_cached(ADA) == NIGHT
    clock.at += MILLISECOND
    assert elsewhere.get_cached(ADA) == NOON


def test_elsewhere_nothing_is_held_any_more_once_they_are_called_off() -> None:
    elsewhere = hours()
    hours().set(ADA, NIGHT)
    midnight = parse_instant("2026-02-17T23:00:00Z")
    hold = check_quiet_hours(ADA, elsewhere, at=midnight, owner_requested_at=None)
    until = parse_instant("2026-02-18T06:00:00Z")
    assert hold == QuietHoursDeferral(until, NIGHT.wait(until))
    hours().set(ADA, None)
    assert elsewhere.get_cached(ADA) == NIGHT
    assert check_quiet_hours(ADA, elsewhere, at=midnight, owner_requested_at=None) is None


def test_whoever_sets_them_sees_them_at_once(container: Container) -> None:
    here = container()
    assert here.get_cached(ADA) is None
    here.set(ADA, NIGHT)
    assert here.get_cached(ADA) == NIGHT


def test_where_nobody_has_any_a_minute_costs_one_read(calls: CallInterceptor) -> None:
    made: Counter[str] = Counter()

    def on_call(call: Call) -> None:
        made[call.operation] += 1
        assert not call.body.get("ConsistentRead")

    calls.on_aws_call = on_call
    clock = ManualClock(NOW)
    seen = hours(clock)
    for n in range(200):
        clock.at = NOW + n * KEPT / 200
        assert seen.get_cached(Owner("slack", f"U{n}")) is None
    assert made == {"GetItem": 1}


def test_one_who_has_some_costs_one_more(calls: CallInterceptor) -> None:
    hours().set(ADA, NIGHT)
    made: Counter[str] = Counter()
    calls.on_aws_call = lambda call: made.update([call.operation])
    seen = hours()
    for _ in range(50):
        assert seen.get_cached(ADA) == NIGHT
    assert made == {"GetItem": 2}


@pytest.mark.parametrize("stored", ["22:00 07:00 Nowhere/Else", "late", ""])
def test_what_cannot_be_read_any_more_keeps_no_reminder_back(stored: str) -> None:
    hours().set(ADA, NIGHT)
    [item] = [item for item in QuietItem.scan() if item.key != "quiet"]
    item.update([Path([name]).set(stored) for name in item.texts])
    assert hours().get_cached(ADA) is None
