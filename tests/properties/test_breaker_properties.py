"""Whatever happens to a provider, its breaker keeps its promises."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from duecourse.domain.limits.circuit_breaker import (
    DEFAULT_RULES,
    Admission,
    Admitted,
    CircuitBreaker,
    CircuitState,
    Rejected,
    breaker_at,
    decide_admission,
    record_failure,
    record_success,
)
from hypothesis import given, settings
from hypothesis import strategies as st

START = datetime(2026, 2, 17, tzinfo=UTC)
SECOND = timedelta(seconds=1)
# By then the longest open time, a probe's lease and all steps of the return are over.
ENOUGH = DEFAULT_RULES.max_open_time + DEFAULT_RULES.probe_lease + 10 * DEFAULT_RULES.window
calm = settings(deadline=None)

pauses = st.sampled_from([0, 0, 1, 100, 1_000, 10_000, 30_000, 59_999, 60_000, 120_000, 900_000])
asks = st.tuples(st.just("ask"), st.integers(0, 9))
ends = st.tuples(st.sampled_from(["fail", "fail", "succeed"]), st.integers(0, 9))
stories = st.lists(st.tuples(pauses, asks | ends), max_size=120)


@dataclass
class World:
    """Tasks ask one breaker, run, and end; each admission is written down."""

    breaker: CircuitBreaker = field(default_factory=CircuitBreaker)
    now: datetime = START
    runs: list[datetime] = field(default_factory=list)
    outages: int = 0
    returns: list[datetime] = field(default_factory=list)
    probes: list[tuple[int, datetime, str]] = field(default_factory=list)
    returned: Counter[tuple[datetime, int]] = field(default_factory=Counter)

    def live(self, story: list[tuple[int, tuple[str, int]]]) -> World:
        for pause, (kind, n) in story:
            self.now += timedelta(milliseconds=pause)
            if kind == "ask":
                self.ask(f"task-{n}")
            else:
                self.end(n, is_down=kind == "fail")
        return self

    def ask(self, task_id: str) -> Admission:
        self.breaker, answer = decide_admission(self.breaker, task_id, now=self.now)
        if isinstance(answer, Admitted):
            self.runs.append(self.now)
            self._note(task_id)
        return answer

    def _note(self, task_id: str) -> None:
        if self.breaker.state is CircuitState.HALF_OPEN:
            self.probes.append((self.outages, self.now, task_id))
        if self.breaker.state is CircuitState.RETURNING:
            began = self.returns[-1]
            self.returned[began, (self.now - began) // DEFAULT_RULES.window] += 1

    def end(self, n: int, *, is_down: bool) -> None:
        """A run that was let through, sooner or later; a story without any has none to end."""
        if not self.runs:
            return
        began_at = self.runs.pop(n % len(self.runs))
        before = self.breaker.state
        tell = record_failure if is_down else record_success
        self.breaker = tell(self.breaker, started_at=began_at, now=self.now)
        self.outages += self.breaker.state is CircuitState.OPEN and before is not CircuitState.OPEN
        if self.breaker.state is CircuitState.RETURNING and before is CircuitState.HALF_OPEN:
            self.returns.append(self.now)


def troubled(story: list[tuple[int, tuple[str, int]]]) -> World:
    """It opened once before the story begins."""
    world = World()
    for _ in range(10):
        world.ask("first")
        world.end(0, is_down=True)
    assert world.breaker.state is CircuitState.OPEN
    return world.live(story)


@calm
@given(stories)
def test_while_half_open_no_second_probe_is_out_within_the_first_ones_lease(
    story: list[tuple[int, tuple[str, int]]],
) -> None:
    probes = troubled(story).probes
    leases: dict[int, tuple[datetime, str]] = {}
    for outage, at, task_id in probes:
        since, owner = leases.get(outage, (at - DEFAULT_RULES.probe_lease, ""))
        if task_id == owner and at - since < DEFAULT_RULES.probe_lease:
            continue
        assert at - since >= DEFAULT_RULES.probe_lease
        leases[outage] = (at, task_id)


@calm
@given(stories)
def test_while_returning_no_window_has_more_starts_than_its_step(
    story: list[tuple[int, tuple[str, int]]],
) -> None:
    returned = troubled(story).returned
    assert all(count <= 2 * 2**window for (_, window), count in returned.items())


@calm
@given(st.integers(0, 59_999), st.lists(st.integers(0, 600), max_size=300))
def test_a_crowd_that_asks_is_let_back_two_then_four_then_eight(
    offset: int, moments: list[int]
) -> None:
    world = troubled([])
    world.now += DEFAULT_RULES.initial_open_time
    world.ask("probe")
    world.now += timedelta(milliseconds=offset)
    world.end(0, is_down=False)
    began = world.now
    for n, second in enumerate(sorted(moments)):
        world.now = began + second * SECOND
        world.ask(f"task-{n}")
    asked = Counter(second // 60 for second in moments)
    expected = {w: min(count, 2 * 2**w) for w, count in asked.items() if w < 6}
    assert {window: count for (_, window), count in world.returned.items()} == expected


@calm
@given(stories, st.integers(1, 60))
def test_it_closes_again_if_everything_succeeds_from_some_moment_on(
    story: list[tuple[int, tuple[str, int]]], every: int
) -> None:
    world = troubled(story)
    end = world.now + ENOUGH
    while world.now < end:
        world.ask(f"late-{world.now}")
        while world.runs:
            world.end(0, is_down=False)
        world.now += every * SECOND
    assert world.breaker.state is CircuitState.CLOSED


@calm
@given(st.lists(st.booleans(), max_size=40))
def test_it_opens_exactly_at_the_tenth_failure_in_a_row(failures: list[bool]) -> None:
    breaker, row = CircuitBreaker(), 0
    for n, is_down in enumerate(failures):
        at = START + n * SECOND
        tell = record_failure if is_down else record_success
        breaker = tell(breaker, started_at=at, now=at)
        row = row + 1 if is_down else 0
        assert (breaker.state is CircuitState.OPEN) is (row == 10)
        if row == 10:
            return


@calm
@given(stories, st.integers(1, 3_600_000), st.booleans())
def test_a_run_that_began_before_it_opened_changes_nothing(
    story: list[tuple[int, tuple[str, int]]], earlier: int, is_down: bool
) -> None:
    world = troubled(story)
    breaker = breaker_at(world.breaker, now=world.now)
    if breaker.opened_at is None:
        return
    began_at = breaker.opened_at - timedelta(milliseconds=earlier)
    tell = record_failure if is_down else record_success
    assert tell(breaker, started_at=began_at, now=world.now) == breaker


@calm
@given(stories, st.integers(0, 10**9))
def test_who_is_parked_comes_later_and_costs_no_write(
    story: list[tuple[int, tuple[str, int]]], n: int
) -> None:
    world = troubled(story)
    before = world.breaker
    after, answer = decide_admission(before, f"other-{n}", now=world.now)
    if isinstance(answer, Rejected):
        assert answer.retry_at > world.now
        assert answer.retry_at <= world.now + DEFAULT_RULES.max_open_time + DEFAULT_RULES.window
        assert after == before


@calm
@given(stories)
def test_without_failures_nothing_is_ever_written(
    story: list[tuple[int, tuple[str, int]]],
) -> None:
    good = [(pause, ("succeed" if kind == "fail" else kind, n)) for pause, (kind, n) in story]
    assert World().live(good).breaker == CircuitBreaker()
