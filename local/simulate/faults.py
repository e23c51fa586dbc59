"""Faults at the calls of functions, drawn from the calls that happen.

Each call is a point where the invocation may wait, and where a fault may strike: before the call
reaches its receiver, or after, when the response is on its way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from math import inf
from typing import Any

from duecourse.adapters.channels.api_client import SEND_TIMEOUT
from duecourse.domain.tasks.handler import ATTEMPT_TIMEOUT
from duecourse.handlers.lambda_function import DEFAULT_TIMEOUT

from local.simulate.chance import Chance
from local.simulate.fault_rates import FAULT_RATES
from local.testing.faults import EXTERNAL_CALLS, Fault, Faults, SimulatedCrash


@dataclass(frozen=True)
class CallFault:
    """`kind` and `error` as in local.testing.faults, or TIMED_OUT.

    `lasts`: it strikes the function so long.
    """

    when: str
    kind: str
    lasts: timedelta = timedelta(0)
    error: Mapping[str, Any] = field(default_factory=dict)


TIMED_OUT = "timed-out"  # the call takes as long as the function may run
LAMBDA_TIMEOUT = "lambda-timeout"
# By name, with the probability at each call.
CALL_FAULTS: Mapping[str, tuple[float, CallFault]] = {
    "crash-before": (0.004, CallFault("before", "crash")),
    "crash-after": (0.004, CallFault("after", "crash")),
    "throttle": (0.003, CallFault("before", "throttle")),
    "error": (0.003, CallFault("before", "error")),
    "timeout": (0.003, CallFault("before", "timeout")),
    "lost-response": (0.004, CallFault("after", "timeout")),
    LAMBDA_TIMEOUT: (0.001, CallFault("before", TIMED_OUT)),
    "throttled-minute": (0.001, CallFault("before", "throttle", timedelta(minutes=1))),
    "failing-minute": (0.001, CallFault("before", "error", timedelta(minutes=1))),
    "timeout-minute": (0.0005, CallFault("before", "timeout", timedelta(minutes=1))),
}


# How long the clients of channels, providers and Lambda functions wait. That of webhooks is in the
# world.
CLIENT_TIMEOUTS = {
    "channel.send": SEND_TIMEOUT,
    "provider.call": ATTEMPT_TIMEOUT,
    "lambda.Invoke": timedelta(seconds=DEFAULT_TIMEOUT),
}
_NO_WAIT = 0.5  # the part of the points at which an invocation goes on at once


def draw_latency(fraction: float) -> float:
    """Return how many seconds a call takes, for a number from 0 to 1."""
    if fraction < _NO_WAIT:
        return 0.0
    part = (fraction - _NO_WAIT) / (1 - _NO_WAIT)
    return 0.002 / (1.0001 - part)  # 2 ms, 4 ms at the median, seconds once in a thousand


@dataclass(frozen=True, order=True)
class Struck:
    """A fault that struck: at which point, such as `worker sqs.SendMessage after 2`.

    `at` is the time since the start.
    """

    point: str
    name: str
    at: timedelta = field(default=timedelta(0), compare=False)


# Lets the invocation sleep for seconds, and perhaps time out; returns whether it did.
Sleep = Callable[[float, bool], bool]


class DrawnFaults(Faults):
    """`planned` and `waits`, if not None, replace the draws: by point, a fault and seconds.

    `find_invocation` tells who makes a call.
    """

    find_invocation: Callable[[], int | None] = staticmethod(lambda: None)

    def __init__(
        self,
        chance: Chance,
        names: frozenset[str],
        *,
        sleep: Sleep,
        elapsed: Callable[[], timedelta],
        on_strike: Callable[[Struck], None],
        planned: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__()
        self._chance = chance
        self._names = [name for name in CALL_FAULTS if name in names]
        self._rates = {name: FAULT_RATES[name] for name in sorted(names & FAULT_RATES.keys())}
        # Planned time-outs are drawn like other faults, so that one can be left out.
        self._can_time_out = planned is None and LAMBDA_TIMEOUT in names
        self._sleep = sleep
        self._elapsed = elapsed
        self._on_strike = on_strike
        self._planned = planned
        self.waits: Mapping[str, float] | None = None
        self._seen: Counter[str] = Counter()
        self._until: dict[str, tuple[timedelta, CallFault]] = {}
        self.is_active = True
        self.struck: list[Struck] = []
        self.waited: dict[str, float] = {}  # by point, in seconds
        self.hit_count = 0  # of calls and invocations, also while a fault lasts
        self.failed_functions: set[str] = set()  # whose calls failed
        self.failed_invocations: set[int | None] = set()

    def has_pending_for(self, function: str) -> bool:  # noqa: ARG002 - none is planned ahead
        return self.is_active

    def match(self, function: str | None, call: str, when: str) -> Fault | None:
        if function is None or not self.is_active:
            return None
        kind = f"{function} {call} {when}"
        self._seen[kind] += 1
        point = f"{kind} {self._seen[kind]}"
        seconds = self._find_wait(point)
        if seconds and self._sleep(seconds, self._can_time_out):
            self._end_at_deadline(point)
        if not self.is_active:  # any more, after the sleep
            return None
        name = self._draw_name(point, when)
        if name == LAMBDA_TIMEOUT:
            self._sleep(inf, True)
            self._end_at_deadline(point)
        found = self._lasting(function, call, when) or self._start(name, function, call, point)
        if found is None and when == "after" and call in CLIENT_TIMEOUTS:
            found = self._delay_answer(call, point)
        if found is None:
            return None
        self.note_failed_call(function)
        return Fault(call, kind=found.kind, error=found.error)

    def _find_wait(self, point: str) -> float:
        """Return how many seconds the invocation waits at the point."""
        if self.waits is None:
            seconds = draw_latency(self._chance.fraction(f"latency {point}"))
        else:
            seconds = self.waits.get(point, 0.0)
        if seconds:
            self.waited[point] = seconds
        return seconds

    def _delay_answer(self, call: str, point: str) -> CallFault | None:
        """Let a channel or a provider answer late, or after its client has given up."""
        timeout = CLIENT_TIMEOUTS[call].total_seconds()
        if (part := self.strike("answers-late", point)) is not None:
            self.sleep(part * timeout)
        if self.strike("hangs", point) is None:
            return None
        self.sleep(timeout)
        return CallFault("after", "timeout")

    def sleep(self, seconds: float) -> None:
        """Let the invocation wait for an answer, and end it at its deadline."""
        if self._sleep(seconds, True):
            raise SimulatedCrash

    def note_failed_call(self, function: str) -> None:
        self.hit_count += 1
        self.failed_functions.add(function)
        self.failed_invocations.add(self.find_invocation())

    def _end_at_deadline(self, point: str) -> None:
        self._note(Struck(point, LAMBDA_TIMEOUT))
        raise SimulatedCrash

    def _lasting(self, function: str, call: str, when: str) -> CallFault | None:
        until, fault = self._until.get(function, (timedelta(0), None))
        is_struck = fault and fault.when == when and self._elapsed() < until
        return fault if is_struck and call not in EXTERNAL_CALLS else None

    def _start(self, name: str | None, function: str, call: str, point: str) -> CallFault | None:
        if name is None:
            return None
        fault = CALL_FAULTS[name][1]
        if fault.lasts:
            if call in EXTERNAL_CALLS:
                return None
            self._until[function] = (self._elapsed() + fault.lasts, fault)
        self._note(Struck(point, name))
        return fault

    def _note(self, struck: Struck) -> None:
        struck = replace(struck, at=self._elapsed())
        self.struck.append(struck)
        self._on_strike(struck)

    def strike(self, name: str, point: str) -> float | None:
        """Return a number below 1 if the fault `name` strikes here, otherwise None."""
        if not self.is_active:
            return None
        key = f"{point} {name}"
        if self._planned is None:
            rate = self._rates.get(name, 0.0)
            is_struck = rate > 0 and self._chance.fraction(f"{name} {point}") < rate
        else:
            is_struck = key in self._planned
        if not is_struck:
            return None
        self._note(Struck(key, name))
        return self._chance.fraction(f"extent of {name} {point}")

    def _draw_name(self, point: str, when: str) -> str | None:
        if self._planned is not None:
            return self._planned.get(point)
        drawn = self._chance.fraction(f"fault {point}")
        for name in self._names:
            rate, fault = CALL_FAULTS[name]
            if fault.when == when:
                drawn -= rate
                if drawn < 0:
                    return name
        return None
