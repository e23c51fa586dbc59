"""The alert rules, their messages and their cooldown."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.access.scope import Scope
from duecourse.domain.access.tokens import ApiToken
from duecourse.domain.alerts.cooldown import SEND_LEASE, AlertCooldown, begin_send
from duecourse.domain.alerts.rules import (
    Alert,
    AlertRule,
    AlertThresholds,
    Signals,
    UnreadableNote,
    find_alerts,
)
from duecourse.domain.dispatch.dead_letter import DeadLetter, Queue
from duecourse.domain.journal.rolling_hour import HourCounts
from duecourse.domain.limits.budget import MICROS_PER_DOLLAR, Budget
from duecourse.domain.limits.circuit_breaker import CircuitBreaker, CircuitState

from tests.support.builders.moments import DAY, HOUR, MILLISECOND, MINUTE, NOW

THRESHOLDS = AlertThresholds(error_rate_percent=10, late_after=MINUTE, cooldown=HOUR)
MIDNIGHT = NOW + 12 * HOUR
OPEN_BREAKER = CircuitBreaker(
    state=CircuitState.OPEN,
    failures=12,
    opened_at=NOW - 9 * MINUTE,
    state_changed_at=NOW,
    state_until=NOW + MINUTE,
)
DEAD_LETTER = DeadLetter(id="m-1", queue=Queue.WORK, body="?", sent_at=NOW - DAY)


def a_budget(used: float, limit: float = 5, **fields: Any) -> Budget:
    money = {"limit": round(limit * MICROS_PER_DOLLAR), "spent": round(used * MICROS_PER_DOLLAR)}
    return Budget(**{"name": "daily", "day": NOW.date(), **money, **fields})


def alerts_for(**signals: Any) -> list[Alert]:
    return find_alerts(Signals(now=NOW, **signals), THRESHOLDS)


def alert_names(**signals: Any) -> list[str]:
    return [alert.name for alert in alerts_for(**signals)]


def only_alert(**signals: Any) -> Alert:
    [alert] = alerts_for(**signals)
    return alert


# The rules


def test_no_signals_raise_no_alert() -> None:
    assert alerts_for() == []


@pytest.mark.parametrize(
    ("failed", "succeeded", "is_raised"),
    [
        (0, 1000, False),
        (10, 90, False),  # ten percent are allowed
        (11, 90, True),
        (101, 899, True),
        (3, 17, True),
        (3, 16, False),  # too few runs
        (19, 0, False),
        (20, 0, True),
    ],
)
def test_an_error_rate_above_the_threshold_raises_an_alert(
    failed: int, succeeded: int, is_raised: bool
) -> None:
    names = alert_names(last_hour=HourCounts(failed=failed, succeeded=succeeded))
    assert names == (["error_rate"] if is_raised else [])


@pytest.mark.parametrize(
    ("late", "succeeded", "is_raised"),
    [(0, 100, False), (1, 100, False), (2, 100, True), (1, 20, True), (19, 19, False)],
)
def test_more_than_one_percent_of_late_runs_raises_an_alert(
    late: int, succeeded: int, is_raised: bool
) -> None:
    names = alert_names(last_hour=HourCounts(succeeded=succeeded, late=late))
    assert names == (["lateness"] if is_raised else [])


@pytest.mark.parametrize(
    ("used", "name"),
    [
        (0, None),
        (2.499999, None),
        (2.5, "budget:daily:50"),
        (3.99, "budget:daily:50"),
        (4, "budget:daily:80"),
        (4.999999, "budget:daily:80"),
        (5, "budget:daily:100"),
        (9, "budget:daily:100"),
    ],
)
def test_a_budget_raises_the_highest_level_it_reached(used: float, name: str | None) -> None:
    assert alert_names(budgets=[a_budget(used)]) == ([name] if name else [])


def test_an_alert_under_another_budget_limit_has_another_topic() -> None:
    before, raised_limit, lowered = (
        only_alert(budgets=[a_budget(used, limit=limit)])
        for used, limit in ((5, 5), (5, 8), (5, 5))
    )
    assert (before.name, raised_limit.name) == ("budget:daily:100", "budget:daily:50")
    assert before.topic == lowered.topic != raised_limit.topic


def test_reservations_count_as_used() -> None:
    with_reservations = a_budget(
        1, reservations={"a": 1 * MICROS_PER_DOLLAR, "b": MICROS_PER_DOLLAR // 2}
    )
    assert alert_names(budgets=[with_reservations]) == ["budget:daily:50"]


@pytest.mark.parametrize(("used", "expected"), [(0, []), (1, ["budget:daily:100"])])
def test_a_limit_of_zero_is_reached_by_any_spending(used: float, expected: list[str]) -> None:
    assert alert_names(budgets=[a_budget(used, limit=0)]) == expected


def test_each_budget_has_its_own_alert() -> None:
    names = alert_names(
        budgets=[a_budget(3, name="a"), a_budget(1, name="b"), a_budget(5, name="c")]
    )
    assert names == ["budget:a:50", "budget:c:100"]


@pytest.mark.parametrize(
    ("changes", "is_raised"),
    [
        ({}, True),
        ({"state": CircuitState.HALF_OPEN, "probe_task_id": "task-1"}, True),
        ({"state": CircuitState.RETURNING, "window_limit": 2}, False),
        ({"state": CircuitState.CLOSED}, False),
        ({"state_until": NOW - 9 * MINUTE}, True),
        ({"state_until": NOW - 10 * MINUTE}, False),  # no task waits for it any more
    ],
)
def test_a_breaker_that_delays_work_raises_an_alert(
    changes: dict[str, Any], is_raised: bool
) -> None:
    names = alert_names(
        breakers={"openai": replace(OPEN_BREAKER, **changes), "other": CircuitBreaker()}
    )
    assert names == (["breaker:openai"] if is_raised else [])


def test_every_provider_has_its_own_alert() -> None:
    assert alert_names(breakers={"b": OPEN_BREAKER, "a": OPEN_BREAKER}) == [
        "breaker:a",
        "breaker:b",
    ]


def test_a_dead_letter_raises_an_alert() -> None:
    assert alert_names(dead_letters=[DEAD_LETTER]) == ["dead_letters"]


def test_signals_have_metric_values() -> None:
    budgets = [a_budget(1), a_budget(4, name="b")]
    signals = Signals(now=NOW, budgets=budgets, breakers={"a": OPEN_BREAKER, "b": CircuitBreaker()})
    assert (signals.max_budget_used_percent, list(signals.open_breakers)) == (80.0, ["a"])
    assert Signals(now=NOW).max_budget_used_percent == 0.0


# Messages


def test_an_error_rate_alert_states_the_count_and_where_to_look() -> None:
    alert = only_alert(last_hour=HourCounts(failed=25, succeeded=175))
    assert alert.text == (
        "Alert: 12.5% of runs failed in the last hour (25 of 200). The limit is 10%. "
        "Details: dashboard page Failures, or `duecourse stats`"
    )


def test_a_lateness_alert_states_the_delay_and_where_to_look() -> None:
    alert = only_alert(last_hour=HourCounts(succeeded=50, late=1))
    assert alert.text.startswith(
        "Alert: 2% of runs in the last hour ended more than 60 seconds late (1 of 50). "
    )
    assert "page Lateness" in alert.text


def test_a_budget_alert_states_the_reset_time_and_how_to_raise_the_limit() -> None:
    assert only_alert(budgets=[a_budget(4.2)]).text == (
        "Alert: budget daily is at 84% today (4.2 of 5 dollars). Tasks that exceed the limit "
        "wait until Wednesday 18 Feb 2026, 00:00 (UTC). "
        'Raise it: PUT /budgets/daily {"limit": <dollars>}'
    )


def test_a_breaker_alert_states_the_opening_time_and_the_next_attempt() -> None:
    text = only_alert(breakers={"openai": OPEN_BREAKER}).text
    assert text.startswith(
        "Alert: provider openai is down since Tuesday 17 Feb 2026, 11:51 (UTC), with 12 failures. "
        "Its tasks wait and are retried automatically from Tuesday 17 Feb 2026, 12:01 (UTC)"
    )


def test_a_provider_name_is_shown_in_one_line() -> None:
    assert "provider a b is down" in only_alert(breakers={"a\n\u202eb\x00": OPEN_BREAKER}).text


@pytest.mark.parametrize(
    ("count", "beginning"),
    [(1, "1 message"), (2, "2 messages"), (50, "50 or more messages")],
)
def test_a_dead_letter_alert_states_the_count_and_what_to_do(count: int, beginning: str) -> None:
    assert only_alert(dead_letters=[DEAD_LETTER] * count).text == (
        f"Alert: {beginning} could not be processed. The oldest was sent on "
        "Monday 16 Feb 2026, 12:00 (UTC). Inspect and redrive: dashboard page "
        "Dead letters, or GET /dead-letters and POST /dead-letters/redrive"
    )


@pytest.mark.parametrize(
    ("count", "beginning"),
    [
        (1, "1 stored item: task a."),
        (2, "2 stored items: task a, state b."),
        (4, "4 stored items: task a, state b, task c, …."),
    ],
)
def test_an_unreadable_items_alert_names_some_of_them(count: int, beginning: str) -> None:
    note = UnreadableNote(count, ["task a", "state b", "task c", "task d"][:count])
    alert = only_alert(unreadable=note)
    assert alert.name == "unreadable_items"
    assert alert.text.startswith(
        f"Alert: this version of Duecourse cannot read {beginning} They are"
    )


def a_token(left: timedelta | None) -> ApiToken:
    return ApiToken("ci", Scope.WRITE, "0" * 64, NOW + left if left is not None else None)


@pytest.mark.parametrize(
    ("left", "level"),
    [(14 * DAY, 1), (8 * DAY, 1), (7 * DAY, 2), (2 * DAY, 2), (DAY, 3), (MILLISECOND, 3)],
)
def test_a_token_that_expires_soon_is_warned_about_with_growing_urgency(
    left: timedelta, level: int
) -> None:
    alert = only_alert(tokens=[a_token(left)])
    assert (alert.name, alert.level) == (f"token_expiry:ci:{level}", level)
    assert alert.cooldown_until == NOW + left
    assert "0" * 64 not in alert.text


@pytest.mark.parametrize("left", [None, 14 * DAY + MILLISECOND, 365 * DAY, 0 * DAY, -DAY])
def test_a_token_that_lasts_or_has_expired_raises_no_alert(left: timedelta | None) -> None:
    assert alerts_for(tokens=[a_token(left)]) == []


def test_a_token_alert_says_when_and_what_to_do() -> None:
    assert only_alert(tokens=[a_token(13 * DAY)]).text == (
        "Alert: API token ci expires on Monday 2 Mar 2026, 12:00 (UTC). Whoever uses it is refused "
        "from then on. Make another one: duecourse token NAME --scope write --secret ARN. "
        "If nobody uses it, revoke it: duecourse token --revoke ci --secret ARN"
    )


# Cooldown


ALERT = Alert(rule=AlertRule.ERROR_RATE, text="!", cooldown_until=NOW + HOUR)
AT_80 = Alert(rule=AlertRule.BUDGET, subject="daily", level=80, text="!", cooldown_until=MIDNIGHT)
AT_100 = replace(AT_80, level=100)


def sent_cooldown(alert: Alert, *, at: datetime = NOW) -> AlertCooldown:
    return begin_send(alert, None, now=at).mark_sent(alert)


@pytest.mark.parametrize(
    ("after", "is_suppressed"), [(0 * MINUTE, True), (HOUR - MILLISECOND, True), (HOUR, False)]
)
def test_a_sent_alert_is_suppressed_until_its_cooldown_ends(
    after: timedelta, is_suppressed: bool
) -> None:
    assert sent_cooldown(ALERT).suppresses(ALERT, now=NOW + after) is is_suppressed


def test_a_budget_alert_is_suppressed_until_the_budget_resets() -> None:
    assert sent_cooldown(AT_80).suppresses(AT_80, now=MIDNIGHT - MILLISECOND)
    assert not sent_cooldown(AT_80).suppresses(AT_80, now=MIDNIGHT)


def test_a_higher_level_is_sent_at_once_and_then_suppresses_a_lower_one() -> None:
    assert not sent_cooldown(AT_80).suppresses(AT_100, now=NOW)
    assert sent_cooldown(AT_100).suppresses(AT_80, now=NOW + HOUR)


def test_an_alert_being_sent_is_suppressed_while_the_lease_lasts() -> None:
    sending = begin_send(AT_80, None, now=NOW)
    for alert in (AT_80, AT_100):
        assert sending.suppresses(alert, now=NOW + SEND_LEASE - MILLISECOND)
        assert not sending.suppresses(alert, now=NOW + SEND_LEASE)


def test_a_send_after_an_expired_lease_resumes_the_same_alert() -> None:
    first = begin_send(AT_80, None, now=NOW)
    second = begin_send(AT_80, first, now=NOW + 5 * MINUTE)
    assert (second.started_at, second.version) == (first.started_at, first.version + 1)
    assert second.suppresses(AT_80, now=NOW + 5 * MINUTE)


def test_an_alert_after_its_cooldown_starts_a_new_send() -> None:
    before = sent_cooldown(ALERT)
    second = begin_send(ALERT, before, now=NOW + HOUR)
    assert (second.started_at, second.version) == (NOW + HOUR, before.version + 1)


def test_a_higher_level_after_an_expired_lease_starts_a_new_send() -> None:
    first = begin_send(AT_80, None, now=NOW)
    assert begin_send(AT_100, first, now=NOW + 5 * MINUTE).started_at == NOW + 5 * MINUTE
