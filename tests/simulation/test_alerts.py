"""Alerts to operators: sent once, and repeated only while the problem lasts."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from duecourse.app import stores
from duecourse.domain.access.scope import Scope
from duecourse.domain.access.tokens import ApiToken, hash_secret
from duecourse.domain.dispatch.dead_letter import DeadLetter, Queue
from duecourse.domain.limits.budget import MICROS_PER_DOLLAR
from duecourse.domain.limits.circuit_breaker import CircuitBreaker, CircuitState
from duecourse.domain.limits.circuit_breakers import StoredBreaker

from local.runtime import aws_clients
from tests.support.stack_client import StackClient, running_stack

STARTS_AT = "2026-02-17T12:01:00Z"
SUCCESS = {"reply": "ok\nACTION_OUTCOME: success"}
BROKEN = {"error": {"message": "AssertionError: expected 1, got 2", "type": "AssertionError"}}
DOWN = {"error": {"message": "connect ECONNREFUSED 127.0.0.1:9", "code": "ECONNREFUSED"}}
Alert = tuple[str, str]  # time of day, and the text


@pytest.fixture
def client() -> Iterator[StackClient]:
    """Start between two ticks, so that a test's setup does not race with the first one."""
    with running_stack(STARTS_AT) as started:
        yield started


def alerts(client: StackClient) -> list[Alert]:
    """Return the alerts, without notifications about single tasks."""
    sent = [
        message for message in client.outbox("operators") if message["text"].startswith("Alert: ")
    ]
    return [(message["at"][11:16], message["text"].removeprefix("Alert: ")) for message in sent]


def alert_times(client: StackClient, prefix: str) -> list[str]:
    return [at for at, text in alerts(client) if text.startswith(prefix)]


def create_actions(client: StackClient, count: int, *script: dict[str, Any], **fields: Any) -> None:
    payload = {"provider": "scripted", "script": script}
    for _ in range(count):
        client.create(type="action", payload=payload, **{"in": "1m", **fields})


def last_metric(client: StackClient, name: str) -> float:
    return client.stack.functions.metrics[name][-1]


# Tokens


def put_tokens(*tokens: ApiToken) -> None:
    text = json.dumps({"tokens": [token.to_json() for token in tokens]})
    secret_id = stores.settings().api_tokens_secret
    aws_clients.client("secretsmanager").put_secret_value(SecretId=secret_id, SecretString=text)


def test_operators_are_warned_three_times_before_a_token_expires(client: StackClient) -> None:
    expires_at = stores.clock().now() + timedelta(days=16)
    local = ApiToken("local", Scope.ADMIN, hash_secret("local"))
    client.stack.scheduler.call(
        lambda: put_tokens(local, ApiToken("ci", Scope.READ, hash_secret("ci"), expires_at))
    )
    warned_on: list[int] = []
    for day in range(20):
        client.create(**{"in": "1m"})  # a stack where something happens
        client.advance("1d")
        texts = [text for _, text in alerts(client)]
        if len(texts) > len(warned_on):
            warned_on.append(day + 1)
    assert warned_on == [3, 10, 16], "during the days that begin 14, 7 and 1 days before"
    assert all(text.startswith("API token ci expires on Thursday 5 Mar 2026") for text in texts)
    assert hash_secret("ci") not in str(client.outbox("operators"))


# Errors


def fail_a_fifth(client: StackClient) -> None:
    """Fail six of thirty runs without retries."""
    for _ in range(24):
        client.create(**{"in": "1m"})
    create_actions(client, 6, BROKEN, policy="omega", max_retries=1)


def test_a_high_error_rate_is_alerted_once_and_again_while_it_lasts(client: StackClient) -> None:
    fail_a_fifth(client)
    client.advance("5m")
    [(at, text)] = alerts(client)
    assert (at, text[:49]) == ("12:05", "20% of runs failed in the last hour (6 of 30). Th")
    assert last_metric(client, "ErrorRatePercent") == 20
    client.advance("58m")
    assert alert_times(client, "") == ["12:05"]
    client.advance("2m")
    assert alert_times(client, "20% of runs failed") == ["12:05", "13:05"]
    client.advance("2d")
    assert len(alerts(client)) == 2


def test_a_low_error_rate_is_not_alerted(client: StackClient) -> None:
    create_actions(client, 18, SUCCESS)
    create_actions(client, 2, BROKEN, SUCCESS)
    client.advance("2h")
    assert alerts(client) == []


def test_runs_deferred_for_a_budget_do_not_count_as_errors(client: StackClient) -> None:
    """Waiting for the budget is not a failure."""
    assert client.call("PUT", "/budgets/daily", {"limit": 0}).status == 200
    payload = {"provider": "scripted", "script": [SUCCESS], "budget": "daily"}
    for _ in range(25):
        client.create(type="action", payload=payload, **{"in": "1m"})
    client.advance("1h")
    assert alerts(client) == []


# Lateness


def run_late(client: StackClient) -> None:
    """Stop the scanner for minutes, so that the sweeper finds overdue tasks."""
    client.add_fault(function="scanner", call="dynamodb.Query", kind="crash", times=1000)
    for _ in range(25):
        client.create(**{"in": "8m"})
    client.advance("15m")


def test_late_runs_are_alerted_once_and_again_while_they_last(client: StackClient) -> None:
    run_late(client)
    client.advance("5m")
    [(at, text)] = alerts(client)
    assert at == "12:20"  # the sweep of 12:15 found them
    assert text.startswith("100% of runs in the last hour ended more than 60 seconds late (")
    assert last_metric(client, "LateRunsPercent") == 100
    client.advance("50m")
    assert len(alerts(client)) == 1
    for _ in range(25):
        client.create(**{"in": "8m"})
    client.advance("30m")
    assert len(alerts(client)) == 2


def test_runs_on_time_are_not_alerted(client: StackClient) -> None:
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


def test_a_budget_is_alerted_at_each_level_once_a_day(client: StackClient) -> None:
    """The default limit is five dollars a day."""
    for cents, call in ((249, "a"), (1, "b"), (100, "c"), (50, "d"), (100, "e")):
        spend(client, cents / 100, call)
        client.advance("10m")
    assert [(at, text[:25]) for at, text in alerts(client)] == [
        ("12:15", "budget daily is at 50% to"),
        ("12:35", "budget daily is at 80% to"),
        ("12:45", "budget daily is at 100% t"),
    ]
    client.advance("11h")
    assert len(alerts(client)) == 3
    assert last_metric(client, "BudgetUsedPercent") == 100


def test_of_two_budget_levels_passed_at_once_the_higher_is_alerted(client: StackClient) -> None:
    spend(client, 4.5, "a")
    client.advance("1h")
    assert [text[:21] for _, text in alerts(client)] == ["budget daily is at 90"]


def test_a_budget_is_alerted_again_on_a_new_day(client: StackClient) -> None:
    spend(client, 3, "a")
    client.advance("1h")
    client.advance("1d")
    spend(client, 3, "b")
    client.advance("1h")
    assert len(alert_times(client, "budget daily is at 60%")) == 2


def test_each_level_of_a_raised_limit_is_alerted_once(
    client: StackClient,
) -> None:
    set_limit(client, 10)
    spend(client, 10, "a")
    client.advance("10m")
    set_limit(client, 100)
    for dollars, call in ((45, "b"), (30, "c"), (15, "d")):
        client.advance("10m")
        spend(client, dollars, call)
    client.advance("1h")
    assert [text[:23] for _, text in alerts(client)] == [
        f"budget daily is at {level}" for level in ("100%", "55% ", "85% ", "100%")
    ]


def test_a_limit_that_alternates_is_alerted_once_per_value(client: StackClient) -> None:
    spend(client, 5, "a")
    client.advance("10m")
    for limit in (8, 5, 8, 5, 8):
        set_limit(client, limit)
        client.advance("10m")
    used = [text[19:23] for _, text in alerts(client)]
    assert used == ["100%", "62.5"]


def set_limit(client: StackClient, dollars: float) -> None:
    assert client.call("PUT", "/budgets/daily", {"limit": dollars}).status == 200


# Breakers


def test_an_open_circuit_breaker_is_alerted(client: StackClient) -> None:
    create_actions(client, 10, DOWN)
    client.advance("5m")
    [(at, text)] = [alert for alert in alerts(client) if alert[1].startswith("provider")]
    expected = "provider scripted is down since Tuesday 17 Feb 2026, 12:02 (UTC), with "
    assert (at, text[: len(expected)]) == ("12:05", expected)
    assert last_metric(client, "BreakersOpen") == 1


def test_an_open_circuit_breaker_is_alerted_again_while_it_is_open(client: StackClient) -> None:
    open_breaker(client, open_for=timedelta(hours=2))
    client.advance("63m")
    assert alert_times(client, "provider scripted is down") == ["12:05"]
    client.advance("2m")
    assert alert_times(client, "provider scripted is down") == ["12:05", "13:05"]


def open_breaker(client: StackClient, *, open_for: timedelta) -> None:
    now = client.stack.clock.now()
    breaker = CircuitBreaker(
        state=CircuitState.OPEN,
        failures=10,
        opened_at=now,
        state_changed_at=now,
        state_until=now + open_for,
    )
    stores.breakers().save("scripted", StoredBreaker(), breaker, None)


def test_an_expired_open_circuit_breaker_is_not_alerted_again(client: StackClient) -> None:
    """Its breaker stays open until the next call probes it."""
    open_breaker(client, open_for=timedelta(minutes=15))
    client.advance("7d")
    assert alert_times(client, "provider scripted is down") == ["12:05"]
    assert client.items("/breakers")[0]["state"] == "open"


# Dead letters


def send_dead_letter(client: StackClient) -> None:
    sqs = aws_clients.client("sqs")
    url = sqs.get_queue_url(QueueName="WorkDeadLetterQueue")["QueueUrl"]
    client.stack.scheduler.call(lambda: sqs.send_message(QueueUrl=url, MessageBody="?"))
    client.stack.scheduler.wait_until_idle()


def test_a_dead_letter_is_alerted_once_and_again_while_it_is_stored(client: StackClient) -> None:
    send_dead_letter(client)
    client.advance("63m")
    expected = "1 message could not be processed. The oldest was sent on Tuesday 17 Feb 2026, 12:01"
    assert alert_times(client, expected) == ["12:05"]
    client.advance("4m")
    assert alert_times(client, expected) == ["12:05", "13:05"]
    assert last_metric(client, "DeadLettersStored") == 1


def test_dropped_dead_letters_are_not_alerted_again(client: StackClient) -> None:
    send_dead_letter(client)
    client.advance("10m")
    [letter] = client.items("/dead-letters")
    client.stack.scheduler.call(_drop_all_letters)
    client.advance("3h")
    assert (letter["reason"], alert_times(client, "1 message")) == (
        "the message cannot be parsed",
        ["12:05"],
    )


def test_an_expired_dead_letter_is_not_alerted_again(client: StackClient) -> None:
    sent_at = client.stack.clock.now() - stores.settings().retention + timedelta(minutes=90)
    letter = DeadLetter(id="m-1", queue=Queue.WORK, body="?", sent_at=sent_at)
    stores.dead_letters().save(letter)
    client.advance("1d")
    assert alert_times(client, "1 message") == ["12:05", "13:05"]


def _drop_all_letters() -> None:
    for letter in list(stores.dead_letters().list_letters()):
        stores.dead_letters().drop(letter)


# Crashes and duplicates


@pytest.mark.parametrize(
    ("call", "when", "nth", "expected_times"),
    [
        ("dynamodb.PutItem", "before", 1, ["12:10"]),
        ("dynamodb.PutItem", "after", 1, ["12:10"]),
        ("sqs.SendMessage", "before", 1, ["12:10"]),
        ("sqs.SendMessage", "after", 1, ["12:05", "12:10"]),
        ("dynamodb.PutItem", "before", 2, ["12:05", "12:10"]),
        ("dynamodb.PutItem", "after", 2, ["12:05"]),
    ],
)
def test_an_alert_survives_a_crash_of_the_alerts_function(
    client: StackClient, call: str, when: str, nth: int, expected_times: list[str]
) -> None:
    send_dead_letter(client)
    client.add_fault(function="alerts", call=call, when=when, nth=nth, kind="crash")
    client.advance("1h")
    assert alert_times(client, "1 message") == expected_times


def test_a_duplicate_tick_alerts_once(client: StackClient) -> None:
    send_dead_letter(client)
    replies = [client.stack.invoke("alerts", {}) for _ in range(2)]
    assert [reply["sent"] for reply in replies] == [["dead_letters"], []]
    assert len(alerts(client)) == 1


# Ticks that the local stack skips while the clock advances


def trigger_several_alerts(client: StackClient) -> None:
    spend(client, 3, "a")
    send_dead_letter(client)
    open_breaker(client, open_for=timedelta(minutes=90))
    run_late(client)


@pytest.mark.fault_may_miss
@pytest.mark.parametrize("scenario", [fail_a_fifth, trigger_several_alerts])
def test_skipped_ticks_do_not_change_the_alerts(
    scenario: Callable[[StackClient], None],
) -> None:
    """A pending fault for a function makes the stack run all of its ticks."""
    sent_alerts, ticks = [], []
    for has_pending_fault in (True, False):
        with running_stack(STARTS_AT) as client:
            if has_pending_fault:
                client.add_fault(function="alerts", call="sqs.DeleteMessage")
            scenario(client)
            client.advance("4h")
            sent_alerts.append(alerts(client))
            ticks.append(len(client.stack.functions.metrics["ErrorRatePercent"]))
    assert sent_alerts[0] == sent_alerts[1]
    assert len(sent_alerts[0]) >= 2
    assert ticks[0] > ticks[1]


def test_a_year_without_problems_runs_no_ticks(client: StackClient) -> None:
    fail_a_fifth(client)
    spend(client, 5, "a")
    client.advance("1d")
    before = len(client.stack.functions.metrics["ErrorRatePercent"])
    client.advance("365d")
    assert len(client.stack.functions.metrics["ErrorRatePercent"]) == before
