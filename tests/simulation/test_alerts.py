"""Operators are told what is wrong, once, and again only while it lasts."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from duecourse.app import stores
from duecourse.domain.dispatch.dead_letter import DeadLetter, Queue
from duecourse.domain.limits.budget import MICROS_PER_DOLLAR
from duecourse.domain.limits.circuit_breaker import CircuitBreaker, CircuitState

from local.runtime import aws_clients
from tests.support.stack_client import StackClient, running_stack

STARTS_AT = "2026-02-17T12:01:00Z"
DONE = {"reply": "ok\nACTION_OUTCOME: success"}
BROKEN = {"error": {"message": "AssertionError: expected 1, got 2", "type": "AssertionError"}}
DOWN = {"error": {"message": "connect ECONNREFUSED 127.0.0.1:9", "code": "ECONNREFUSED"}}
Alert = tuple[str, str]  # at which time of the day, and how it begins


@pytest.fixture
def client() -> Iterator[StackClient]:
    """Between two ticks: what a test does first is not in a race with the first of them."""
    with running_stack(STARTS_AT) as running:
        yield running


def alerts(client: StackClient) -> list[Alert]:
    """What operators were told, but for what concerns single tasks."""
    found = [one for one in client.outbox("operators") if one["text"].startswith("Alert: ")]
    return [(one["at"][11:16], one["text"].removeprefix("Alert: ")) for one in found]


def times(client: StackClient, begins: str) -> list[str]:
    return [at for at, text in alerts(client) if text.startswith(begins)]


def act(client: StackClient, count: int, *script: dict[str, Any], **fields: Any) -> None:
    payload = {"provider": "scripted", "script": script}
    for _ in range(count):
        client.create(type="action", payload=payload, **{"in": "1m", **fields})


def measured(client: StackClient, name: str) -> float:
    return client.stack.functions.metrics[name][-1]


# Errors


def many_errors(client: StackClient) -> None:
    """Six of thirty, and nothing is tried again."""
    for _ in range(24):
        client.create(**{"in": "1m"})
    act(client, 6, BROKEN, policy="omega", max_retries=1)


def test_many_errors_are_told_once_and_again_while_they_last(client: StackClient) -> None:
    many_errors(client)
    client.advance("5m")
    [(at, text)] = alerts(client)
    assert (at, text[:49]) == ("12:05", "20% of the runs failed in the last hour, 6 of 30:")
    assert measured(client, "ErrorRatePercent") == 20
    client.advance("58m")
    assert times(client, "") == ["12:05"]
    client.advance("2m")
    assert times(client, "20% of the runs failed") == ["12:05", "13:05"]
    client.advance("2d")
    assert len(alerts(client)) == 2


def test_few_errors_among_many_runs_are_told_nobody(client: StackClient) -> None:
    act(client, 18, DONE)
    act(client, 2, BROKEN, DONE)
    client.advance("2h")
    assert alerts(client) == []


def test_errors_that_cost_nothing_are_no_errors_of_the_hour(client: StackClient) -> None:
    """To wait for the budget is not to fail."""
    assert client.call("PUT", "/budgets/daily", {"limit": 0}).status == 200
    payload = {"provider": "scripted", "script": [DONE], "budget": "daily"}
    for _ in range(25):
        client.create(type="action", payload=payload, **{"in": "1m"})
    client.advance("1h")
    assert alerts(client) == []


# Lateness


def late_runs(client: StackClient) -> None:
    """Nothing is dispatched for minutes: the sweeper finds them overdue."""
    client.add_fault(function="scanner", call="dynamodb.Query", kind="crash", times=1000)
    for _ in range(25):
        client.create(**{"in": "8m"})
    client.advance("15m")


def test_late_runs_are_told_once_and_again_while_they_last(client: StackClient) -> None:
    late_runs(client)
    client.advance("5m")
    [(at, text)] = alerts(client)
    assert at == "12:20"  # at a quarter past the sweeper found them
    assert text.startswith("100% of the runs in the last hour ended more than 60 seconds late, ")
    assert measured(client, "LateRunsPercent") == 100
    client.advance("50m")
    assert len(alerts(client)) == 1
    for _ in range(25):
        client.create(**{"in": "8m"})
    client.advance("30m")
    assert len(alerts(client)) == 2


def test_runs_in_time_are_told_nobody(client: StackClient) -> None:
    for _ in range(25):
        client.create(**{"in": "8m"})
    client.advance("2h")
    assert len(client.outbox("ada")) == 25
    assert alerts(client) == []


# Budgets


def spend(client: StackClient, dollars: float, call: str) -> None:
    now = client.stack.clock.now()
    stores.budgets().reserve("daily", call, round(dollars * MICROS_PER_DOLLAR), now=now)
    stores.budgets().settle("daily", call, round(dollars * MICROS_PER_DOLLAR), now=now)


def test_a_budget_is_told_of_at_each_level_once_a_day(client: StackClient) -> None:
    """Five dollars a day, unless it is said otherwise."""
    for cents, call in ((249, "a"), (1, "b"), (100, "c"), (50, "d"), (100, "e")):
        spend(client, cents / 100, call)
        client.advance("10m")
    assert [(at, text[:30]) for at, text in alerts(client)] == [
        ("12:15", "budget daily is used to 50% to"),
        ("12:35", "budget daily is used to 80% to"),
        ("12:45", "budget daily is used to 100% t"),
    ]
    client.advance("11h")
    assert len(alerts(client)) == 3
    assert measured(client, "BudgetUsedPercent") == 100


def test_of_two_levels_passed_at_once_the_higher_one_is_told(client: StackClient) -> None:
    spend(client, 4.5, "a")
    client.advance("1h")
    assert [text[:26] for _, text in alerts(client)] == ["budget daily is used to 90"]


def test_a_new_day_is_told_of_anew(client: StackClient) -> None:
    spend(client, 3, "a")
    client.advance("1h")
    client.advance("1d")
    spend(client, 3, "b")
    client.advance("1h")
    assert len(times(client, "budget daily is used to 60%")) == 2


def test_after_a_limit_is_raised_each_level_of_the_new_one_is_told_once(
    client: StackClient,
) -> None:
    put_limit(client, 10)
    spend(client, 10, "a")
    client.advance("10m")
    put_limit(client, 100)
    for dollars, call in ((45, "b"), (30, "c"), (15, "d")):
        client.advance("10m")
        spend(client, dollars, call)
    client.advance("1h")
    assert [text[:28] for _, text in alerts(client)] == [
        f"budget daily is used to {level}" for level in ("100%", "55% ", "85% ", "100%")
    ]


def test_a_limit_that_is_set_to_and_fro_is_told_of_once_each(client: StackClient) -> None:
    spend(client, 5, "a")
    client.advance("10m")
    for limit in (8, 5, 8, 5, 8):
        put_limit(client, limit)
        client.advance("10m")
    used = [text[24:28] for _, text in alerts(client)]
    assert used == ["100%", "62.5"]


def put_limit(client: StackClient, dollars: float) -> None:
    assert client.call("PUT", "/budgets/daily", {"limit": dollars}).status == 200


# Breakers


def test_a_provider_that_is_down_is_told(client: StackClient) -> None:
    act(client, 10, DOWN)
    client.advance("5m")
    [(at, text)] = [one for one in alerts(client) if one[1].startswith("provider")]
    down = "provider scripted is down since Tuesday 17 Feb 2026, 12:02 (UTC), with "
    assert (at, text[: len(down)]) == ("12:05", down)
    assert measured(client, "BreakersOpen") == 1


def test_a_provider_is_told_of_again_while_it_is_down(client: StackClient) -> None:
    a_breaker(client, open_for=timedelta(hours=2))
    client.advance("63m")
    assert times(client, "provider scripted is down") == ["12:05"]
    client.advance("2m")
    assert times(client, "provider scripted is down") == ["12:05", "13:05"]


def a_breaker(client: StackClient, *, open_for: timedelta) -> None:
    now = client.stack.clock.now()
    one = CircuitBreaker(
        state=CircuitState.OPEN,
        failures=10,
        opened_at=now,
        state_changed_at=now,
        state_until=now + open_for,
    )
    before = stores.breakers().load()
    stores.breakers().save(before, before.with_breaker("scripted", one), None)


def test_a_provider_that_nobody_asks_any_more_is_told_of_no_more(client: StackClient) -> None:
    """Its breaker stays as it was: who asks next would try it."""
    a_breaker(client, open_for=timedelta(minutes=15))
    client.advance("7d")
    assert times(client, "provider scripted is down") == ["12:05"]
    assert client.items("/breakers")[0]["state"] == "open"


# Dead letters


def a_dead_letter(client: StackClient) -> None:
    sqs = aws_clients.client("sqs")
    url = sqs.get_queue_url(QueueName="WorkDeadLetterQueue")["QueueUrl"]
    client.stack.scheduler.call(lambda: sqs.send_message(QueueUrl=url, MessageBody="?"))
    client.stack.scheduler.wait_until_idle()


def test_a_dead_letter_is_told_once_and_again_while_it_is_kept(client: StackClient) -> None:
    a_dead_letter(client)
    client.advance("63m")
    told = "1 message is kept that nobody could process, the oldest of Tuesday 17 Feb 2026, 12:01"
    assert times(client, told) == ["12:05"]
    client.advance("4m")
    assert times(client, told) == ["12:05", "13:05"]
    assert measured(client, "DeadLettersStored") == 1


def test_dead_letters_that_went_are_told_no_more(client: StackClient) -> None:
    a_dead_letter(client)
    client.advance("10m")
    [letter] = client.items("/dead-letters")
    client.stack.scheduler.call(_drop_all)
    client.advance("3h")
    assert (letter["reason"], times(client, "1 message")) == ("it cannot be read", ["12:05"])


def test_a_dead_letter_about_to_age_out_is_told_no_more(client: StackClient) -> None:
    sent_at = client.stack.clock.now() - stores.settings().retention + timedelta(minutes=90)
    letter = DeadLetter(id="m-1", queue=Queue.WORK, body="?", sent_at=sent_at)
    stores.dead_letters().save(letter)
    client.advance("1d")
    assert times(client, "1 message") == ["12:05", "13:05"]


def _drop_all() -> None:
    for letter in list(stores.dead_letters().list_letters()):
        stores.dead_letters().drop(letter)


# Crashes, and two at once


@pytest.mark.parametrize(
    ("call", "when", "nth", "told"),
    [
        ("dynamodb.PutItem", "before", 1, ["12:10"]),
        ("dynamodb.PutItem", "after", 1, ["12:10"]),
        ("sqs.SendMessage", "before", 1, ["12:10"]),
        ("sqs.SendMessage", "after", 1, ["12:05", "12:10"]),
        ("dynamodb.PutItem", "before", 2, ["12:05", "12:10"]),
        ("dynamodb.PutItem", "after", 2, ["12:05"]),
    ],
)
def test_whatever_dies_an_alert_is_told(
    client: StackClient, call: str, when: str, nth: int, told: list[str]
) -> None:
    a_dead_letter(client)
    client.add_fault(function="alerts", call=call, when=when, nth=nth, kind="crash")
    client.advance("1h")
    assert times(client, "1 message") == told


def test_a_tick_that_comes_twice_tells_once(client: StackClient) -> None:
    a_dead_letter(client)
    replies = [client.stack.invoke("alerts", {}) for _ in range(2)]
    assert [reply["sent"] for reply in replies] == [["dead_letters"], []]
    assert len(alerts(client)) == 1


# Ticks that are passed over while the clock jumps


def all_at_once(client: StackClient) -> None:
    spend(client, 3, "a")
    a_dead_letter(client)
    a_breaker(client, open_for=timedelta(minutes=90))
    late_runs(client)


@pytest.mark.fault_may_miss
@pytest.mark.parametrize("scenario", [many_errors, all_at_once])
def test_what_is_told_does_not_depend_on_ticks_that_find_nothing(
    scenario: Callable[[StackClient], None],
) -> None:
    """A fault that waits for a function has all its ticks played."""
    told, ticks = [], []
    for is_watched in (True, False):
        with running_stack(STARTS_AT) as client:
            if is_watched:
                client.add_fault(function="alerts", call="sqs.DeleteMessage")
            scenario(client)
            client.advance("4h")
            told.append(alerts(client))
            ticks.append(len(client.stack.functions.metrics["ErrorRatePercent"]))
    assert told[0] == told[1]
    assert len(told[0]) >= 2
    assert ticks[0] > ticks[1]


def test_a_year_without_trouble_has_no_ticks(client: StackClient) -> None:
    many_errors(client)
    spend(client, 5, "a")
    client.advance("1d")
    before = len(client.stack.functions.metrics["ErrorRatePercent"])
    client.advance("365d")
    assert len(client.stack.functions.metrics["ErrorRatePercent"]) == before
