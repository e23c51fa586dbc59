"""What is going on at this moment, out of all that there is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.limits.circuit_breaker import CircuitBreaker, CircuitState
from duecourse.domain.limits.circuit_breakers import CircuitBreakers
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.usecases.journal.overview import MAX_LISTED, Overview, read_overview

from tests.support.builders.moments import HOUR, MINUTE, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import a_task, claim_task
from tests.support.fakes.limits import MemoryBreakers, MemoryBudgets
from tests.support.fakes.tasks import MemoryStore


def numbered(number: int, **fields: Any) -> Task:
    return a_task(id=f"{number:08x}-0000-4000-8000-000000000000", **fields)


def to_verify(
    number: int, *, hours_ago: int = 1, reason: WaitReason = WaitReason.VERIFICATION
) -> Task:
    run = a_run(started_at=NOW - hours_ago * HOUR)
    verdict = {"status": Status.PENDING_VERIFICATION, "wait": Wait(reason), "run": run}
    return numbered(number, due_at=NOW + 9 * HOUR, **verdict)


def blocked(number: int, *, hours_ago: int) -> Task:
    return numbered(number, status=Status.BLOCKED, blocked_at=NOW - hours_ago * HOUR)


def a_retry(number: int, *, due_at: datetime) -> Task:
    return numbered(number, due_at=due_at, next_retry_at=due_at)


def told(
    *tasks: Task, breakers: MemoryBreakers | None = None, budgets: MemoryBudgets | None = None
) -> Overview:
    return read_overview(
        store=MemoryStore(*tasks),
        breakers=breakers or MemoryBreakers(),
        budgets=budgets or MemoryBudgets(),
        now=NOW,
    )


def test_of_an_empty_system_there_is_nothing_to_tell() -> None:
    assert told() == Overview(
        at=NOW, due_soon=[], running=[], retries=[], needs_person=[], breakers=[], budgets=[]
    )


def test_each_task_is_where_one_looks_for_it() -> None:
    later, sooner = numbered(1, due_at=NOW + HOUR), numbered(2, due_at=NOW + MINUTE)
    running, waiting = claim_task(numbered(3)), to_verify(4)
    retry = a_retry(5, due_at=NOW + 2 * HOUR)
    over = [numbered(6, status=Status.DELIVERED), user_actions.pause(numbered(7))]
    found = told(later, sooner, running, waiting, retry, *over)

    assert found.due_soon == [sooner, later]
    assert found.running == [running]
    assert found.retries == [retry]
    assert found.needs_person == [waiting]


def test_whoever_has_waited_longest_for_a_person_comes_first() -> None:
    tasks = [blocked(1, hours_ago=3), to_verify(2, hours_ago=2), blocked(3, hours_ago=1)]
    assert told(*reversed(tasks)).needs_person == tasks


def test_what_a_provider_verifies_needs_no_person() -> None:
    assert told(to_verify(1, reason=WaitReason.VERIFIER)).needs_person == []


def test_every_list_is_short_enough_to_look_at() -> None:
    kinds = (
        lambda n: numbered(n, due_at=NOW + n * MINUTE),
        lambda n: claim_task(numbered(n, due_at=NOW - n * MINUTE)),
        lambda n: a_retry(n, due_at=NOW + HOUR),
        lambda n: blocked(n, hours_ago=n),
        lambda n: to_verify(n, hours_ago=n),
    )
    for name, kind in zip(("due_soon", "running", "retries"), kinds, strict=False):
        assert len(getattr(told(*map(kind, range(1, 200))), name)) == MAX_LISTED, name
    both = [*map(kinds[3], range(1, 100)), *map(kinds[4], range(100, 200))]
    assert len(told(*both).needs_person) == MAX_LISTED


def test_what_runs_does_not_hide_what_is_due() -> None:
    running = [claim_task(numbered(n, due_at=NOW - n * MINUTE)) for n in range(1, MAX_LISTED + 1)]
    due = [numbered(n, due_at=NOW + n * MINUTE) for n in range(100, 100 + MAX_LISTED)]
    found = told(*running, *due)
    assert (len(found.running), found.due_soon) == (MAX_LISTED, due)


@pytest.mark.parametrize("retries", [MAX_LISTED, 2 * MAX_LISTED, 4 * MAX_LISTED])
def test_retries_that_come_first_do_not_hide_what_is_due(retries: int) -> None:
    first = [a_retry(n, due_at=NOW + n * MINUTE) for n in range(retries)]
    due = [numbered(1_000 + n, due_at=NOW + 9 * HOUR + n * MINUTE) for n in range(MAX_LISTED)]
    assert told(*first, *due).due_soon == due


def test_how_far_it_looks_has_an_end() -> None:
    store = MemoryStore(*(a_retry(n, due_at=NOW + n * MINUTE) for n in range(1_000)))
    looks: list[int] = []
    soonest = store.list_soonest

    def counted(limit: int) -> Sequence[Task]:
        looks.append(limit)
        return soonest(limit)

    store.list_soonest = counted  # type: ignore[method-assign]
    read_overview(store=store, breakers=MemoryBreakers(), budgets=MemoryBudgets(), now=NOW)
    assert looks == [100, 500]


def test_a_breaker_is_told_as_it_stands_now() -> None:
    panel = MemoryBreakers()
    returning = CircuitBreaker(
        state=CircuitState.RETURNING,
        window_limit=2,
        state_changed_at=NOW - HOUR,
        state_until=NOW - MINUTE,
    )
    panel.breakers = CircuitBreakers({"openai": CircuitBreaker(), "anthropic": returning})
    [(first, breaker), (second, _)] = told(breakers=panel).breakers
    assert (first, second) == ("anthropic", "openai")
    assert breaker.window_limit > returning.window_limit


def test_budgets_are_those_of_today() -> None:
    budgets = MemoryBudgets()
    budgets.reserve("daily", "r1", 5, now=NOW)
    budgets.reserve("old", "r1", 5, now=NOW - 24 * HOUR)
    assert [budget.name for budget in told(budgets=budgets).budgets] == ["daily"]
