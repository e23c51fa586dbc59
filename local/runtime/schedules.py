"""EventBridge schedules: `rate(...)` rules fire at multiples of their period."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

from duecourse.domain.time.instant import to_text

from local.runtime.functions import Functions, InvocationError, ThrottledInvocationError
from local.runtime.idle_ticks import TickFinder
from local.runtime.template import ACCOUNT, REGION, function_id, resources_of_type
from local.testing.faults import short_name

# Lambda's pause before it repeats a throttled event grows from a second to five minutes.
THROTTLED_SECONDS = 20.0
MAX_THROTTLED = 100
_RATE = re.compile(r"rate\((\d+) (minute|hour|day)s?\)")
# The benchmarks move it, because AWS does not tick at whole seconds.
FIRST_TICK = datetime(2000, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class ScheduleState:
    """`last_tick_at` is None before the first tick. `last_error` is None if that one succeeded."""

    function: str
    period: timedelta
    started_at: datetime | None
    last_tick_at: datetime | None
    last_error: str | None

    def to_json(self) -> dict[str, Any]:
        return {
            "function": short_name(self.function),
            "period_seconds": round(self.period.total_seconds()),
            "started_at": self.started_at and to_text(self.started_at),
            "last_tick_at": self.last_tick_at and to_text(self.last_tick_at),
            "last_error": self.last_error,
        }


class Schedule:
    """While `can_skip` returns True for its function, ticks without an effect are skipped."""

    def __init__(
        self,
        function: str,
        period: timedelta,
        functions: Functions,
        can_skip: Callable[[str], bool],
        count_changes: Callable[[], int],
    ) -> None:
        self._function = function
        self._period = period
        self._functions = functions
        self._can_skip = can_skip
        self._last_tick: datetime | None = None
        self._started_at: datetime | None = None
        self._ticked_at: datetime | None = None
        self._last_error: str | None = None
        run_dry = partial(functions.run_dry, function)
        guess = functions.guess_next_effect
        self._finder = TickFinder(function, period, run_dry, guess, count_changes)

    @property
    def state(self) -> ScheduleState:
        return ScheduleState(
            self._function, self._period, self._started_at, self._ticked_at, self._last_error
        )

    def take_due(self, now: datetime) -> Sequence[Callable[[], None]]:
        if self._last_tick is None:
            self._last_tick, self._started_at = self._next_tick(now) - self._period, now
        tick = self._next_tick(now + timedelta(microseconds=1)) - self._period
        if tick <= self._last_tick:
            return ()
        self._last_tick = tick
        if self._can_skip(self._function) and self._finder.is_idle(tick, now):
            self._record_tick(None)
            return ()
        return (self._invoke,)

    def next_at(self, now: datetime, until: datetime | None) -> datetime | None:
        tick = self._next_tick(now + timedelta(microseconds=1))
        if until is None or not self._can_skip(self._function):
            return tick
        return self._finder.first_needed(tick, until)

    def _next_tick(self, instant: datetime) -> datetime:
        """Return the first tick at or after `instant`."""
        periods = -((FIRST_TICK - instant) // self._period)
        return FIRST_TICK + periods * self._period

    def _invoke(self) -> None:
        event = {
            "version": "0",
            "id": str(uuid.uuid4()),
            "detail-type": "Scheduled Event",
            "source": "aws.events",
            "account": ACCOUNT,
            "time": to_text(self._last_tick or FIRST_TICK),
            "region": REGION,
            "resources": [],
            "detail": {},
        }
        try:
            self._invoke_when_possible(event)
        except InvocationError as error:
            self._record_tick(str(error))
            return  # the template allows no retries; the next tick does the work
        self._record_tick(None)

    def _invoke_when_possible(self, event: dict[str, Any]) -> None:
        """Invoke the function. Lambda repeats a throttled event, also one without retries."""
        for _ in range(MAX_THROTTLED):
            try:
                self._functions.invoke(self._function, event)
            except ThrottledInvocationError:
                time.sleep(THROTTLED_SECONDS)
            else:
                return

    def _record_tick(self, error: str | None) -> None:
        self._ticked_at, self._last_error = self._last_tick, error


def make_schedules(
    template: dict[str, Any],
    functions: Functions,
    *,
    can_skip: Callable[[str], bool],
    count_changes: Callable[[], int],
) -> list[Schedule]:
    rules = resources_of_type(template, "AWS::Events::Rule").values()
    return [
        Schedule(
            function_id(target["Arn"]),
            _parse_period(rule["ScheduleExpression"]),
            functions,
            can_skip,
            count_changes,
        )
        for rule in rules
        for target in rule["Targets"]
    ]


def _parse_period(expression: str) -> timedelta:
    found = _RATE.fullmatch(expression)
    if found is None:
        raise ValueError(f"{expression}: the local stack supports only rate(...) schedules")
    return timedelta(**{f"{found[2]}s": int(found[1])})
