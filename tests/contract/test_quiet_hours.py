"""Quiet hours: no owner's are lost, and reading them is nearly free."""

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
CACHE_TTL = timedelta(seconds=60)


def quiet_hours_store(clock: ManualClock | None = None) -> DynamoQuietHoursStore:
    """Return the store of a new container."""
    return DynamoQuietHoursStore(clock or ManualClock(NOW))


Container = Callable[[], QuietHoursStore]


@pytest.fixture(params=["dynamodb", "memory"])
def container(request: pytest.FixtureRequest) -> Container:
    """Return a factory: each call gives a new container's store over the same data."""
    memory = MemoryQuietHours()
    return quiet_hours_store if request.param == "dynamodb" else lambda: memory


def test_an_unknown_owner_has_no_quiet_hours(container: Container) -> None:
    assert container().get_cached(ADA) is None
    assert container().get(ADA) is None


def test_the_store_says_whether_anybody_has_quiet_hours(container: Container) -> None:
    assert container().is_unused()
    container().set(ADA, NIGHT)
    assert not container().is_unused()


def test_quiet_hours_are_stored_per_owner_and_channel(container: Container) -> None:
    container().set(ADA, NIGHT)
    assert container().get_cached(ADA) == container().get(ADA) == NIGHT
    assert container().get_cached(BOB) is None
    assert container().get_cached(Owner("telegram", "ada")) is None


def test_quiet_hours_can_be_changed_and_removed(container: Container) -> None:
    container().set(ADA, NIGHT)
    container().set(ADA, NOON)
    assert container().get_cached(ADA) == NOON
    container().set(ADA, None)
    assert container().get_cached(ADA) is None
    assert container().get(ADA) is None


@pytest.mark.parametrize("name", ["a.b", "a#b", "key", "shards", "[0]", "é😀", "x" * 1_000, " "])
def test_a_sender_id_can_be_any_text(name: str) -> None:
    quiet_hours_store().set(Owner("slack", name), NIGHT)
    assert quiet_hours_store().get_cached(Owner("slack", name)) == NIGHT


def test_quiet_hours_of_many_owners_are_all_stored() -> None:
    """There are far more owners than items: each item holds several."""
    owners = [Owner("slack", f"U{n}") for n in range(300)]
    stores = (quiet_hours_store(), quiet_hours_store())
    for n, owner in enumerate(owners):
        stores[n % 2].set(owner, NIGHT if n % 3 else NOON)
    for owner in owners[::7]:
        quiet_hours_store().set(owner, None)
    fresh_store = quiet_hours_store()
    assert [fresh_store.get_cached(owner) for owner in owners] == [
        None if n % 7 == 0 else NIGHT if n % 3 else NOON for n in range(300)
    ]
    assert len(list(QuietItem.scan())) <= 65


def test_another_container_sees_a_change_after_a_minute() -> None:
    clock = ManualClock(NOW)
    other_container = quiet_hours_store(clock)
    assert other_container.get_cached(ADA) is None
    quiet_hours_store().set(ADA, NIGHT)
    clock.at = NOW + CACHE_TTL - MILLISECOND
    assert other_container.get_cached(ADA) is None
    assert other_container.get(ADA) == NIGHT
    clock.at = NOW + CACHE_TTL
    assert other_container.get_cached(ADA) == NIGHT
    quiet_hours_store().set(ADA, NOON)
    clock.at += CACHE_TTL - MILLISECOND
    assert other_container.get_cached(ADA) == NIGHT
    clock.at += MILLISECOND
    assert other_container.get_cached(ADA) == NOON


def test_another_container_defers_nothing_once_quiet_hours_are_removed() -> None:
    other_container = quiet_hours_store()
    quiet_hours_store().set(ADA, NIGHT)
    midnight = parse_instant("2026-02-17T23:00:00Z")
    deferral = check_quiet_hours(ADA, other_container, at=midnight, owner_requested_at=None)
    until = parse_instant("2026-02-18T06:00:00Z")
    assert deferral == QuietHoursDeferral(until, NIGHT.wait(until))
    quiet_hours_store().set(ADA, None)
    assert other_container.get_cached(ADA) == NIGHT
    assert check_quiet_hours(ADA, other_container, at=midnight, owner_requested_at=None) is None


def test_the_writing_container_sees_its_change_at_once(container: Container) -> None:
    container_store = container()
    assert container_store.get_cached(ADA) is None
    container_store.set(ADA, NIGHT)
    assert container_store.get_cached(ADA) == NIGHT


def test_without_any_quiet_hours_a_minute_costs_one_read(calls: CallInterceptor) -> None:
    operations: Counter[str] = Counter()

    def on_call(call: Call) -> None:
        operations[call.operation] += 1
        assert not call.body.get("ConsistentRead")

    calls.on_aws_call = on_call
    clock = ManualClock(NOW)
    store = quiet_hours_store(clock)
    for n in range(200):
        clock.at = NOW + n * CACHE_TTL / 200
        assert store.get_cached(Owner("slack", f"U{n}")) is None
    assert operations == {"GetItem": 1}


def test_an_owner_with_quiet_hours_costs_one_more_read(calls: CallInterceptor) -> None:
    quiet_hours_store().set(ADA, NIGHT)
    operations: Counter[str] = Counter()
    calls.on_aws_call = lambda call: operations.update([call.operation])
    store = quiet_hours_store()
    for _ in range(50):
        assert store.get_cached(ADA) == NIGHT
    assert operations == {"GetItem": 2}


@pytest.mark.parametrize("text", ["22:00 07:00 Nowhere/Else", "late", ""])
def test_unreadable_quiet_hours_defer_nothing(text: str) -> None:
    quiet_hours_store().set(ADA, NIGHT)
    [item] = [item for item in QuietItem.scan() if item.key != "quiet"]
    item.update([Path([name]).set(text) for name in item.texts])
    assert quiet_hours_store().get_cached(ADA) is None


def test_quiet_hours_expire_if_their_owner_no_longer_writes() -> None:
    quiet_hours_store().set(ADA, NIGHT)
    quiet_hours_store().set(BOB, NOON)
    later = NOW + timedelta(days=300)
    quiet_hours_store(ManualClock(later)).renew(BOB)
    over = quiet_hours_store(ManualClock(NOW + timedelta(days=401)))

    assert over.expire() == 1
    assert (over.get(ADA), over.get(BOB)) == (None, NOON)
    assert over.expire() == 0


def test_quiet_hours_of_an_older_version_get_an_expiry() -> None:
    store = quiet_hours_store()
    store.set(ADA, NIGHT)
    [item] = [one for one in QuietItem.scan() if one.texts]
    item.update([Path(["until#slack#ada"]).remove()])

    assert quiet_hours_store(ManualClock(NOW + timedelta(days=1))).expire() == 0
    assert quiet_hours_store(ManualClock(NOW + timedelta(days=400))).expire() == 0
    assert quiet_hours_store(ManualClock(NOW + timedelta(days=402))).expire() == 1


def test_renewing_creates_nothing() -> None:
    quiet_hours_store().renew(ADA)

    assert list(QuietItem.scan()) == []
