"""What operators are alerted to, and when they are told of it."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
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

LIMITS = AlertThresholds(error_rate_percent=10, late_after=MINUTE, cooldown=HOUR)
MIDNIGHT = NOW + 12 * HOUR
OPEN = CircuitBreaker(
    state=CircuitState.OPEN,
    failures=12,
    opened_at=NOW - 9 * MINUTE,
    state_changed_at=NOW,
    state_until=NOW + MINUTE,
)
LETTER = DeadLetter(id="m-1", queue=Queue.WORK, body="?", sent_at=NOW - DAY)


def a_budget(used: float, limit: float = 5, **fields: Any) -> Budget:
    money = {"limit": round(limit * MICROS_PER_DOLLAR), "spent": round(used * MICROS_PER_DOLLAR)}
    return Budget(**{"name": "daily", "day": NOW.date(), **money, **fields})


def raised(**signals: Any) -> list[Alert]:
    return find_alerts(Signals(now=NOW, **signals), LIMITS)


def names(**signals: Any) -> list[str]:
    return [alert.name for alert in raised(**signals)]


def the_only(**signals: Any) -> Alert:
    [alert] = raised(**signals)
    return alert


# The rules


def test_where_all_is_well_nobody_is_alerted() -> None:
    assert raised() == []


@pytest.mark.parametrize(
    ("failed", "succeeded", "is_raised"),
    [
        (0, 1000, False),
        (10, 90, False),  # ten percent are allowed
        (11, 90, True),
        (101, 899, True),
        (3, 17, True),
        (3, 16, False),  # too few to say so
        (19, 0, False),
        (20, 0, True),
    ],
)
def test_more_errors_than_allowed_among_enough_runs_raise_an_alert(
    failed: int, succeeded: int, is_raised: bool
) -> None:
    found = names(last_hour=HourCounts(failed=failed, succeeded=succeeded))
    assert found == (["error_rate"] if is_raised else [])


@pytest.mark.parametrize(
    ("late", "succeeded", "is_raised"),
    [(0, 100, False), (1, 100, False), (2, 100, True), (1, 20, True), (19, 19, False)],
)
def test_more_than_one_late_run_of_a_hundred_raises_an_alert(
    late: int, succeeded: int, is_raised: bool
) -> None:
    found = names(last_hour=HourCounts(succeeded=succeeded, late=late))
    assert found == (["lateness"] if is_raised else [])


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
def test_a_budget_raises_the_highest_level_that_it_has_reached(
    used: float, name: str | None
) -> None:
    assert names(budgets=[a_budget(used)]) == ([name] if name else [])


def test_what_was_told_of_a_budget_under_another_limit_does_not_silence_it() -> None:
    before, raised_limit, lowered = (
        the_only(budgets=[a_budget(used, limit=limit)]) for used, limit in ((5, 5), (5, 8), (5, 5))
    )
    assert (before.name, raised_limit.name) == ("budget:daily:100", "budget:daily:50")
    assert before.topic == lowered.topic != raised_limit.topic


def test_what_is_held_is_used() -> None:
    held = a_budget(1, reservations={"a": 1 * MICROS_PER_DOLLAR, "b": MICROS_PER_DOLLAR // 2})
    assert names(budgets=[held]) == ["budget:daily:50"]


@pytest.mark.parametrize(("used", "found"), [(0, []), (1, ["budget:daily:100"])])
def test_a_limit_of_nothing_is_reached_once_something_was_spent(
    used: float, found: list[str]
) -> None:
    assert names(budgets=[a_budget(used, limit=0)]) == found


def test_each_budget_is_told_of_by_itself() -> None:
    found = names(budgets=[a_budget(3, name="a"), a_budget(1, name="b"), a_budget(5, name="c")])
    assert found == ["budget:a:50", "budget:c:100"]


@pytest.mark.parametrize(
    ("changes", "is_raised"),
    [
        ({}, True),
        ({"state": CircuitState.HALF_OPEN, "probe_task_id": "task-1"}, True),
        ({"state": CircuitState.RETURNING, "window_limit": 2}, False),
        ({"state": CircuitState.CLOSED}, False),
        ({"state_until": NOW - 9 * MINUTE}, True),
        ({"state_until": NOW - 10 * MINUTE}, False),  # nobody asked again: nobody waits for it
    ],
)
def test_a_breaker_that_holds_up_work_raises_an_alert(
    changes: dict[str, Any], is_raised: bool
) -> None:
    found = names(breakers={"openai": replace(OPEN, **changes), "other": CircuitBreaker()})
    assert found == (["breaker:openai"] if is_raised else [])


def test_every_provider_has_its_own_alert() -> None:
    assert names(breakers={"b": OPEN, "a": OPEN}) == ["breaker:a", "breaker:b"]


def test_a_dead_letter_raises_an_alert() -> None:
    assert names(dead_letters=[LETTER]) == ["dead_letters"]


def test_what_is_measured_is_also_a_number() -> None:
    budgets = [a_budget(1), a_budget(4, name="b")]
    found = Signals(now=NOW, budgets=budgets, breakers={"a": OPEN, "b": CircuitBreaker()})
    assert (found.max_budget_used_percent, list(found.open_breakers)) == (80.0, ["a"])
    assert Signals(now=NOW).max_budget_used_percent == 0.0


# What is said


def test_an_alert_of_errors_says_how_many_and_where_to_look() -> None:
    alert = the_only(last_hour=HourCounts(failed=25, succeeded=175))
    assert alert.text == (
        "Alert: 12.5% of runs failed in the last hour (25 of 200). The limit is 10%. "
        "Details: dashboard page Failures, or `duecourse stats`"
    )


def test_an_alert_of_lateness_says_how_late_and_where_to_look() -> None:
    alert = the_only(last_hour=HourCounts(succeeded=50, late=1))
    assert alert.text.startswith(
        "Alert: 2% of runs in the last hour ended more than 60 seconds late (1 of 50). "
    )
    assert "page Lateness" in alert.text


def test_an_alert_of_a_budget_says_until_when_and_how_to_raise_it() -> None:
    assert the_only(budgets=[a_budget(4.2)]).text == (
        "Alert: budget daily is at 84% today (4.2 of 5 dollars). Tasks that exceed the limit "
        "wait until Wednesday 18 Feb 2026, 00:00 (UTC). "
        'Raise it: PUT /budgets/daily {"limit": <dollars>}'
    )


def test_an_alert_of_a_breaker_says_since_when_and_what_follows() -> None:
    text = the_only(breakers={"openai": OPEN}).text
    assert text.startswith(
        "Alert: provider openai is down since Tuesday 17 Feb 2026, 11:51 (UTC), with 12 failures. "
        "Its tasks wait and are retried automatically from Tuesday 17 Feb 2026, 12:01 (UTC)"
    )


def test_a_provider_of_any_name_is_told_in_one_line() -> None:
    assert "provider a b is down" in the_only(breakers={"a\n\u202eb\x00": OPEN}).text


@pytest.mark.parametrize(
    ("count", "begins"),
    [(1, "1 message"), (2, "2 messages"), (50, "50 or more messages")],
)
def test_an_alert_of_dead_letters_says_how_many_and_what_to_do(count: int, begins: str) -> None:
    assert the_only(dead_letters=[LETTER] * count).text == (
        f"Alert: {begins} could not be processed. The oldest was sent on "
        "Monday 16 Feb 2026, 12:00 (UTC). Inspect and redrive: dashboard page "
        "Dead letters, or GET /dead-letters and POST /dead-letters/redrive"
    )


@pytest.mark.parametrize(
    ("count", "begins"),
    [
        (1, "1 stored item: task a."),
        (2, "2 stored items: task a, state b."),
        (4, "4 stored items: task a, state b, task c, …."),
    ],
)
def test_an_alert_of_what_cannot_be_read_names_some_of_it(count: int, begins: str) -> None:
    note = UnreadableNote(count, ["task a", "state b", "task c", "task d"][:count])
    alert = the_only(unreadable=note)
    assert alert.name == "unreadable_items"
    assert alert.text.startswith(f"Alert: this version of Duecourse cannot read {begins} They are")


# When it is told


ALERT = Alert(rule=AlertRule.ERROR_RATE, text="!", cooldown_until=NOW + HOUR)
AT_80 = Alert(rule=AlertRule.BUDGET, subject="daily", level=80, text="!", cooldown_until=MIDNIGHT)
AT_100 = replace(AT_80, level=100)


def told(alert: Alert, *, at: datetime = NOW) -> AlertCooldown:
    return begin_send(alert, None, now=at).mark_sent(alert)


@pytest.mark.parametrize(
    ("after", "is_silent"), [(0 * MINUTE, True), (HOUR - MILLISECOND, True), (HOUR, False)]
)
def test_what_was_told_is_silent_until_its_cooldown_is_over(
    after: timedelta, is_silent: bool
) -> None:
    assert told(ALERT).suppresses(ALERT, now=NOW + after) is is_silent


def test_budgets_are_silent_until_they_are_whole_again() -> None:
    assert told(AT_80).suppresses(AT_80, now=MIDNIGHT - MILLISECOND)
    assert not told(AT_80).suppresses(AT_80, now=MIDNIGHT)


def test_a_higher_level_is_told_at_once_and_a_lower_one_not_after_it() -> None:
    assert not told(AT_80).suppresses(AT_100, now=NOW)
    assert told(AT_100).suppresses(AT_80, now=NOW + HOUR)


def test_what_somebody_is_telling_is_theirs_while_their_lease_lasts() -> None:
    telling = begin_send(AT_80, None, now=NOW)
    for alert in (AT_80, AT_100):
        assert telling.suppresses(alert, now=NOW + SEND_LEASE - MILLISECOND)
        assert not telling.suppresses(alert, now=NOW + SEND_LEASE)


def test_whoever_goes_on_for_a_dead_one_tells_the_same() -> None:
    first = begin_send(AT_80, None, now=NOW)
    second = begin_send(AT_80, first, now=NOW + 5 * MINUTE)
    assert (second.started_at, second.version) == (first.started_at, first.version + 1)
    assert second.suppresses(AT_80, now=NOW + 5 * MINUTE)


def test_what_comes_again_after_its_cooldown_is_told_anew() -> None:
    before = told(ALERT)
    again = begin_send(ALERT, before, now=NOW + HOUR)
    assert (again.started_at, again.version) == (NOW + HOUR, before.version + 1)


def test_what_got_worse_since_somebody_died_is_another_telling() -> None:
    first = begin_send(AT_80, None, now=NOW)
    assert begin_send(AT_100, first, now=NOW + 5 * MINUTE).started_at == NOW + 5 * MINUTE
