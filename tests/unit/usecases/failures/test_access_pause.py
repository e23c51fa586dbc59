"""One person is asked for a refused key: not one for each task or crash, and never nobody."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from duecourse.domain.failures.failure import Failure
from duecourse.domain.limits.circuit_breaker import CircuitBreaker, CircuitState
from duecourse.domain.limits.circuit_breakers import StoredBreaker
from duecourse.domain.tasks.run import ProviderCall
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import WaitReason
from duecourse.usecases.failures.record_failure import record_failure
from duecourse.usecases.limits.circuit_breaker import BreakerDeps, admit

from tests.support.breakers import fail, succeed
from tests.support.builders.failures import a_failure_report
from tests.support.builders.moments import MINUTE, NOW
from tests.support.builders.tasks import an_action, claim_task
from tests.support.failure_deps import failure_deps
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.limits import MemoryBreakers
from tests.support.fakes.tasks import MemoryStore

REFUSED = Failure.create("invalid x-api-key", type="authentication_error", status=401)
DOWN = Failure.create("connect ECONNREFUSED", code="ECONNREFUSED")
SECOND = timedelta(seconds=1)


class CrashError(BaseException):
    """The function was killed."""


class OutdatedBreakers(MemoryBreakers):
    """A container whose copies are as old as its start."""

    def __init__(self, exact: MemoryBreakers) -> None:
        super().__init__()
        self.stored = exact.stored

    def get_cached(self, provider: str) -> StoredBreaker:  # noqa: ARG002 - all are closed
        return StoredBreaker()


@dataclass
class World:
    """Tasks `t0`, `t1`, … that all run since NOW, and one provider."""

    store: MemoryStore
    breakers: MemoryBreakers

    def fail(self, n: int, failure: Failure = REFUSED, **how: Any) -> Task:
        at: datetime = how.pop("at", NOW + SECOND)
        task = self.store.get(f"t{n}")
        report = a_failure_report(task, failure, at=at)
        report = replace(report, call=ProviderCall(provider="llm"))
        deps = {"breakers": BreakerDeps(self.breakers), "clock": ManualClock(at)}
        record_failure(report, failure_deps(self.store, **{**deps, **how}))
        return self.store.get(task.id)

    @property
    def breaker(self) -> CircuitBreaker:
        return self.breakers.get("llm").breaker


def a_world(tasks: int = 3) -> World:
    actions = [an_action(id=f"t{n}", payload={"provider": "llm"}) for n in range(tasks)]
    running = [claim_task(action, f"run of {action.id}") for action in actions]
    return World(MemoryStore(*running), MemoryBreakers())


def is_asking(task: Task) -> bool:
    return task.status is Status.BLOCKED


def is_waiting(task: Task) -> bool:
    is_uncounted = (task.status, task.retry_count) == (Status.PENDING, 0)
    return is_uncounted and task.wait is not None and task.wait.reason is WaitReason.CIRCUIT_BREAKER


def test_containers_that_do_not_know_of_each_other_ask_one_person() -> None:
    world = a_world()
    assert is_asking(world.fail(0))
    other = BreakerDeps(OutdatedBreakers(world.breakers))
    assert is_waiting(world.fail(1, breakers=other))


def crash(*_: object, **__: object) -> None:
    raise CrashError


@pytest.mark.parametrize(
    ("crashes_in", "is_stored"),
    [
        ("tests.support.fakes.tasks.MemoryStore.save", False),
        ("duecourse.usecases.failures.record_failure.enqueue_if_due_soon", True),
    ],
)
def test_a_crash_leaves_the_question_with_its_task(
    monkeypatch: pytest.MonkeyPatch, crashes_in: str, is_stored: bool
) -> None:
    world = a_world()
    with monkeypatch.context() as patch, suppress(CrashError):
        patch.setattr(crashes_in, crash)
        world.fail(0)
    assert is_asking(world.store.get("t0")) is is_stored
    assert is_waiting(world.fail(1))
    assert is_asking(world.fail(0))  # the report is delivered again


def test_a_provider_that_is_down_meanwhile_still_refuses_the_key() -> None:
    world = a_world()
    assert is_asking(world.fail(0))
    later = NOW + 2 * MINUTE
    probe = BreakerDeps(world.breakers)
    admit("llm", "t1", breakers=probe, now=later)
    fail(probe, now=later)
    assert (world.breaker.state, world.breaker.is_key_refused) == (CircuitState.OPEN, True)
    assert is_waiting(world.fail(1, at=later + SECOND))


def test_a_key_refused_by_a_provider_that_is_known_to_be_down_asks_one_person() -> None:
    world = a_world()
    fail(BreakerDeps(world.breakers), times=10, now=NOW + SECOND)
    assert (world.breaker.state, world.breaker.is_key_refused) == (CircuitState.OPEN, False)
    asked = [is_asking(world.fail(n, at=NOW + 2 * SECOND)) for n in range(3)]
    assert asked == [True, False, False]


def test_a_task_that_used_the_old_key_after_the_new_one_was_accepted_tries_again() -> None:
    world = a_world()
    world.fail(0)
    later, breakers = NOW + 2 * MINUTE, BreakerDeps(world.breakers)
    admit("llm", "t1", breakers=breakers, now=later)
    succeed(breakers, now=later)
    assert world.breaker.state is CircuitState.CLOSED
    task = world.fail(2, at=later + SECOND)  # it started with the old key
    assert is_waiting(task)
    assert task.due_at <= later + SECOND + MINUTE
    assert world.breaker.state is CircuitState.CLOSED
