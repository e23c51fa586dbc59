"""Work that another Lambda function does: as a task that names it, or phase by phase."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from duecourse.domain.errors import DuecourseError, LeaseLostError, NotSetUpError
from duecourse.domain.origin import Origin
from duecourse.domain.requests.json import task_to_json
from duecourse.domain.tasks.handler import (
    LONGEST_ATTEMPT,
    Applied,
    Finding,
    Handler,
    NotApplied,
    Unknown,
    Work,
)
from duecourse.domain.validation.fields import one_of, whole_number
from duecourse.domain.validation.payload_keys import named, read_key
from duecourse.ports.integrations import Invoker
from duecourse.ports.runtime import Clock

DEFAULT_TIMEOUT = 30
LONGEST_TIMEOUT = int(LONGEST_ATTEMPT.total_seconds())
LEAST_TIME = timedelta(seconds=1)
PHASES = frozenset({"prepare", "mutate", "emit", "reconcile"})


class BadFindingError(DuecourseError):
    """A function was asked whether its work was done, and what it said is no answer to that."""

    type = "BadFinding"
    code = "bad_finding"
    origin = Origin.LOGIC

    def __init__(self, function: str) -> None:
        super().__init__(f'{function} must answer "reconcile" with {{"applied": true|false|null}}')


@dataclass(frozen=True)
class LambdaHandler(Handler):
    """Type `lambda`: the payload names the function, one of those that may be called from here."""

    invoker: Invoker
    clock: Clock
    allowed: frozenset[str]
    payload_keys = ("function", "input", "timeout")

    def check(self, payload: Mapping[str, Any]) -> None:
        named("function", payload.get("function"), one_of(self.allowed))
        read_key(payload, "timeout", whole_number(1, LONGEST_TIMEOUT), DEFAULT_TIMEOUT)

    def mutate(self, work: Work) -> Any:
        payload = work.task.payload
        function = payload.get("function")
        if not isinstance(function, str) or function not in self.allowed:
            raise NotSetUpError("function", function)
        question = {
            "input": payload.get("input"),
            "task_id": work.task.id,
            "key": work.key,
            "attempt": work.attempt,
        }
        asked = timedelta(seconds=payload.get("timeout", DEFAULT_TIMEOUT))
        timeout = _time_for(work, asked, self.clock)
        return _answer(self.invoker, function, question, timeout)


class RemoteHandler(Handler):
    """A type of one's own whose phases another function performs. Made by `remote_handler`."""

    def __init__(
        self,
        function: str,
        invoker: Invoker,
        clock: Clock,
        *,
        timeout: timedelta = timedelta(seconds=DEFAULT_TIMEOUT),
        repeat_is_harmless: bool = False,
    ) -> None:
        self.function = function
        self.invoker = invoker
        self.clock = clock
        self.timeout = timeout
        self.repeat_is_harmless = repeat_is_harmless

    def mutate(self, work: Work) -> Any:
        return self.perform("mutate", work)

    def perform(self, phase: str, work: Work) -> Any:
        question = {
            "phase": phase,
            "task": task_to_json(work.task),
            "key": work.key,
            "attempt": work.attempt,
            "prepared": work.prepared,
            "result": work.result,
        }
        timeout = _time_for(work, self.timeout, self.clock)
        return _answer(self.invoker, self.function, question, timeout)


def remote_handler(
    function: str,
    invoker: Invoker,
    clock: Clock,
    *,
    phases: frozenset[str] = PHASES,
    **options: Any,
) -> RemoteHandler:
    """Its class overrides just the phases named: by that the engine knows which there are.

    The options are those of RemoteHandler: `timeout` and `repeat_is_harmless`.
    """
    if "mutate" not in phases or not phases <= PHASES:
        raise ValueError(f"phases: must be mutate, with or without others of {sorted(PHASES)}")
    chosen = {name: method for name, method in _OPTIONAL.items() if name in phases}
    kind: type[RemoteHandler] = type("RemoteHandler", (RemoteHandler,), chosen)
    return kind(function, invoker, clock, **options)


def _prepare(handler: RemoteHandler, work: Work) -> Any:
    return handler.perform("prepare", work)


def _emit(handler: RemoteHandler, work: Work) -> None:
    handler.perform("emit", work)


def _reconcile(handler: RemoteHandler, work: Work) -> Finding:
    match handler.perform("reconcile", work):
        case {"applied": True, **more}:
            return Applied(more.get("result"))
        case {"applied": False}:
            return NotApplied()
        case {"applied": None}:
            return Unknown()
    raise BadFindingError(handler.function)


_OPTIONAL: dict[str, Callable[[RemoteHandler, Work], Any]] = {
    "prepare": _prepare,
    "emit": _emit,
    "reconcile": _reconcile,
}


def _answer(invoker: Invoker, function: str, question: Any, timeout: timedelta) -> Any:
    body = json.dumps(question, ensure_ascii=False, separators=(",", ":")).encode()
    return json.loads(invoker.invoke(function, body, timeout=timeout))


def _time_for(work: Work, asked: timedelta, clock: Clock) -> timedelta:
    """A function that is still at work when the lease ends could not be told from a lost one."""
    left = min(asked, work.deadline - clock.now())
    if left < LEAST_TIME:
        raise LeaseLostError(work.task.short_id)
    return left
