"""What every store of budgets promises: the cap holds, and every move is made once."""

from __future__ import annotations

import threading
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
from botocore.endpoint import Endpoint
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
CAP = 1_000


@pytest.fixture
def dynamo() -> DynamoBudgets:
    return DynamoBudgets(default_limit=CAP, retention=timedelta(days=30))


@pytest.fixture(params=["dynamodb", "memory"])
def budgets(request: pytest.FixtureRequest, dynamo: DynamoBudgets) -> Budgets:
    return dynamo if request.param == "dynamodb" else MemoryBudgets(default_limit=CAP)


def stored(day: date = TODAY) -> dict[str, Any]:
    key = {"key": {"S": f"budget#llm#{day}"}}
    return dict(boto3.client("dynamodb").get_item(TableName="StateTable", Key=key)["Item"])


def assert_the_sum_is_right(day: date = TODAY) -> None:
    item = stored(day)
    left, limit, spent = (int(item[name]["N"]) for name in ("remaining", "limit", "spent"))
    assert left == limit - spent - sum(int(cost["N"]) for cost in item["held"]["M"].values())


def a_budget(**fields: Any) -> Budget:
    return Budget(**{"name": "llm", "day": TODAY, "limit": CAP, **fields})


# Reserve and settle


def test_a_budget_never_used_has_its_default_limit(budgets: Budgets) -> None:
    assert budgets.get_today("llm", now=NOW) == a_budget()


def test_what_is_reserved_is_held(budgets: Budgets) -> None:
    budgets.reserve("llm", "a", 300, now=NOW)
    budgets.reserve("llm", "b", 50, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget(reservations={"a": 300, "b": 50}, calls=2)


def test_what_is_settled_is_spent_and_the_rest_is_left(budgets: Budgets) -> None:
    budgets.reserve("llm", "a", 300, now=NOW)
    budgets.settle("llm", "a", 120, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget(spent=120, calls=1)


def test_the_cap_is_reached_to_the_micro_dollar_and_not_passed(budgets: Budgets) -> None:
    budgets.reserve("llm", "a", CAP - 1, now=NOW)
    with pytest.raises(BudgetExceededError, match=r"has 0.000001 of 0.001 dollars left"):
        budgets.reserve("llm", "b", 2, now=NOW)
    budgets.reserve("llm", "c", 1, now=NOW)
    with pytest.raises(BudgetExceededError):
        budgets.reserve("llm", "d", 1, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget(
        reservations={"a": CAP - 1, "c": 1}, calls=2
    )


def test_the_first_reservation_of_a_day_may_be_too_high(budgets: Budgets) -> None:
    with pytest.raises(BudgetExceededError):
        budgets.reserve("llm", "a", CAP + 1, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget()


def test_reserving_again_holds_no_more_and_is_answered_as_before(budgets: Budgets) -> None:
    for cost in (CAP, CAP, 1, CAP + 1):
        budgets.reserve("llm", "a", cost, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget(reservations={"a": CAP}, calls=1)


def test_settling_again_changes_nothing(budgets: Budgets) -> None:
    budgets.reserve("llm", "a", 300, now=NOW)
    for actual in (120, 120, 300):
        budgets.settle("llm", "a", actual, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget(spent=120, calls=1)


def test_settling_what_was_never_reserved_changes_nothing(budgets: Budgets) -> None:
    budgets.settle("llm", "a", 10, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget()
    budgets.reserve("llm", "a", 300, now=NOW)
    budgets.settle("llm", "b", 10, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget(reservations={"a": 300}, calls=1)


def test_an_id_that_was_settled_stands_for_a_new_call(budgets: Budgets) -> None:
    for actual in (10, 20):
        budgets.reserve("llm", "a", 300, now=NOW)
        budgets.settle("llm", "a", actual, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget(spent=30, calls=2)


def test_a_cost_above_what_was_held_is_recorded_and_ends_the_day(budgets: Budgets) -> None:
    budgets.reserve("llm", "a", CAP, now=NOW)
    budgets.settle("llm", "a", CAP + 5, now=NOW)
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
def test_any_id_is_kept_as_it_is(budgets: Budgets, reservation_id: str) -> None:
    for _ in range(2):
        budgets.reserve("llm", reservation_id, 300, now=NOW)
    assert budgets.get_today("llm", now=NOW).reservations == {reservation_id: 300}
    budgets.settle("llm", reservation_id, 120, now=NOW)
    assert budgets.get_today("llm", now=NOW) == a_budget(spent=120, calls=1)


def test_budgets_do_not_share_their_money(budgets: Budgets) -> None:
    budgets.reserve("llm", "a", CAP, now=NOW)
    budgets.reserve("llm.", "a", CAP, now=NOW)
    assert budgets.get_today("LLM", now=NOW).remaining == CAP


@pytest.mark.parametrize("name", ["", "a#2026-02-17", "a b", "x" * 101])
def test_a_bad_name_is_refused_and_nothing_written(dynamo: DynamoBudgets, name: str) -> None:
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


def used(budgets: Budgets, now: datetime = NOW) -> list[str]:
    return [budget.name for budget in budgets.list_used_on(now)]


def test_the_budgets_of_a_day_are_told_by_name_as_they_stand(budgets: Budgets) -> None:
    budgets.reserve("tts", "a", 10, now=NOW)
    budgets.reserve("llm", "b", 300, now=NOW)
    budgets.settle("llm", "b", 120, now=NOW)
    budgets.reserve("later", "c", 1, now=NOW + DAY)
    assert budgets.list_used_on(NOW) == [
        a_budget(spent=120, calls=1),
        a_budget(name="tts", reservations={"a": 10}, calls=1),
    ]


def test_a_day_on_which_nothing_was_used_has_no_budgets(budgets: Budgets) -> None:
    budgets.get_today("llm", now=NOW)
    assert used(budgets) == []


def test_a_budget_whose_limit_was_set_is_one_of_the_days(budgets: Budgets) -> None:
    budgets.set_limit("llm", 5, now=NOW)
    assert (used(budgets), used(budgets, NOW + 2 * DAY)) == (["llm"], [])


def test_a_budget_that_refused_its_first_call_is_one_of_the_days(budgets: Budgets) -> None:
    with pytest.raises(BudgetExceededError):
        budgets.reserve("llm", "a", CAP + 1, now=NOW)
    assert used(budgets) == ["llm"]


def test_a_day_lists_only_so_many_budgets_and_all_can_be_used(
    dynamo: DynamoBudgets, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dynamodb_budgets, "MAX_LISTED", 3)
    for name in "abcde":
        dynamo.reserve(name, "a", CAP, now=NOW)
    assert used(dynamo) == ["a", "b", "c"]
    assert dynamo.get_today("e", now=NOW).reserved == CAP


def test_the_list_of_a_day_ages_out_with_its_budgets(dynamo: DynamoBudgets) -> None:
    dynamo.reserve("llm", "a", 1, now=NOW)
    dynamo.reserve("tts", "a", 1, now=NOW)
    key = {"key": {"S": f"budgets#{TODAY}"}}
    listed = boto3.client("dynamodb").get_item(TableName="StateTable", Key=key)["Item"]
    assert sorted(listed["names"]["SS"]) == ["llm", "tts"]
    assert listed["expires_at"] == stored()["expires_at"]


@pytest.mark.usefixtures("calls")
@pytest.mark.parametrize(
    ("write", "nth"), [("UpdateItem", 1), ("UpdateItem", 2), ("UpdateItem", 3), ("PutItem", 1)]
)
@pytest.mark.parametrize("when", ["before", "after"])
def test_whatever_dies_a_budget_with_money_held_is_listed(
    dynamo: DynamoBudgets, faults: Faults, write: str, nth: int, when: str
) -> None:
    faults.add(Fault(f"dynamodb.{write}", function="me", when=when, kind="crash", nth=nth))
    with attribute_calls_to("me"), pytest.raises(SimulatedCrash):
        dynamo.reserve("llm", "a", 300, now=NOW)
    dynamo.reserve("llm", "b", 300, now=NOW)
    assert used(dynamo) == ["llm"]


def test_two_that_begin_their_days_at_once_are_both_listed(
    dynamo: DynamoBudgets, calls: CallInterceptor
) -> None:
    for after in range(1, 5):
        now = NOW + after * DAY
        with interrupted(calls, partial(dynamo.reserve, "tts", "b", 1, now=now), after=after):
            dynamo.reserve("llm", "a", 1, now=now)
        assert used(dynamo, now) == ["llm", "tts"]


def test_money_that_is_negative_is_refused(budgets: Budgets) -> None:
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


def test_at_midnight_a_budget_is_whole_again(budgets: Budgets) -> None:
    budgets.reserve("llm", "a", CAP, now=JUST_BEFORE_MIDNIGHT)
    with pytest.raises(BudgetExceededError):
        budgets.reserve("llm", "b", CAP, now=JUST_BEFORE_MIDNIGHT)
    budgets.reserve("llm", "b", CAP, now=JUST_BEFORE_MIDNIGHT + MILLISECOND)


def test_a_call_that_ends_after_midnight_is_paid_by_its_own_day(budgets: Budgets) -> None:
    budgets.reserve("llm", "a", 300, now=JUST_BEFORE_MIDNIGHT)
    budgets.reserve("llm", "b", 200, now=JUST_BEFORE_MIDNIGHT + MILLISECOND)
    budgets.settle("llm", "a", 120, now=JUST_BEFORE_MIDNIGHT)
    assert budgets.get_today("llm", now=NOW) == a_budget(spent=120, calls=1)
    tomorrow = a_budget(day=TODAY + DAY, reservations={"b": 200}, calls=1)
    assert budgets.get_today("llm", now=NOW + DAY) == tomorrow


def test_a_day_ages_out_once_it_has_passed_and_been_kept(dynamo: DynamoBudgets) -> None:
    dynamo.reserve("llm", "a", 300, now=NOW)
    end_of_today = JUST_BEFORE_MIDNIGHT + MILLISECOND
    assert int(stored()["expires_at"]["N"]) == (end_of_today + 30 * DAY).timestamp()


# Limits


def test_a_limit_holds_for_today_and_the_days_after(budgets: Budgets) -> None:
    assert budgets.set_limit("llm", 50, now=NOW) == a_budget(limit=50)
    for days in (0, 1, 2, 400):
        now = NOW + days * DAY
        assert budgets.get_today("llm", now=now).limit == 50
        budgets.reserve("llm", "a", 50, now=now)
        with pytest.raises(BudgetExceededError):
            budgets.reserve("llm", "b", 1, now=now)


@pytest.mark.parametrize("limit", [0, 419, 420, 421, CAP, 10**15])
def test_a_limit_set_in_the_middle_of_a_day_counts_what_was_used(
    dynamo: DynamoBudgets, limit: int
) -> None:
    dynamo.reserve("llm", "a", 300, now=NOW)
    dynamo.reserve("llm", "b", 200, now=NOW)
    dynamo.settle("llm", "b", 120, now=NOW)
    used = a_budget(limit=limit, reservations={"a": 300}, spent=120, calls=2)
    assert dynamo.set_limit("llm", limit, now=NOW) == dynamo.get_today("llm", now=NOW) == used
    assert_the_sum_is_right()
    if limit > 420:
        dynamo.reserve("llm", "c", limit - 420, now=NOW)
    with pytest.raises(BudgetExceededError):
        dynamo.reserve("llm", "d", 1, now=NOW)


def test_limits_follow_one_another_on_the_same_day(dynamo: DynamoBudgets) -> None:
    dynamo.reserve("llm", "a", 300, now=NOW)
    for limit in (500, 200, 200, CAP, 301):
        dynamo.set_limit("llm", limit, now=NOW)
    assert dynamo.get_today("llm", now=NOW) == a_budget(limit=301, reservations={"a": 300}, calls=1)
    assert_the_sum_is_right()


def test_a_limit_never_ages_out(dynamo: DynamoBudgets) -> None:
    dynamo.set_limit("llm", 50, now=NOW)
    key = {"key": {"S": "budget#llm"}}
    item = boto3.client("dynamodb").get_item(TableName="StateTable", Key=key)["Item"]
    assert (item["limit"], "expires_at" in item) == ({"N": "50"}, False)


# Races: somebody else acts right after any one call of ours


@contextmanager
def interrupted(calls: CallInterceptor, by: Callable[[], Any], *, after: int) -> Iterator[None]:
    """`by` is done once our so-manieth call took effect, before we hear of it."""
    left = after

    def on_call(_call: Call) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            calls.on_aws_call = None
            with suppress(BudgetExceededError):
                by()

    calls.on_aws_call = on_call
    with suppress(BudgetExceededError):
        yield
    assert left == 0, "there was nothing to interrupt"


in_a_days_first_reservation = pytest.mark.parametrize("after", range(1, 10))
in_a_limits_setting = pytest.mark.parametrize("after", range(1, 12))
in_a_first_limits_setting = pytest.mark.parametrize("after", range(1, 14))


@in_a_days_first_reservation
def test_two_may_begin_a_day_at_once(
    dynamo: DynamoBudgets, calls: CallInterceptor, after: int
) -> None:
    with interrupted(calls, lambda: dynamo.reserve("llm", "b", 600, now=NOW), after=after):
        dynamo.reserve("llm", "a", 600, now=NOW)
    today = dynamo.get_today("llm", now=NOW)
    assert (today.reserved, today.calls, today.limit) == (600, 1, CAP)
    assert_the_sum_is_right()


@in_a_days_first_reservation
@pytest.mark.parametrize("now", [NOW, NOW + DAY], ids=["today", "past midnight"])
def test_a_limit_set_while_a_day_begins_holds(
    dynamo: DynamoBudgets, calls: CallInterceptor, after: int, now: datetime
) -> None:
    with interrupted(calls, lambda: dynamo.set_limit("llm", 5, now=NOW), after=after):
        dynamo.reserve("llm", "a", 3, now=now)
    found = a_budget(day=now.date(), limit=5, reservations={"a": 3}, calls=1)
    assert dynamo.get_today("llm", now=now) == found
    assert_the_sum_is_right(now.date())


@in_a_first_limits_setting
@pytest.mark.parametrize("now", [NOW, NOW + DAY], ids=["today", "past midnight"])
def test_a_day_begun_while_its_limit_is_set_has_the_new_limit(
    dynamo: DynamoBudgets, calls: CallInterceptor, after: int, now: datetime
) -> None:
    with interrupted(calls, lambda: dynamo.reserve("llm", "a", 3, now=now), after=after):
        dynamo.set_limit("llm", 5, now=NOW)
    found = a_budget(day=now.date(), limit=5, reservations={"a": 3}, calls=1)
    assert dynamo.get_today("llm", now=now) == found
    assert_the_sum_is_right(now.date())


@in_a_limits_setting
def test_of_two_limits_set_at_once_one_holds_for_all_days(
    dynamo: DynamoBudgets, calls: CallInterceptor, after: int
) -> None:
    dynamo.reserve("llm", "a", 3, now=NOW)
    with interrupted(calls, lambda: dynamo.set_limit("llm", 7, now=NOW), after=after):
        dynamo.set_limit("llm", 5, now=NOW)
    limits = {dynamo.get_today("llm", now=NOW + days * DAY).limit for days in range(3)}
    assert limits == {7}
    assert_the_sum_is_right()


@pytest.mark.parametrize("after", range(1, 11))
def test_an_older_limit_never_comes_back_over_a_newer_one(
    dynamo: DynamoBudgets, calls: CallInterceptor, faults: Faults, after: int
) -> None:
    """Whoever set the older one dies before looking again."""
    dynamo.set_limit("llm", 5, now=NOW)

    def rivals() -> None:
        dynamo.set_limit("llm", 9, now=NOW)
        dynamo.set_limit("llm", 5, now=NOW)
        faults.add(Fault("dynamodb.GetItem", function="me", kind="crash"))

    with (
        attribute_calls_to("me"),
        pytest.raises(SimulatedCrash),
        interrupted(calls, rivals, after=after),
    ):
        dynamo.set_limit("llm", 7, now=NOW)
    limits = {dynamo.get_today("llm", now=NOW + days * DAY).limit for days in range(3)}
    assert limits == {5}
    assert_the_sum_is_right()


@pytest.mark.parametrize("after", [4, 5])  # before that, whoever sets the limit begins the day
@pytest.mark.parametrize("now", [NOW, NOW + DAY], ids=["today", "past midnight"])
def test_a_limit_set_while_a_day_begins_holds_even_if_its_beginner_dies(
    dynamo: DynamoBudgets, calls: CallInterceptor, faults: Faults, after: int, now: datetime
) -> None:
    def rival() -> None:
        dynamo.set_limit("llm", 5, now=NOW)
        faults.add(Fault("dynamodb.PutItem", function="me", when="after", kind="crash"))

    with (
        attribute_calls_to("me"),
        pytest.raises(SimulatedCrash),
        interrupted(calls, rival, after=after),
    ):
        dynamo.reserve("llm", "a", 3, now=now)
    assert dynamo.get_today("llm", now=now).limit == 5


def test_a_limit_set_just_before_midnight_holds_for_a_day_begun_meanwhile(
    dynamo: DynamoBudgets,
) -> None:
    dynamo.reserve("llm", "a", 3, now=NOW + DAY)
    dynamo.set_limit("llm", 5, now=JUST_BEFORE_MIDNIGHT)
    assert dynamo.get_today("llm", now=NOW + DAY).limit == 5
    assert_the_sum_is_right(TODAY + DAY)


@pytest.mark.parametrize("after", [1, 2])
def test_of_two_who_settle_one_call_one_does(
    dynamo: DynamoBudgets, calls: CallInterceptor, after: int
) -> None:
    dynamo.reserve("llm", "a", 300, now=NOW)
    with interrupted(calls, lambda: dynamo.settle("llm", "a", 120, now=NOW), after=after):
        dynamo.settle("llm", "a", 120, now=NOW)
    assert dynamo.get_today("llm", now=NOW) == a_budget(spent=120, calls=1)
    assert_the_sum_is_right()


def test_money_that_comes_free_while_a_call_is_refused_is_used(
    dynamo: DynamoBudgets, calls: CallInterceptor
) -> None:
    dynamo.reserve("llm", "a", CAP, now=NOW)
    with interrupted(calls, lambda: dynamo.settle("llm", "a", 1, now=NOW), after=1):
        dynamo.reserve("llm", "b", 500, now=NOW)
    assert dynamo.get_today("llm", now=NOW) == a_budget(spent=1, reservations={"b": 500}, calls=2)


# Answers that were lost, and workers that died


def a_call(budgets: Budgets) -> None:
    """All the moves there are; done again, they are known as done."""
    budgets.set_limit("llm", 500, now=NOW)
    budgets.reserve("llm", "a", 300, now=NOW + 2 * DAY)
    budgets.set_limit("llm", 600, now=NOW + 2 * DAY)
    budgets.settle("llm", "a", 120, now=NOW + 2 * DAY)


any_write = pytest.mark.parametrize(
    ("write", "nth"),
    [("PutItem", n) for n in range(1, 5)] + [("UpdateItem", n) for n in range(1, 11)],
)


@any_write
def test_an_answer_that_is_lost_moves_nothing_twice(
    dynamo: DynamoBudgets, faults: Faults, calls: CallInterceptor, write: str, nth: int
) -> None:
    lost = Fault(f"dynamodb.{write}", function="me", when="after", kind="timeout", nth=nth)
    faults.add(lost)
    with attribute_calls_to("me"):
        a_call(dynamo)
    day = TODAY + 2 * DAY
    assert calls.counts["me", f"dynamodb.{write}"] >= nth + 1, "it was never sent again"
    assert dynamo.get_today("llm", now=NOW + 2 * DAY) == a_budget(
        day=day, limit=600, spent=120, calls=1
    )
    assert_the_sum_is_right(day)


@any_write
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_worker_that_dies_at_any_write_leaves_nothing_half_done(
    dynamo: DynamoBudgets,
    faults: Faults,
    calls: CallInterceptor,  # noqa: ARG001 - installed
    write: str,
    nth: int,
    when: str,
) -> None:
    faults.add(Fault(f"dynamodb.{write}", function="me", when=when, kind="crash", nth=nth))
    with attribute_calls_to("me"), pytest.raises(SimulatedCrash):
        a_call(dynamo)
    before = dynamo.get_today("llm", now=NOW + 2 * DAY)
    a_call(dynamo)
    after = dynamo.get_today("llm", now=NOW + 2 * DAY)
    # Only a call that was settled already is a second call when all is done again.
    assert (after.limit, after.reserved) == (600, 0)
    assert (after.spent, after.calls) == (120 + before.spent, 1 + (before.spent > 0))
    assert_the_sum_is_right(after.day)


@pytest.mark.usefixtures("calls")
def test_what_a_dead_worker_held_stays_held_for_its_day(
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
def test_a_store_that_never_answers_raises_what_went_wrong(
    dynamo: DynamoBudgets, faults: Faults
) -> None:
    faults.add(Fault("dynamodb.UpdateItem", function="me", kind="timeout", times=100))
    with attribute_calls_to("me"), pytest.raises(UpdateError, match="Read timeout"):
        dynamo.reserve("llm", "a", 1, now=NOW)


# Many at once


@pytest.fixture
def one_at_a_time(
    calls: CallInterceptor,  # noqa: ARG001 - installed below the lock
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DynamoDB makes each update in one step; moto does so only if it gets one at a time."""
    endpoint_class: Any = Endpoint
    lock, real = threading.Lock(), endpoint_class._do_get_response

    def passed(*args: Any) -> Any:
        with lock:
            return real(*args)

    monkeypatch.setattr(endpoint_class, "_do_get_response", passed)


def in_parallel(work: Callable[[int], bool], count: int) -> int:
    """How many of them worked, eight at a time."""

    def one(n: int) -> bool:
        with attribute_calls_to("me"):
            return work(n)

    with ThreadPoolExecutor(8) as pool:
        return sum(pool.map(one, range(count)))


@pytest.mark.usefixtures("one_at_a_time")
def test_500_at_once_use_the_day_up_and_never_pass_it() -> None:
    budgets = DynamoBudgets(default_limit=3_333_333, retention=DAY)

    def call(n: int) -> bool:
        with suppress(BudgetExceededError):
            budgets.reserve("llm", str(n), 33_000, now=NOW)
            if n % 10:  # of ten workers one dies
                budgets.settle("llm", str(n), 33_000, now=NOW)
            return True
        return False

    assert in_parallel(call, 500) == 101
    today = budgets.get_today("llm", now=NOW)
    assert (today.spent + today.reserved, today.calls) == (3_333_000, 101)
    assert today.remaining == 333
    assert_the_sum_is_right()


@pytest.mark.usefixtures("one_at_a_time")
@pytest.mark.parametrize("seed", range(2))
def test_calls_at_once_with_lost_answers_cost_what_they_cost(
    dynamo: DynamoBudgets, faults: Faults, seed: int
) -> None:
    """Each costs less than was held for it; now and then an answer is lost."""
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

    made = in_parallel(call, 100)
    today = dynamo.get_today("llm", now=NOW)
    assert (today.spent, today.reservations, today.calls) == (sum(actual), {}, made)
    assert highest <= CAP
    assert today.remaining < 8 * 50, "refused though there was room"
    assert_the_sum_is_right()


@pytest.mark.usefixtures("one_at_a_time")
def test_limits_set_while_many_reserve_leave_the_sum_right(dynamo: DynamoBudgets) -> None:
    def either(n: int) -> bool:
        with suppress(BudgetExceededError):
            if n % 10:
                dynamo.reserve("llm", str(n), 20, now=NOW)
                return True
            dynamo.set_limit("llm", CAP + n, now=NOW)
        return False

    made = in_parallel(either, 80)
    today = dynamo.get_today("llm", now=NOW)
    assert (today.reserved, today.calls) == (20 * made, made)
    assert dynamo.get_today("llm", now=NOW + 9 * DAY).limit == today.limit
    assert today.remaining >= 0
    assert_the_sum_is_right()


# The store does what the rule says


@pytest.mark.parametrize("seed", range(5))
def test_any_walk_ends_where_the_rule_says(budgets: Budgets, seed: int) -> None:
    rng = Random(seed)  # noqa: S311 - no secret
    rule = a_budget()
    for _ in range(60):
        id, money = rng.choice("abcdef"), rng.randint(0, 400)
        match rng.choice(["reserve", "reserve", "settle", "settle", "limit"]):
            case "reserve":
                refused = refusal_of(budgets.reserve, "llm", id, money, now=NOW)
                assert refused == refusal_of(rule.reserve, id, money)
                rule = rule if refused else rule.reserve(id, money)
            case "settle":
                budgets.settle("llm", id, money, now=NOW)
                rule = rule.settle(id, money)
            case "limit":
                budgets.set_limit("llm", 3 * money, now=NOW)
                rule = replace(rule, limit=3 * money)
        assert budgets.get_today("llm", now=NOW) == rule


def refusal_of(move: Callable[..., Any], *args: Any, **named: Any) -> str | None:
    try:
        move(*args, **named)
    except BudgetExceededError as refused:
        return str(refused)
    return None
