"""Run one plan: an active phase with faults, a settling phase without, then the invariants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from functools import cache
from typing import Any

from local.runtime.api_gateway import Gateway
from local.runtime.call_interceptor import Call
from local.runtime.template import load_template
from local.simulate.actor import Actor, Created
from local.simulate.chance import Chance
from local.simulate.containers import FIRST_VERSION
from local.simulate.expected_occurrences import expected_series
from local.simulate.faults import Struck
from local.simulate.invariants import INVARIANTS
from local.simulate.listener import Listener
from local.simulate.observed import Observed
from local.simulate.operation_success import has_succeeded
from local.simulate.operations import OPERATIONS, draw_operations
from local.simulate.plan import ALL_FAULTS, Operation, Plan
from local.simulate.start import SETTLING, has_month_ends, is_long, settling_time, starts_at
from local.simulate.violation import Violation, ViolationError
from local.simulate.world import SimulatedStack

DEFAULT_STEPS = 4
ACTIVE_SECONDS = 90.0
FAULTS_GO_ON = timedelta(seconds=30)  # after the last operation
SCAN_GOES_ON = timedelta(seconds=30)  # one scan succeeds before ticks are left out
SERIES_GO_ON = timedelta(minutes=2)  # after the faults, before they are cancelled
DEPLOYMENT_GOES_ON = timedelta(minutes=6)  # the sweeper takes up what waited for new code
_LISTENER_EVERY = 4
_MAX_OCCURRENCES = 75  # of a series that is not cancelled


@dataclass(frozen=True)
class Outcome:
    """`calls_by_line`: the call of each line that is one. `observed`: None without checks."""

    plan: Plan
    struck: Sequence[Struck]
    waited: Mapping[str, float]
    operations: Counter[str]
    succeeded: Counter[str]
    lines: Sequence[str]
    call_count: int
    trace_hash: str
    calls_by_line: Mapping[int, Call] = field(default_factory=dict)
    violations: Sequence[Violation] = ()
    invariants: Counter[str] = field(default_factory=Counter)
    observed: Observed | None = None

    @property
    def plan_as_run(self) -> Plan:
        """Return the plan with exactly the faults that struck and, if planned, their waits."""
        plan = self.plan.with_faults({one.point: one.name for one in self.struck})
        return plan if plan.waits is None else plan.with_waits(self.waited)


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
        return (
            "create-calendar",
            "create-month-end" if has_month_ends(seed) else "create-calendar",
        )
    return ("listen",) if seed % _LISTENER_EVERY == 1 else ()


def simulate(plan: Plan, *, is_checked: bool = True) -> Outcome:
    """Run the plan. Without checks, only the trace and what struck are known."""
    stack = SimulatedStack(
        Chance(plan.seed),
        fault_names=plan.fault_names,
        planned=plan.faults,
        waits=plan.waits,
        template=_template(),
    )
    due = _DueOperations(plan.operations, stack)
    stack.extra_sources.append(due)
    with stack.running():
        due.actor = _make_actor(stack)
        violation = _run_phases(stack, due.actor, plan.seed)
        outcome = Outcome(
            plan=plan,
            struck=stack.faults.struck,
            waited=stack.faults.waited,
            operations=due.started,
            succeeded=due.succeeded,
            lines=list(stack.lines),
            call_count=stack.call_count,
            trace_hash=stack.trace.hexdigest(),
            calls_by_line=stack.calls_by_line,
        )
        if not is_checked:
            return outcome
        if violation is None:
            return _check(outcome, Observed.read(stack, due.actor))
        stack.upgrade_tasks()
        observed = Observed.read(stack, due.actor)
        # The world has not settled, so the other invariants may not hold.
        return replace(
            outcome, violations=[violation], invariants=observed.checked, observed=observed
        )


def _check(outcome: Outcome, observed: Observed) -> Outcome:
    violations = [one for invariant in INVARIANTS for one in invariant.check(observed)]
    return replace(outcome, violations=violations, invariants=observed.checked, observed=observed)


def _make_actor(stack: SimulatedStack) -> Actor:
    return Actor(
        Gateway(stack),
        lambda: stack.faults.hit_count,
        stack.redeploy_all,
        stack.record,
        stack.clock.now,
        lambda: Listener(stack.websocket_api, stack.clock.now),
        stack.send_message,
        stack.dead_letter_next,
        sent=stack.outbox.sent,
    )


def _run_phases(stack: SimulatedStack, actor: Actor, seed: int) -> Violation | None:
    """Run until the world has settled, or until a step violates an invariant."""
    try:
        stack.advance(timedelta(seconds=ACTIVE_SECONDS) + FAULTS_GO_ON)
        stack.end_faults()
        stack.advance(SCAN_GOES_ON)
        _end_series(stack, actor, seed)
        if stack.outside.deployment.version != FIRST_VERSION:
            stack.advance(DEPLOYMENT_GOES_ON)
        stack.is_settling = True
        stack.advance(max(settling_time(seed), stack.time_to_last_message() + SETTLING))
    except ViolationError as error:
        return error.violation
    return None


def _end_series(stack: SimulatedStack, actor: Actor, seed: int) -> None:
    """Let the series run without faults for a time, and cancel them but for slow ones."""
    if not actor.has_series():
        return
    ends_at = stack.clock.now() + settling_time(seed)

    def is_kept(one: Created) -> bool:
        series = expected_series(one.request)
        return is_long(seed) and series is not None and series.is_slow(ends_at, _MAX_OCCURRENCES)

    stack.advance(SERIES_GO_ON)
    stack.scheduler.call(lambda: actor.cancel_series(is_kept))


class _DueOperations:
    """Starts the operations at their times, as an event source of the stack."""

    actor: Actor

    def __init__(self, operations: Sequence[Operation], stack: SimulatedStack) -> None:
        self._waiting = sorted(operations, key=lambda one: one.at)
        self._stack = stack
        self.started: Counter[str] = Counter()
        self.succeeded: Counter[str] = Counter()

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
            kind, actor = OPERATIONS[operation.name], self.actor.copy_for_operation()
            self.started[operation.name] += 1
            self._stack.record(str(operation))
            kind.run(actor, dict(operation.arguments))
            self.succeeded[operation.name] += has_succeeded(kind, actor.own_answers)

        return run


@cache
def _template() -> dict[str, Any]:
    """Return the template with one shard of the due index: each takes a query of every tick."""
    template = load_template()
    shards = {**template["Parameters"]["ShardCount"], "Default": 1}
    return {**template, "Parameters": {**template["Parameters"], "ShardCount": shards}}
