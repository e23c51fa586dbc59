"""The overview: due, running and retrying tasks, tasks for a person, breakers and budgets."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import pytest
from duecourse.domain.dispatch.lanes import DUE_LANES, Lane
from duecourse.domain.lifecycle import user_actions
from duecourse.domain.limits.circuit_breaker import CircuitBreaker, CircuitState
from duecourse.domain.limits.circuit_breakers import StoredBreaker
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason
from duecourse.usecases.journal.overview import MAX_LISTED, Overview, read_overview

from tests.support.builders.moments import HOUR, MINUTE, NOW
from tests.support.builders.runs import a_run
from tests.support.builders.tasks import a_task, claim_task
from tests.support.fakes.limits import MemoryBreakers, MemoryBudgets
from tests.support.fakes.tasks import MemoryStore


def a_numbered_task(number: int, **fields: Any) -> Task:
    return a_task(id=f"{number:08x}-0000-4000-8000-000000000000", **fields)


def a_task_to_verify(
    number: int, *, hours_ago: int = 1, reason: WaitReason = WaitReason.VERIFICATION
) -> Task:
    run = a_run(started_at=NOW - hours_ago * HOUR)
    verdict = {"status": Status.PENDING_VERIFICATION, "wait": Wait(reason), "run": run}
    return a_numbered_task(number, due_at=NOW + 9 * HOUR, **verdict)


def a_blocked_task(number: int, *, hours_ago: int) -> Task:
    return a_numbered_task(number, status=Status.BLOCKED, blocked_at=NOW - hours_ago * HOUR)


def a_retry(number: int, *, due_at: datetime) -> Task:
    return a_numbered_task(number, due_at=due_at, next_retry_at=due_at)


def overview_of(
    *tasks: Task, breakers: MemoryBreakers | None = None, budgets: MemoryBudgets | None = None
) -> Overview:
    return read_overview(
        store=MemoryStore(*tasks),
        breakers=breakers or MemoryBreakers(),
        budgets=budgets or MemoryBudgets(),
        now=NOW,
    )


def test_an_overview_without_tasks_is_empty() -> None:
    assert overview_of() == Overview(
        at=NOW, due_soon=[], running=[], retries=[], needs_person=[], breakers=[], budgets=[]
    )


def test_each_task_is_in_the_list_of_its_state() -> None:
    later, sooner = a_numbered_task(1, due_at=NOW + HOUR), a_numbered_task(2, due_at=NOW + MINUTE)
    running, waiting = claim_task(a_numbered_task(3)), a_task_to_verify(4)
    retry = a_retry(5, due_at=NOW + 2 * HOUR)
    closed = [a_numbered_task(6, status=Status.DELIVERED), user_actions.pause(a_numbered_task(7))]
    overview = overview_of(later, sooner, running, waiting, retry, *closed)

    assert overview.due_soon == [sooner, later]
    assert overview.running == [running]
    assert overview.retries == [retry]
    assert overview.needs_person == [waiting]


def test_tasks_for_a_person_are_sorted_by_waiting_time() -> None:
    tasks = [
        a_blocked_task(1, hours_ago=3),
        a_task_to_verify(2, hours_ago=2),
        a_blocked_task(3, hours_ago=1),
    ]
    assert overview_of(*reversed(tasks)).needs_person == tasks


def test_a_task_verified_by_a_provider_needs_no_person() -> None:
    assert overview_of(a_task_to_verify(1, reason=WaitReason.VERIFIER)).needs_person == []


def test_every_list_has_a_maximum_length() -> None:
    kinds = (
        lambda n: a_numbered_task(n, due_at=NOW + n * MINUTE),
        lambda n: claim_task(a_numbered_task(n, due_at=NOW - n * MINUTE)),
        lambda n: a_retry(n, due_at=NOW + HOUR),
        lambda n: a_blocked_task(n, hours_ago=n),
        lambda n: a_task_to_verify(n, hours_ago=n),
    )
    for name, kind in zip(("due_soon", "running", "retries"), kinds, strict=False):
        assert len(getattr(overview_of(*map(kind, range(1, 200))), name)) == MAX_LISTED, name
    both = [*map(kinds[3], range(1, 100)), *map(kinds[4], range(100, 200))]
    assert len(overview_of(*both).needs_person) == MAX_LISTED


def test_running_tasks_do_not_displace_due_tasks() -> None:
    running = [
        claim_task(a_numbered_task(n, due_at=NOW - n * MINUTE)) for n in range(1, MAX_LISTED + 1)
    ]
    due = [a_numbered_task(n, due_at=NOW + n * MINUTE) for n in range(100, 100 + MAX_LISTED)]
    overview = overview_of(*running, *due)
    assert (len(overview.running), overview.due_soon) == (MAX_LISTED, due)


@pytest.mark.parametrize("retries", [MAX_LISTED, 2 * MAX_LISTED, 4 * MAX_LISTED])
def test_earlier_retries_do_not_displace_due_tasks(retries: int) -> None:
    first = [a_retry(n, due_at=NOW + n * MINUTE) for n in range(retries)]
    due = [
        a_numbered_task(1_000 + n, due_at=NOW + 9 * HOUR + n * MINUTE) for n in range(MAX_LISTED)
    ]
    assert overview_of(*first, *due).due_soon == due


def test_running_retries_do_not_displace_pending_ones() -> None:
    running = [
        claim_task(a_retry(n, due_at=NOW - n * MINUTE)) for n in range(1, 3 * MAX_LISTED + 1)
    ]
    pending = [a_retry(n, due_at=NOW + n * MINUTE) for n in range(1_000, 1_010)]
    overview = overview_of(*running, *pending)
    assert (len(overview.running), overview.retries) == (MAX_LISTED, pending)


def test_running_tasks_of_all_lanes_are_shown_longest_due_first() -> None:
    first = claim_task(a_numbered_task(1, due_at=NOW - 2 * MINUTE))
    retry = claim_task(a_retry(2, due_at=NOW - 3 * MINUTE))
    assert overview_of(first, retry).running == [retry, first]


@pytest.mark.parametrize(
    ("lane_task", "limits"),
    [
        (a_numbered_task, [100, 100]),
        (lambda n, **at: claim_task(a_numbered_task(n, **at)), [100, 500, 100]),
    ],
    ids=["due", "running"],
)
def test_the_number_of_tasks_read_is_bounded(lane_task: Any, limits: list[int]) -> None:
    store = MemoryStore(*(lane_task(n, due_at=NOW + n * MINUTE) for n in range(1_000)))
    reads: list[int] = []
    list_soonest = store.list_soonest

    def count_reads(limit: int, lanes: Sequence[Lane] = DUE_LANES) -> Sequence[Task]:
        reads.append(limit)
        return list_soonest(limit, lanes)

    store.list_soonest = count_reads  # type: ignore[method-assign]
    read_overview(store=store, breakers=MemoryBreakers(), budgets=MemoryBudgets(), now=NOW)
    assert reads == limits


def test_a_circuit_breaker_is_shown_at_the_current_time() -> None:
    store = MemoryBreakers()
    returning = CircuitBreaker(
        state=CircuitState.RETURNING,
        window_limit=2,
        state_changed_at=NOW - HOUR,
        state_until=NOW - MINUTE,
    )
    store.stored = {
        "openai": StoredBreaker(CircuitBreaker(), 1),
        "anthropic": StoredBreaker(returning, 1),
    }
    [(first, breaker), (second, _)] = overview_of(breakers=store).breakers
    assert (first, second) == ("anthropic", "openai")
    assert breaker.window_limit > returning.window_limit


def test_only_todays_budgets_are_shown() -> None:
    budgets = MemoryBudgets()
    budgets.reserve("daily", "r1", 5, now=NOW)
    budgets.reserve("old", "r1", 5, now=NOW - 24 * HOUR)
    assert [budget.name for budget in overview_of(budgets=budgets).budgets] == ["daily"]
