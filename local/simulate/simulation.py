"""Run one plan: an active phase with faults, a settling phase without, then the invariants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from local.runtime.api_gateway import Gateway
from local.runtime.template import load_template
from local.simulate.actor import Actor, Created
from local.simulate.chance import Chance
from local.simulate.containers import FIRST_VERSION
from local.simulate.expected_occurrences import expected_series
from local.simulate.faults import Struck
from local.simulate.invariants import INVARIANTS, Violation
from local.simulate.listener import Listener
from local.simulate.observed import Observed
from local.simulate.operations import OPERATIONS, draw_operations
from local.simulate.plan import ALL_FAULTS, Operation, Plan
from local.simulate.start import SETTLING, is_long, settling_time, starts_at
from local.simulate.world import SimulatedStack

DEFAULT_STEPS = 4
ACTIVE_SECONDS = 90.0
FAULTS_GO_ON = timedelta(seconds=30)  # after the last operation
SERIES_GO_ON = timedelta(minutes=2)  # after the faults, before they are cancelled
DEPLOYMENT_GOES_ON = timedelta(minutes=6)  # the sweeper takes up what waited for new code
_LISTENER_EVERY = 4
_SERIES_OF_LONG_SEEDS = ("create-calendar", "create-calendar")
_MAX_OCCURRENCES = 75  # of a series that is not cancelled


@dataclass(frozen=True)
class Outcome:
    plan: Plan
    struck: Sequence[Struck]
    operations: Counter[str]
    lines: Sequence[str]
    call_count: int
    trace_hash: str
    violations: Sequence[Violation] = ()
    invariants: Counter[str] = field(default_factory=Counter)

    @property
    def plan_as_run(self) -> Plan:
        """Return the plan with exactly the faults that struck."""
        return self.plan.with_faults({one.point: one.name for one in self.struck})


def make_plan(
    seed: int, *, steps: int = DEFAULT_STEPS, fault_names: frozenset[str] = ALL_FAULTS
) -> Plan:
    operations = draw_operations(
        Chance(seed).source("operations"),
        steps,
        seconds=ACTIVE_SECONDS,
        starts_at=starts_at(seed),
        more=_list_more(seed),
    )
    return Plan(seed, operations, fault_names)


def _list_more(seed: int) -> Sequence[str]:
    """Return operations that the seed has besides those that are drawn."""
    if is_long(seed):
        return _SERIES_OF_LONG_SEEDS
    return ("listen",) if seed % _LISTENER_EVERY == 1 else ()


def simulate(plan: Plan, *, is_checked: bool = True) -> Outcome:
    """Run the plan. Without checks, only the trace and what struck are known."""
    stack = SimulatedStack(
        Chance(plan.seed),
        fault_names=plan.fault_names,
        planned=plan.faults,
        template=_template(),
    )
    counts: Counter[str] = Counter()
    due = _DueOperations(plan.operations, counts, stack)
    stack.extra_sources.append(due)
    with stack.running():
        due.actor = _make_actor(stack)
        _run_phases(stack, due.actor, plan.seed)
        outcome = Outcome(
            plan=plan,
            struck=stack.faults.struck,
            operations=counts,
            lines=list(stack.lines),
            call_count=stack.call_count,
            trace_hash=stack.trace.hexdigest(),
        )
        return _check(outcome, Observed.read(stack, due.actor)) if is_checked else outcome


def _check(outcome: Outcome, observed: Observed) -> Outcome:
    violations = [one for invariant in INVARIANTS for one in invariant.check(observed)]
    return replace(outcome, violations=violations, invariants=observed.checked)


def _make_actor(stack: SimulatedStack) -> Actor:
    return Actor(
        Gateway(stack),
        lambda: stack.faults.hit_count,
        stack.redeploy_all,
        stack.record,
        stack.clock.now,
        lambda: Listener(stack.websocket_api, stack.clock.now),
        stack.send_message,
        sent=stack.outbox.sent,
    )


def _run_phases(stack: SimulatedStack, actor: Actor, seed: int) -> None:
    settling = settling_time(seed)
    ends_at = stack.clock.now() + settling

    def is_kept(one: Created) -> bool:
        series = expected_series(one.request)
        return is_long(seed) and series is not None and series.is_slow(ends_at, _MAX_OCCURRENCES)

    stack.advance(timedelta(seconds=ACTIVE_SECONDS) + FAULTS_GO_ON)
    stack.end_faults()
    stack.advance(SERIES_GO_ON)
    stack.scheduler.call(lambda: actor.cancel_series(is_kept))
    if stack.outside.deployment.version != FIRST_VERSION:
        stack.advance(DEPLOYMENT_GOES_ON)
    stack.is_settling = True
    stack.advance(max(settling, stack.time_to_last_message() + SETTLING))


class _DueOperations:
    """Starts the operations at their times, as an event source of the stack."""

    actor: Actor

    def __init__(
        self, operations: Sequence[Operation], counts: Counter[str], stack: SimulatedStack
    ) -> None:
        self._waiting = sorted(operations, key=lambda one: one.at)
        self._counts = counts
        self._stack = stack

    def take_due(self, now: datetime) -> Sequence[Callable[[], None]]:
        due = []
        while self._waiting and self._instant(self._waiting[0]) <= now:
            due.append(self._start(self._waiting.pop(0)))
        return due

    def next_at(self, now: datetime, until: datetime | None) -> datetime | None:
        del now, until
        return self._instant(self._waiting[0]) if self._waiting else None

    def _instant(self, operation: Operation) -> datetime:
        return self._stack.starts_at + timedelta(seconds=operation.at)

    def _start(self, operation: Operation) -> Callable[[], None]:
        def run() -> None:
            self._counts[operation.name] += 1
            self._stack.record(str(operation))
            OPERATIONS[operation.name].run(self.actor, dict(operation.arguments))

        return run


@cache
def _template() -> dict[str, Any]:
    """Return the template with one shard of the due index: each takes a query of every tick."""
    template = load_template()
    shards = {**template["Parameters"]["ShardCount"], "Default": 1}
    return {**template, "Parameters": {**template["Parameters"], "ShardCount": shards}}
