"""Budgets: the limit holds, and every reservation and settlement is applied once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from functools import partial
from random import Random
from typing import Any

import boto3
import pytest
from duecourse.adapters.aws.dynamodb import budgets as dynamodb_budgets
from duecourse.adapters.aws.dynamodb.budgets import DynamoBudgets
from duecourse.domain.limits.budget import Budget, BudgetExceededError
from duecourse.ports.limits import Budgets
from pynamodb.exceptions import UpdateError

from local.runtime.call_interceptor import Call, CallInterceptor, attribute_calls_to
from local.testing.faults import Fault, Faults, SimulatedCrash
from tests.support.fakes.limits import MemoryBudgets

NOW = datetime(2026, 2, 17, 12, 0, tzinfo=UTC)
TODAY = NOW.date()
DAY = timedelta(days=1)
MILLISECOND = timedelta(milliseconds=1)
JUST_BEFORE_MIDNIGHT = datetime(2026, 2, 18, tzinfo=UTC) - MILLISECOND
LIMIT = 1_000


@pytest.fixture
def dynamo() -> DynamoBudgets:
    return DynamoBudgets(default_limit=LIMIT, retention=timedelta(days=30))


@pytest.fixture(params=["dynamodb", "memory"])
def budgets(request: pytest.FixtureRequest, dynamo: DynamoBudgets) -> Budgets:
    return dynamo if request.param == "dynamodb" else MemoryBudgets(default_limit=LIMIT)


def stored_item(day: date = TODAY) -> dict[str, Any]:
    key = {"key": {"S": f"budget#llm#{day}"}}
    return dict(boto3.client("dynamodb").get_item(TableName="StateTable", Key=key)["Item"])


def assert_remaining_is_consistent(day: date = TODAY) -> None:
    item = stored_item(day)
    remaining, limit, spent = (int(item[name]["N"]) for name in ("remaining", "limit", "spent"))
    assert remaining == limit - spent - sum(int(cost["N"]) for cost in item["held"]["M"].values())


def a_budget(**fields: Any) -> Budget:
    return Budget(**{"name": "llm", "day": TODAY, "limit": LIMIT, **fields})


# Reserve and settle


def test_a_budget_never_used_has_its_default_limit(budgets: Budgets) -> None:
    assert budgets.get_today("llm", now=NOW) == a_budget()


def test_a_reservation_is_stored(budgets: Budgets) -> None:
    budgets.reserve("llm", "a", 300, now=NOW)
    budgets.reserve("llm", "b", 50, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget(reservations={"a": 300, "b": 50}, calls=2)


def test_settling_spends_the_cost_and_releases_the_rest(budgets: Budgets) -> None:
    budgets.reserve("llm", "a", 300, now=NOW)
    budgets.settle("llm", "a", 120, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget(spent=120, calls=1)


def test_the_limit_is_reached_to_the_micro_dollar_and_never_exceeded(budgets: Budgets) -> None:
    budgets.reserve("llm", "a", LIMIT - 1, now=NOW)
    with pytest.raises(BudgetExceededError, match=r"has 0.000001 of 0.001 dollars left"):
        budgets.reserve("llm", "b", 2, now=NOW)
    budgets.reserve("llm", "c", 1, now=NOW)
    with pytest.raises(BudgetExceededError):
        budgets.reserve("llm", "d", 1, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget(
        reservations={"a": LIMIT - 1, "c": 1}, calls=2
    )


def test_the_first_reservation_of_a_day_can_exceed_the_limit(budgets: Budgets) -> None:
    with pytest.raises(BudgetExceededError):
        budgets.reserve("llm", "a", LIMIT + 1, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget()


def test_reserving_an_id_again_is_idempotent(budgets: Budgets) -> None:
    for cost in (LIMIT, LIMIT, 1, LIMIT + 1):
        budgets.reserve("llm", "a", cost, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget(reservations={"a": LIMIT}, calls=1)


def test_settling_an_id_again_changes_nothing(budgets: Budgets) -> None:
    budgets.reserve("llm", "a", 300, now=NOW)
    for actual in (120, 120, 300):
        budgets.settle("llm", "a", actual, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget(spent=120, calls=1)


def test_settling_an_unknown_id_changes_nothing(budgets: Budgets) -> None:
    budgets.settle("llm", "a", 10, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget()
    budgets.reserve("llm", "a", 300, now=NOW)
    budgets.settle("llm", "b", 10, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget(reservations={"a": 300}, calls=1)


def test_a_settled_id_can_be_reserved_again(budgets: Budgets) -> None:
    for actual in (10, 20):
        budgets.reserve("llm", "a", 300, now=NOW)
        budgets.settle("llm", "a", actual, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget(spent=30, calls=2)


def test_a_cost_above_the_reservation_is_recorded_and_exhausts_the_budget(budgets: Budgets) -> None:
    budgets.reserve("llm", "a", LIMIT, now=NOW)
    budgets.settle("llm", "a", LIMIT + 5, now=NOW)
    assert budgets.get_today("llm", now=NOW).remaining == -5
    with pytest.raises(BudgetExceededError, match=r"has -0.000005 of"):
        budgets.reserve("llm", "b", 0, now=NOW)


@pytest.mark.parametrize(
    "reservation_id",
    [
        "0a1b2c3d-0000-4000-8000-000000000000",
        "a.b.c",
        "run#1:2/3",
        "held",
        "remaining",
        "ü 1",
        "x" * 200,
    ],
)
def test_any_reservation_id_is_stored_unchanged(budgets: Budgets, reservation_id: str) -> None:
    for _ in range(2):
        budgets.reserve("llm", reservation_id, 300, now=NOW)
    assert budgets.get_today("llm", now=NOW).reservations == {reservation_id: 300}
    budgets.settle("llm", reservation_id, 120, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget(spent=120, calls=1)


def test_budgets_are_independent(budgets: Budgets) -> None:
    budgets.reserve("llm", "a", LIMIT, now=NOW)
    budgets.reserve("llm.", "a", LIMIT, now=NOW)
    assert budgets.get_today("LLM", now=NOW).remaining == LIMIT


@pytest.mark.parametrize("name", ["", "a#2026-02-17", "a b", "x" * 101])
def test_an_invalid_name_is_refused_and_nothing_is_written(
    dynamo: DynamoBudgets, name: str
) -> None:
    for attempt in (
        lambda: dynamo.reserve(name, "a", 1, now=NOW),
        lambda: dynamo.settle(name, "a", 1, now=NOW),
        lambda: dynamo.get_today(name, now=NOW),
        lambda: dynamo.set_limit(name, 1, now=NOW),
    ):
        with pytest.raises(ValueError, match="1 to 100"):
            attempt()
    assert boto3.client("dynamodb").scan(TableName="StateTable")["Count"] == 0


# The budgets of a day


def names_used(budgets: Budgets, now: datetime = NOW) -> list[str]:
    return [budget.name for budget in budgets.list_used_on(now)]


def test_the_budgets_of_a_day_are_listed_by_name(budgets: Budgets) -> None:
    budgets.reserve("tts", "a", 10, now=NOW)
    budgets.reserve("llm", "b", 300, now=NOW)
    budgets.settle("llm", "b", 120, now=NOW)
    budgets.reserve("later", "c", 1, now=NOW + DAY)
    assert budgets.list_used_on(NOW) == [
        a_budget(spent=120, calls=1),
        a_budget(name="tts", reservations={"a": 10}, calls=1),
    ]


def test_a_day_without_usage_lists_no_budgets(budgets: Budgets) -> None:
    budgets.get_today("llm", now=NOW)
    assert names_used(budgets) == []


def test_a_budget_whose_limit_was_set_is_listed_that_day(budgets: Budgets) -> None:
    budgets.set_limit("llm", 5, now=NOW)
    assert (names_used(budgets), names_used(budgets, NOW + 2 * DAY)) == (["llm"], [])


def test_a_budget_that_refused_its_first_call_is_listed_that_day(budgets: Budgets) -> None:
    with pytest.raises(BudgetExceededError):
        budgets.reserve("llm", "a", LIMIT + 1, now=NOW)
    assert names_used(budgets) == ["llm"]


def test_the_list_of_a_day_is_bounded_and_every_budget_stays_usable(
    dynamo: DynamoBudgets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dynamodb_budgets, "MAX_LISTED", 3)
    for name in "abcde":
        dynamo.reserve(name, "a", LIMIT, now=NOW)
    assert names_used(dynamo) == ["a", "b", "c"]
    assert dynamo.get_today("e", now=NOW).reserved == LIMIT


def test_the_list_of_a_day_expires_with_its_budgets(dynamo: DynamoBudgets) -> None:
    dynamo.reserve("llm", "a", 1, now=NOW)
    dynamo.reserve("tts", "a", 1, now=NOW)
    key = {"key": {"S": f"budgets#{TODAY}"}}
    listed = boto3.client("dynamodb").get_item(TableName="StateTable", Key=key)["Item"]
    assert sorted(listed["names"]["SS"]) == ["llm", "tts"]
    assert listed["expires_at"] == stored_item()["expires_at"]


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize(
    ("write", "nth"), [("UpdateItem", 1), ("UpdateItem", 2), ("UpdateItem", 3), ("PutItem", 1)]
)
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_budget_with_reservations_is_listed_whichever_write_crashes(
    dynamo: DynamoBudgets, faults: Faults, write: str, nth: int, when: str
) -> None:
    faults.add(Fault(f"dynamodb.{write}", function="me", when=when, kind="crash", nth=nth))
    with attribute_calls_to("me"), pytest.raises(SimulatedCrash):
        dynamo.reserve("llm", "a", 300, now=NOW)
    dynamo.reserve("llm", "b", 300, now=NOW)
    assert names_used(dynamo) == ["llm"]


def test_two_budgets_first_used_concurrently_are_both_listed(
    dynamo: DynamoBudgets, calls: CallInterceptor
) -> None:
    for after in range(1, 5):
        now = NOW + after * DAY
        with interrupt(calls, partial(dynamo.reserve, "tts", "b", 1, now=now), after=after):
            dynamo.reserve("llm", "a", 1, now=now)
        assert names_used(dynamo, now) == ["llm", "tts"]


def test_negative_amounts_are_refused(budgets: Budgets) -> None:
    budgets.reserve("llm", "a", 10, now=NOW)
    for attempt in (
        lambda: budgets.reserve("llm", "b", -1, now=NOW),
        lambda: budgets.settle("llm", "a", -1, now=NOW),
        lambda: budgets.set_limit("llm", -1, now=NOW),
    ):
        with pytest.raises(ValueError, match="negative"):
            attempt()
    assert budgets.get_today("llm", now=NOW) == a_budget(reservations={"a": 10}, calls=1)


# Days


def test_a_budget_resets_at_midnight(budgets: Budgets) -> None:
    budgets.reserve("llm", "a", LIMIT, now=JUST_BEFORE_MIDNIGHT)
    with pytest.raises(BudgetExceededError):
        budgets.reserve("llm", "b", LIMIT, now=JUST_BEFORE_MIDNIGHT)
    budgets.reserve("llm", "b", LIMIT, now=JUST_BEFORE_MIDNIGHT + MILLISECOND)


def test_a_call_that_ends_after_midnight_is_charged_to_the_day_it_started(budgets: Budgets) -> None:
    budgets.reserve("llm", "a", 300, now=JUST_BEFORE_MIDNIGHT)
    budgets.reserve("llm", "b", 200, now=JUST_BEFORE_MIDNIGHT + MILLISECOND)
    budgets.settle("llm", "a", 120, now=JUST_BEFORE_MIDNIGHT)
    assert budgets.get_today("llm", now=NOW) == a_budget(spent=120, calls=1)
    tomorrow = a_budget(day=TODAY + DAY, reservations={"b": 200}, calls=1)
    assert budgets.get_today("llm", now=NOW + DAY) == tomorrow


def test_a_day_expires_after_its_retention(dynamo: DynamoBudgets) -> None:
    dynamo.reserve("llm", "a", 300, now=NOW)
    end_of_today = JUST_BEFORE_MIDNIGHT + MILLISECOND
    assert int(stored_item()["expires_at"]["N"]) == (end_of_today + 30 * DAY).timestamp()


# Limits


def test_a_limit_applies_to_today_and_later_days(budgets: Budgets) -> None:
    assert budgets.set_limit("llm", 50, now=NOW) == a_budget(limit=50)
    for days in (0, 1, 2, 400):
        now = NOW + days * DAY
        assert budgets.get_today("llm", now=now).limit == 50
        budgets.reserve("llm", "a", 50, now=now)
        with pytest.raises(BudgetExceededError):
            budgets.reserve("llm", "b", 1, now=now)


@pytest.mark.parametrize("limit", [0, 419, 420, 421, LIMIT, 10**15])
def test_a_limit_set_in_the_middle_of_a_day_counts_what_was_used(
    dynamo: DynamoBudgets, limit: int
) -> None:
    dynamo.reserve("llm", "a", 300, now=NOW)
    dynamo.reserve("llm", "b", 200, now=NOW)
    dynamo.settle("llm", "b", 120, now=NOW)
    names_used = a_budget(limit=limit, reservations={"a": 300}, spent=120, calls=2)
    assert dynamo.set_limit("llm", limit, now=NOW) == dynamo.get_today("llm", now=NOW) == names_used
    assert_remaining_is_consistent()
    if limit > 420:
        dynamo.reserve("llm", "c", limit - 420, now=NOW)
    with pytest.raises(BudgetExceededError):
        dynamo.reserve("llm", "d", 1, now=NOW)


def test_the_last_limit_of_a_day_applies(dynamo: DynamoBudgets) -> None:
    dynamo.reserve("llm", "a", 300, now=NOW)
    for limit in (500, 200, 200, LIMIT, 301):
        dynamo.set_limit("llm", limit, now=NOW)
    assert dynamo.get_today("llm", now=NOW) == a_budget(limit=301, reservations={"a": 300}, calls=1)
    assert_remaining_is_consistent()


def test_a_limit_never_expires(dynamo: DynamoBudgets) -> None:
    dynamo.set_limit("llm", 50, now=NOW)
    key = {"key": {"S": "budget#llm"}}
    item = boto3.client("dynamodb").get_item(TableName="StateTable", Key=key)["Item"]
    assert (item["limit"], "expires_at" in item) == ({"N": "50"}, False)


# Races: another writer acts right after one of our calls


@contextmanager
def interrupt(calls: CallInterceptor, action: Callable[[], Any], *, after: int) -> Iterator[None]:
    """Run `action` when our call number `after` has taken effect, before its response arrives."""
    remaining_calls = after

    def on_call(_call: Call) -> None:
        nonlocal remaining_calls
        remaining_calls -= 1
        if remaining_calls == 0:
            calls.on_aws_call = None
            with suppress(BudgetExceededError):
                action()

    calls.on_aws_call = on_call
    with suppress(BudgetExceededError):
        yield
    assert remaining_calls == 0, "there was nothing to interrupt"


at_each_call_of_a_first_reservation = pytest.mark.parametrize("after", range(1, 10))
at_each_call_of_set_limit = pytest.mark.parametrize("after", range(1, 12))
at_each_call_of_a_first_set_limit = pytest.mark.parametrize("after", range(1, 14))


@at_each_call_of_a_first_reservation
def test_two_concurrent_first_reservations_respect_the_limit(
    dynamo: DynamoBudgets, calls: CallInterceptor, after: int
) -> None:
    with interrupt(calls, lambda: dynamo.reserve("llm", "b", 600, now=NOW), after=after):
        dynamo.reserve("llm", "a", 600, now=NOW)
    today = dynamo.get_today("llm", now=NOW)
    assert (today.reserved, today.calls, today.limit) == (600, 1, LIMIT)
    assert_remaining_is_consistent()


@at_each_call_of_a_first_reservation
@pytest.mark.parametrize("now", [NOW, NOW + DAY], ids=["today", "past midnight"])
def test_a_limit_set_during_a_first_reservation_applies(
    dynamo: DynamoBudgets, calls: CallInterceptor, after: int, now: datetime
) -> None:
    with interrupt(calls, lambda: dynamo.set_limit("llm", 5, now=NOW), after=after):
        dynamo.reserve("llm", "a", 3, now=now)
    expected = a_budget(day=now.date(), limit=5, reservations={"a": 3}, calls=1)
    assert dynamo.get_today("llm", now=now) == expected
    assert_remaining_is_consistent(now.date())


@at_each_call_of_a_first_set_limit
@pytest.mark.parametrize("now", [NOW, NOW + DAY], ids=["today", "past midnight"])
def test_a_first_reservation_during_set_limit_gets_the_new_limit(
    dynamo: DynamoBudgets, calls: CallInterceptor, after: int, now: datetime
) -> None:
    with interrupt(calls, lambda: dynamo.reserve("llm", "a", 3, now=now), after=after):
        dynamo.set_limit("llm", 5, now=NOW)
    expected = a_budget(day=now.date(), limit=5, reservations={"a": 3}, calls=1)
    assert dynamo.get_today("llm", now=now) == expected
    assert_remaining_is_consistent(now.date())


@at_each_call_of_set_limit
def test_one_of_two_concurrent_limits_applies_to_all_days(
    dynamo: DynamoBudgets, calls: CallInterceptor, after: int
) -> None:
    dynamo.reserve("llm", "a", 3, now=NOW)
    with interrupt(calls, lambda: dynamo.set_limit("llm", 7, now=NOW), after=after):
        dynamo.set_limit("llm", 5, now=NOW)
    limits = {dynamo.get_today("llm", now=NOW + days * DAY).limit for days in range(3)}
    assert limits == {7}
    assert_remaining_is_consistent()


@pytest.mark.parametrize("after", range(1, 11))
def test_an_older_limit_never_replaces_a_newer_one(
    dynamo: DynamoBudgets, calls: CallInterceptor, faults: Faults, after: int
) -> None:
    """The writer of the older limit crashes before it reads again."""
    dynamo.set_limit("llm", 5, now=NOW)

    def set_limits_concurrently() -> None:
        dynamo.set_limit("llm", 9, now=NOW)
        dynamo.set_limit("llm", 5, now=NOW)
        faults.add(Fault("dynamodb.GetItem", function="me", kind="crash"))

    with (
        attribute_calls_to("me"),
        pytest.raises(SimulatedCrash),
        interrupt(calls, set_limits_concurrently, after=after),
    ):
        dynamo.set_limit("llm", 7, now=NOW)
    limits = {dynamo.get_today("llm", now=NOW + days * DAY).limit for days in range(3)}
    assert limits == {5}
    assert_remaining_is_consistent()


@pytest.mark.parametrize("after", [4, 5])  # before that, set_limit creates the day
@pytest.mark.parametrize("now", [NOW, NOW + DAY], ids=["today", "past midnight"])
def test_a_limit_set_during_a_first_reservation_applies_even_if_that_crashes(
    dynamo: DynamoBudgets, calls: CallInterceptor, faults: Faults, after: int, now: datetime
) -> None:
    def set_limit_concurrently() -> None:
        dynamo.set_limit("llm", 5, now=NOW)
        faults.add(Fault("dynamodb.PutItem", function="me", when="after", kind="crash"))

    with (
        attribute_calls_to("me"),
        pytest.raises(SimulatedCrash),
        interrupt(calls, set_limit_concurrently, after=after),
    ):
        dynamo.reserve("llm", "a", 3, now=now)
    assert dynamo.get_today("llm", now=now).limit == 5


def test_a_limit_set_just_before_midnight_applies_to_a_day_already_created(
    dynamo: DynamoBudgets,
) -> None:
    dynamo.reserve("llm", "a", 3, now=NOW + DAY)
    dynamo.set_limit("llm", 5, now=JUST_BEFORE_MIDNIGHT)
    assert dynamo.get_today("llm", now=NOW + DAY).limit == 5
    assert_remaining_is_consistent(TODAY + DAY)


@pytest.mark.parametrize("after", [1, 2])
def test_one_of_two_concurrent_settlements_applies(
    dynamo: DynamoBudgets, calls: CallInterceptor, after: int
) -> None:
    dynamo.reserve("llm", "a", 300, now=NOW)
    with interrupt(calls, lambda: dynamo.settle("llm", "a", 120, now=NOW), after=after):
        dynamo.settle("llm", "a", 120, now=NOW)
    assert dynamo.get_today("llm", now=NOW) == a_budget(spent=120, calls=1)
    assert_remaining_is_consistent()


def test_a_reservation_uses_money_released_while_it_is_refused(
    dynamo: DynamoBudgets, calls: CallInterceptor
) -> None:
    dynamo.reserve("llm", "a", LIMIT, now=NOW)
    with interrupt(calls, lambda: dynamo.settle("llm", "a", 1, now=NOW), after=1):
        dynamo.reserve("llm", "b", 500, now=NOW)
    assert dynamo.get_today("llm", now=NOW) == a_budget(spent=1, reservations={"b": 500}, calls=2)


# Lost responses and crashed workers


def run_all_operations(budgets: Budgets) -> None:
    """Run every operation; a repeat changes nothing."""
    budgets.set_limit("llm", 500, now=NOW)
    budgets.reserve("llm", "a", 300, now=NOW + 2 * DAY)
    budgets.set_limit("llm", 600, now=NOW + 2 * DAY)
    budgets.settle("llm", "a", 120, now=NOW + 2 * DAY)


at_each_write = pytest.mark.parametrize(
    ("write", "nth"),
    [("PutItem", n) for n in range(1, 5)] + [("UpdateItem", n) for n in range(1, 11)],
)


@at_each_write
def test_a_lost_response_applies_nothing_twice(
    dynamo: DynamoBudgets, faults: Faults, calls: CallInterceptor, write: str, nth: int
) -> None:
    lost_response = Fault(f"dynamodb.{write}", function="me", when="after", kind="timeout", nth=nth)
    faults.add(lost_response)
    with attribute_calls_to("me"):
        run_all_operations(dynamo)
    day = TODAY + 2 * DAY
    assert calls.counts["me", f"dynamodb.{write}"] >= nth + 1, "the call was never resent"
    assert dynamo.get_today("llm", now=NOW + 2 * DAY) == a_budget(
        day=day, limit=600, spent=120, calls=1
    )
    assert_remaining_is_consistent(day)


@at_each_write
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_crash_at_any_write_leaves_a_consistent_budget(
    dynamo: DynamoBudgets,
    faults: Faults,
    calls: CallInterceptor,  # noqa: ARG001 - installed
    write: str,
    nth: int,
    when: str,
) -> None:
    faults.add(Fault(f"dynamodb.{write}", function="me", when=when, kind="crash", nth=nth))
    with attribute_calls_to("me"), pytest.raises(SimulatedCrash):
        run_all_operations(dynamo)
    before = dynamo.get_today("llm", now=NOW + 2 * DAY)
    run_all_operations(dynamo)
    after = dynamo.get_today("llm", now=NOW + 2 * DAY)
    # The repeat counts a second call only if the first one was already settled.
    assert (after.limit, after.reserved) == (600, 0)
    assert (after.spent, after.calls) == (120 + before.spent, 1 + (before.spent > 0))
    assert_remaining_is_consistent(after.day)


@pytest.mark.usefixtures("calls")
def test_a_crashed_workers_reservation_lasts_until_midnight(
    dynamo: DynamoBudgets, faults: Faults
) -> None:
    dynamo.reserve("llm", "a", 1, now=NOW)
    faults.add(Fault("dynamodb.UpdateItem", function="me", when="after", kind="crash"))
    with attribute_calls_to("me"), pytest.raises(SimulatedCrash):
        dynamo.reserve("llm", "b", 600, now=NOW)
    with pytest.raises(BudgetExceededError):
        dynamo.reserve("llm", "c", 600, now=JUST_BEFORE_MIDNIGHT)
    dynamo.reserve("llm", "c", 600, now=NOW + DAY)


@pytest.mark.usefixtures("calls")
def test_a_store_that_never_responds_raises_its_error(
    dynamo: DynamoBudgets, faults: Faults
) -> None:
    faults.add(Fault("dynamodb.UpdateItem", function="me", kind="timeout", times=100))
    with attribute_calls_to("me"), pytest.raises(UpdateError, match="Read timeout"):
        dynamo.reserve("llm", "a", 1, now=NOW)


# Concurrency


def run_in_parallel(work: Callable[[int], bool], count: int) -> int:
    """Run them eight at a time and return how many succeeded."""

    def run_one(n: int) -> bool:
        with attribute_calls_to("me"):
            return work(n)

    with ThreadPoolExecutor(8) as pool:
        return sum(pool.map(run_one, range(count)))


@pytest.mark.usefixtures("serialize_calls")
def test_500_concurrent_calls_use_up_the_budget_and_never_exceed_it() -> None:
    budgets = DynamoBudgets(default_limit=3_333_333, retention=DAY)

    def call(n: int) -> bool:
        with suppress(BudgetExceededError):
            budgets.reserve("llm", str(n), 33_000, now=NOW)
            if n % 10:  # of ten workers one dies
                budgets.settle("llm", str(n), 33_000, now=NOW)
            return True
        return False

    assert run_in_parallel(call, 500) == 101
    today = budgets.get_today("llm", now=NOW)
    assert (today.spent + today.reserved, today.calls) == (3_333_000, 101)
    assert today.remaining == 333
    assert_remaining_is_consistent()


@pytest.mark.usefixtures("serialize_calls")
@pytest.mark.parametrize("seed", range(2))
def test_concurrent_calls_with_lost_responses_are_charged_exactly_once(
    dynamo: DynamoBudgets, faults: Faults, seed: int
) -> None:
    """Each costs at most its reservation; some responses are lost."""
    rng = Random(seed)  # noqa: S311 - no secret
    actual = [rng.randint(0, 50) for _ in range(100)]
    for n in range(3, 150, 17):
        faults.add(Fault("dynamodb.UpdateItem", when="after", kind="timeout", nth=n))
    highest = 0

    def call(n: int) -> bool:
        nonlocal highest
        with suppress(BudgetExceededError):
            dynamo.reserve("llm", str(n), 50, now=NOW)
            today = dynamo.get_today("llm", now=NOW)
            highest = max(highest, today.spent + today.reserved)
            dynamo.settle("llm", str(n), actual[n], now=NOW)
            return True
        actual[n] = 0
        return False

    call_count = run_in_parallel(call, 100)
    today = dynamo.get_today("llm", now=NOW)
    assert (today.spent, today.reservations, today.calls) == (sum(actual), {}, call_count)
    assert highest <= LIMIT
    assert today.remaining < 8 * 50, "refused though there was room"
    assert_remaining_is_consistent()


@pytest.mark.usefixtures("serialize_calls")
def test_limits_set_during_concurrent_reservations_leave_a_consistent_budget(
    dynamo: DynamoBudgets,
) -> None:
    def reserve_or_set_limit(n: int) -> bool:
        with suppress(BudgetExceededError):
            if n % 10:
                dynamo.reserve("llm", str(n), 20, now=NOW)
                return True
            dynamo.set_limit("llm", LIMIT + n, now=NOW)
        return False

    call_count = run_in_parallel(reserve_or_set_limit, 80)
    today = dynamo.get_today("llm", now=NOW)
    assert (today.reserved, today.calls) == (20 * call_count, call_count)
    assert dynamo.get_today("llm", now=NOW + 9 * DAY).limit == today.limit
    # A later call may set a lower limit than the one under which a reservation was made.
    assert today.reserved <= LIMIT + 70
    assert_remaining_is_consistent()


# The store agrees with the domain model


@pytest.mark.parametrize("seed", range(5))
def test_any_sequence_of_operations_agrees_with_the_domain_model(
    budgets: Budgets, seed: int
) -> None:
    rng = Random(seed)  # noqa: S311 - no secret
    model = a_budget()
    for _ in range(60):
        id, money = rng.choice("abcdef"), rng.randint(0, 400)
        match rng.choice(["reserve", "reserve", "settle", "settle", "limit"]):
            case "reserve":
                refusal = refusal_of(budgets.reserve, "llm", id, money, now=NOW)
                assert refusal == refusal_of(model.reserve, id, money)
                model = model if refusal else model.reserve(id, money)
            case "settle":
                budgets.settle("llm", id, money, now=NOW)
                model = model.settle(id, money)
            case "limit":
                budgets.set_limit("llm", 3 * money, now=NOW)
                model = replace(model, limit=3 * money)
        assert budgets.get_today("llm", now=NOW) == model


def refusal_of(operation: Callable[..., Any], *args: Any, **named: Any) -> str | None:
    try:
        operation(*args, **named)
    except BudgetExceededError as refused:
        return str(refused)
    return None
