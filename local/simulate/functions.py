"""The functions of the simulated stack: each invocation has a container to itself."""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from local.runtime.aws_backend import AwsBackend
from local.runtime.call_interceptor import attribute_calls_to
from local.runtime.clock import LocalClock
from local.runtime.functions import Functions, InvocationError, ThrottledInvocationError
from local.simulate.containers import Container, Containers, Outside
from local.simulate.faults import DrawnFaults
from local.testing.faults import short_name

MAX_SKEW = timedelta(minutes=2)


@dataclass(frozen=True)
class Invocation:
    number: int
    function: str
    deadline: datetime


_current: ContextVar[Invocation | None] = ContextVar("invocation", default=None)


def current_invocation() -> Invocation | None:
    return _current.get()


def draw_skew(part: float | None) -> timedelta:
    """Return how far a clock is off, for a number from 0 to 1, in whole milliseconds.

    Stored times have milliseconds: a fraction of one would be lost on the way.
    """
    if part is None:
        return timedelta(0)
    return timedelta(milliseconds=round((2 * part - 1) * MAX_SKEW / timedelta(milliseconds=1)))


class ContainerFunctions(Functions):
    containers: Containers
    outside: Outside
    faults: DrawnFaults

    def __init__(self, template: dict[str, Any], clock: LocalClock, backend: AwsBackend) -> None:
        super().__init__(template, clock, backend)
        self._count = 0
        self._invocations: Counter[str] = Counter()
        self._skews = {timedelta(0)}  # of the clocks of all containers

    @property
    def max_skew(self) -> timedelta:
        """Return the difference between the clock most ahead and the one most behind."""
        return max(self._skews) - min(self._skews)

    def time_limit(self, name: str) -> timedelta:
        return timedelta(seconds=self._properties[self._ids[name]]["Timeout"])

    def invoke(self, function: str, event: Any) -> Any:
        name = short_name(function)
        self._count += 1
        number = self._count
        container = self._take_container(name)
        context = self._context(name)
        token = _current.set(Invocation(number, name, context.deadline))
        try:
            return self._run(container, name, event, context)
        finally:
            _current.reset(token)
            container.is_busy = False

    def _take_container(self, name: str) -> Container:
        """Return a container, which may be a new one though a warm one is idle."""
        strike = self.faults.strike
        self._invocations[name] += 1
        point = f"{name} invocation {self._invocations[name]}"
        if strike("concurrency-limit", point) is not None:
            self.faults.hit_count += 1
            raise ThrottledInvocationError(f"{name} was throttled")
        version = self._choose_version(point)
        has_warm = self.containers.has_warm(name, version)
        is_cold = has_warm and strike("cold-start", point) is not None
        container, is_new = self.containers.choose(name, version, prefers_new=is_cold)
        container.is_busy = True
        if is_new:
            part = strike("clock-skew", point)
            container.version, container.skew = version, draw_skew(part)
            self._skews.add(container.skew)
            container.start(name, self.outside)
        return container

    def _choose_version(self, point: str) -> str:
        """Return the version that an invocation gets. During a rollout it may be the old one."""
        deployment = self.outside.deployment
        is_rolling_out = self._clock.now() < deployment.rollout_ends_at
        is_old = is_rolling_out and self.faults.strike("old-code", point) is not None
        return deployment.previous if is_old else deployment.version

    def _run(self, container: Container, name: str, event: Any, context: Any) -> Any:
        module, attribute = container.load_handler(self._properties[self._ids[name]]["Handler"])
        self._collect_metrics(module)
        try:
            with ExitStack() as stack:
                stack.enter_context(attribute_calls_to(name))
                stack.enter_context(container.attribute_calls_to(name))
                return getattr(module, attribute)(event, context)
        except Exception as error:
            if self.on_error is not None:
                self.on_error(name, error)
            raise InvocationError(f"{type(error).__name__}: {error}") from error
        except BaseException as error:
            if type(error).__name__ != "SimulatedCrash":  # the container has a class of its own
                raise
            container.function = None  # a killed container is not used again
            raise InvocationError(f"{self._ids[name]} was killed") from None
        finally:
            self._collect_metrics(module)
