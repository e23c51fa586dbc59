"""Invariants of the circuit breaker, for any sequence of calls and results."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from duecourse.domain.limits.breaker_results import record_failure, record_success
from duecourse.domain.limits.circuit_breaker import (
    DEFAULT_RULES,
    Admission,
    Admitted,
    CircuitBreaker,
    CircuitState,
    Rejected,
    breaker_at,
    decide_admission,
)
from hypothesis import given, settings
from hypothesis import strategies as st

START = datetime(2026, 2, 17, tzinfo=UTC)
SECOND = timedelta(seconds=1)
# Covers the longest open time, a probe's lease and all steps of the return.
LONGEST_RECOVERY = (
    DEFAULT_RULES.max_open_time + DEFAULT_RULES.probe_lease + 10 * DEFAULT_RULES.window
)
property_settings = settings(deadline=None)

pauses = st.sampled_from([0, 0, 1, 100, 1_000, 10_000, 30_000, 59_999, 60_000, 120_000, 900_000])
admissions = st.tuples(st.just("ask"), st.integers(0, 9))
results = st.tuples(st.sampled_from(["fail", "fail", "succeed"]), st.integers(0, 9))
call_sequences = st.lists(st.tuples(pauses, admissions | results), max_size=120)


@dataclass
class BreakerSimulation:
    """Tasks request admission, run and end; each admission is recorded."""

    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)
    now: datetime = START
    runs: list[datetime] = field(default_factory=list)
    outages: int = 0
    returns: list[datetime] = field(default_factory=list)
    probes: list[tuple[int, datetime, str]] = field(default_factory=list)
    returned: Counter[tuple[datetime, int]] = field(default_factory=Counter)

    def run_all(self, call_sequence: list[tuple[int, tuple[str, int]]]) -> BreakerSimulation:
        for pause, (kind, n) in call_sequence:
            self.now += timedelta(milliseconds=pause)
            if kind == "ask":
                self.request_admission(f"task-{n}")
            else:
                self.end_run(n, is_down=kind == "fail")
        return self

    def request_admission(self, task_id: str) -> Admission:
        self.breaker, decision = decide_admission(self.breaker, task_id, now=self.now)
        if isinstance(decision, Admitted):
            self.runs.append(self.now)
            self._record_admission(task_id)
        return decision

    def _record_admission(self, task_id: str) -> None:
        if self.breaker.state is CircuitState.HALF_OPEN:
            self.probes.append((self.outages, self.now, task_id))
        if self.breaker.state is CircuitState.RETURNING:
            started_at = self.returns[-1]
            self.returned[started_at, (self.now - started_at) // DEFAULT_RULES.window] += 1

    def end_run(self, n: int, *, is_down: bool) -> None:
        """End an admitted run; without any, nothing happens."""
        if not self.runs:
            return
        run_started_at = self.runs.pop(n % len(self.runs))
        before = self.breaker.state
        record_result = record_failure if is_down else record_success
        self.breaker = record_result(self.breaker, started_at=run_started_at, now=self.now)
        self.outages += self.breaker.state is CircuitState.OPEN and before is not CircuitState.OPEN
        if self.breaker.state is CircuitState.RETURNING and before is CircuitState.HALF_OPEN:
            self.returns.append(self.now)


def simulate_after_outage(call_sequence: list[tuple[int, tuple[str, int]]]) -> BreakerSimulation:
    """Run the sequence on a breaker that has already opened once."""
    simulation = BreakerSimulation()
    for _ in range(10):
        simulation.request_admission("first")
        simulation.end_run(0, is_down=True)
    assert simulation.breaker.state is CircuitState.OPEN
    return simulation.run_all(call_sequence)


@property_settings
@given(call_sequences)
def test_a_half_open_breaker_admits_one_probe_per_lease(
    call_sequence: list[tuple[int, tuple[str, int]]],
) -> None:
    probes = simulate_after_outage(call_sequence).probes
    leases: dict[int, tuple[datetime, str]] = {}
    for outage, at, task_id in probes:
        since, owner = leases.get(outage, (at - DEFAULT_RULES.probe_lease, ""))
        if task_id == owner and at - since < DEFAULT_RULES.probe_lease:
            continue
        assert at - since >= DEFAULT_RULES.probe_lease
        leases[outage] = (at, task_id)


@property_settings
@given(call_sequences)
def test_a_returning_breaker_never_exceeds_its_admission_rate(
    call_sequence: list[tuple[int, tuple[str, int]]],
) -> None:
    returned = simulate_after_outage(call_sequence).returned
    assert all(count <= 2 * 2**window for (_, window), count in returned.items())


@property_settings
@given(st.integers(0, 59_999), st.lists(st.integers(0, 600), max_size=300))
def test_the_admission_rate_doubles_each_window(offset: int, moments: list[int]) -> None:
    simulation = simulate_after_outage([])
    simulation.now += DEFAULT_RULES.initial_open_time
    simulation.request_admission("probe")
    simulation.now += timedelta(milliseconds=offset)
    simulation.end_run(0, is_down=False)
    started_at = simulation.now
    for n, second in enumerate(sorted(moments)):
        simulation.now = started_at + second * SECOND
        simulation.request_admission(f"task-{n}")
    requested = Counter(second // 60 for second in moments)
    expected = {w: min(count, 2 * 2**w) for w, count in requested.items() if w < 6}
    assert {window: count for (_, window), count in simulation.returned.items()} == expected


@property_settings
@given(call_sequences, st.integers(1, 60))
def test_a_breaker_closes_once_every_call_succeeds(
    call_sequence: list[tuple[int, tuple[str, int]]], every: int
) -> None:
    simulation = simulate_after_outage(call_sequence)
    end = simulation.now + LONGEST_RECOVERY
    while simulation.now < end:
        simulation.request_admission(f"late-{simulation.now}")
        while simulation.runs:
            simulation.end_run(0, is_down=False)
        simulation.now += every * SECOND
    assert simulation.breaker.state is CircuitState.CLOSED


@property_settings
@given(st.lists(st.booleans(), max_size=40))
def test_a_breaker_opens_at_the_tenth_consecutive_failure(failures: list[bool]) -> None:
    breaker, consecutive_failures = CircuitBreaker(), 0
    for n, is_down in enumerate(failures):
        at = START + n * SECOND
        record_result = record_failure if is_down else record_success
        breaker = record_result(breaker, started_at=at, now=at)
        consecutive_failures = consecutive_failures + 1 if is_down else 0
        assert (breaker.state is CircuitState.OPEN) is (consecutive_failures == 10)
        if consecutive_failures == 10:
            return


@property_settings
@given(call_sequences, st.integers(1, 3_600_000), st.booleans())
def test_a_run_started_before_the_breaker_opened_changes_nothing(
    call_sequence: list[tuple[int, tuple[str, int]]], earlier: int, is_down: bool
) -> None:
    simulation = simulate_after_outage(call_sequence)
    breaker = breaker_at(simulation.breaker, now=simulation.now)
    if breaker.opened_at is None:
        return
    run_started_at = breaker.opened_at - timedelta(milliseconds=earlier)
    record_result = record_failure if is_down else record_success
    assert record_result(breaker, started_at=run_started_at, now=simulation.now) == breaker


@property_settings
@given(call_sequences, st.integers(0, 10**9))
def test_a_rejected_call_is_retried_later_and_costs_no_write(
    call_sequence: list[tuple[int, tuple[str, int]]], n: int
) -> None:
    simulation = simulate_after_outage(call_sequence)
    before = simulation.breaker
    after, decision = decide_admission(before, f"other-{n}", now=simulation.now)
    if isinstance(decision, Rejected):
        assert decision.retry_at > simulation.now
        assert (
            decision.retry_at <= simulation.now + DEFAULT_RULES.max_open_time + DEFAULT_RULES.window
        )
        assert after == before


@property_settings
@given(call_sequences)
def test_without_failures_the_breaker_never_changes(
    call_sequence: list[tuple[int, tuple[str, int]]],
) -> None:
    without_failures = [
        (pause, ("succeed" if kind == "fail" else kind, n)) for pause, (kind, n) in call_sequence
    ]
    assert BreakerSimulation().run_all(without_failures).breaker == CircuitBreaker()
