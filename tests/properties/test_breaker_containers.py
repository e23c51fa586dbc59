"""Many containers count the failures of one provider: how soon it opens, and what that writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from random import Random

from duecourse.domain.limits.breaker_results import ProviderFailure
from duecourse.domain.limits.circuit_breaker import DEFAULT_RULES, CircuitBreaker, CircuitState
from duecourse.domain.limits.circuit_breakers import StaleCircuitBreakerError, StoredBreaker
from duecourse.domain.tasks.event import Event
from duecourse.usecases.limits.circuit_breaker import BreakerDeps, record_down
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.fakes.limits import MemoryBreakers

START = datetime(2026, 2, 17, tzinfo=UTC)
MAX_COPY_AGE = timedelta(seconds=3)
FAILURES_IN_ONE_SECOND = 300
property_settings = settings(deadline=None)


def max_failures_before_open(containers: int) -> int:
    """The documented bound: 10 for one container, and twice their number and 20 for more."""
    return 10 if containers == 1 else 2 * containers + 20


class Simulation:
    """Containers that record failures, and interrupt each other between a read and its write."""

    def __init__(self, containers: int, seed: int) -> None:
        self.random = Random(seed)  # noqa: S311 - not for secrets
        self.now = START
        self.shared = MemoryBreakers()
        self.stores = [Container(self) for _ in range(containers)]
        self.containers = [BreakerDeps(store) for store in self.stores]
        self.idle = list(range(containers))
        self.writes = 0
        self.conflicts: Counter[int] = Counter()
        self.recorded = 0
        self.recorded_until_open = 0

    @property
    def breaker(self) -> CircuitBreaker:
        return self.shared.get("llm").breaker

    def record_failure(self, *, reached_at: datetime | None = None) -> None:
        """Record a failure in one of the containers that are not busy with another."""
        if not self.idle:
            return
        container = self.idle.pop(self.random.randrange(len(self.idle)))
        self.recorded += 1
        number, before = self.recorded, self.breaker.state
        failure = ProviderFailure(self.now, self.now)
        deps = self.containers[container]
        record_down("llm", failure, reached_at=reached_at, breakers=deps, now=self.now)
        self.conflicts[number] += self.stores[container].take_conflicts()
        self.idle.append(container)
        if before is not self.breaker.state and not self.recorded_until_open:
            self.recorded_until_open = self.recorded

    def interrupt(self) -> None:
        """Let others record failures, about as many as one write takes."""
        for _ in range(self.random.choice([0, 0, 1, 3])):
            if self.breaker.state is CircuitState.CLOSED:
                self.record_failure()


class Container:
    """A container's view of the store: a copy up to MAX_COPY_AGE old, and its own conflicts."""

    def __init__(self, simulation: Simulation) -> None:
        self._simulation = simulation
        self._copy: tuple[StoredBreaker, datetime] | None = None
        self._conflicts = 0

    def take_conflicts(self) -> int:
        found, self._conflicts = self._conflicts, 0
        return found

    def get(self, provider: str) -> StoredBreaker:
        stored = self._read(provider)
        self._simulation.interrupt()
        return stored

    def _read(self, provider: str) -> StoredBreaker:
        stored = self._simulation.shared.get(provider)
        self._copy = (stored, self._simulation.now)
        return stored

    def get_cached(self, provider: str) -> StoredBreaker:
        if self._copy is None or self._simulation.now - self._copy[1] >= MAX_COPY_AGE:
            return self._read(provider)
        return self._copy[0]

    get_last_read = get_cached

    def list_all(self) -> Mapping[str, CircuitBreaker]:
        return self._simulation.shared.list_all()

    def make_room(self) -> None:
        raise NotImplementedError

    def save(
        self, provider: str, before: StoredBreaker, after: CircuitBreaker, event: Event | None
    ) -> None:
        try:
            self._simulation.shared.save(provider, before, after, event)
        except StaleCircuitBreakerError:
            self._conflicts += 1
            raise
        self._simulation.writes += 1
        self._read(provider)


@property_settings
@given(st.integers(1, 40), st.integers(0, 2**32))
def test_300_failures_in_one_second_open_the_breaker_with_few_writes(
    containers: int, seed: int
) -> None:
    simulation = Simulation(containers, seed)
    while simulation.recorded < FAILURES_IN_ONE_SECOND:
        simulation.record_failure()
        simulation.now = START + timedelta(seconds=simulation.recorded / FAILURES_IN_ONE_SECOND)

    assert simulation.breaker.state is CircuitState.OPEN
    assert simulation.recorded_until_open <= max_failures_before_open(containers)
    assert simulation.writes <= 5
    assert max(simulation.conflicts.values()) <= 5
    assert sum(simulation.conflicts.values()) <= 5 * containers


@property_settings
@given(st.integers(1, 10), st.integers(0, 2**32), st.integers(100, 60_000))
def test_failures_at_any_rate_open_the_breaker_within_the_bound(
    containers: int, seed: int, pause: int
) -> None:
    simulation = Simulation(containers, seed)
    bound = max_failures_before_open(containers)
    within = DEFAULT_RULES.failure_window // timedelta(milliseconds=pause)
    while simulation.recorded < bound:
        simulation.record_failure()
        simulation.now += timedelta(milliseconds=pause)
    if within > bound:
        assert simulation.breaker.state is CircuitState.OPEN


@property_settings
@given(
    st.integers(1, 10), st.integers(0, 2**32), st.lists(st.booleans(), min_size=30, max_size=200)
)
def test_fewer_than_ten_failures_in_a_row_never_open_the_breaker(
    containers: int, seed: int, results: list[bool]
) -> None:
    """The worker's successes come with its next failure."""
    simulation = Simulation(containers, seed)
    simulation.interrupt = lambda: None  # type: ignore[method-assign]
    reached_at, in_a_row, longest_row = None, 0, 0
    for is_down in results:
        simulation.now += timedelta(milliseconds=10)
        if is_down:
            simulation.record_failure(reached_at=reached_at)
        else:
            reached_at = simulation.now
        in_a_row = in_a_row + 1 if is_down else 0
        longest_row = max(longest_row, in_a_row)
    if longest_row < DEFAULT_RULES.failure_threshold:
        assert simulation.breaker.state is CircuitState.CLOSED
    elif containers == 1:
        assert simulation.breaker.state is CircuitState.OPEN
