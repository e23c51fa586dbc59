"""Find names of version 0.1 in a team's handler, which this version would silently ignore."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from dataclasses import dataclass
from inspect import signature
from types import CodeType
from typing import Any

from duecourse.domain.tasks.handler import Handler

# Old name to new name.
_HANDLER_NAMES = {
    "let_go": "release",
    "repeat_is_harmless": "idempotent",
    "is_harmless": "is_idempotent",
}
_CONTEXT_NAMES = {"key": "idempotency_key"}
_PHASES = ("prepare", "release", "mutate", "emit", "reconcile", "let_go")
_VARIABLE_LOADS = ("LOAD_FAST", "LOAD_DEREF")  # the second, if a nested function uses it too
_ATTRIBUTE_LOADS = ("LOAD_ATTR", "LOAD_METHOD")


@dataclass(frozen=True)
class OutdatedName:
    old: str
    new: str


def find_outdated_names(handler: Handler) -> Iterator[OutdatedName]:
    """Yield the outdated attributes and methods, and those that its phases read of the context."""
    for old, new in _HANDLER_NAMES.items():
        if hasattr(handler, old):
            yield OutdatedName(old, new)
    used = {name for phase in _PHASES for name in _names_read_of_context(handler, phase)}
    for old, new in _CONTEXT_NAMES.items():
        if old in used:
            yield OutdatedName(f"work.{old}", f"context.{new}")


def _names_read_of_context(handler: Handler, phase: str) -> set[str]:
    method = getattr(handler, phase, None)
    code = getattr(method, "__code__", None)
    if method is None or not isinstance(code, CodeType):
        return set()
    context = next(iter(signature(method).parameters), None)
    return set(_attributes_read(code, context)) if context else set()


def _attributes_read(code: CodeType, variable: str) -> Iterator[str]:
    """Yield the names of the attributes that the code, or a function in it, reads of `variable`."""
    previous: dis.Instruction | None = None
    for instruction in dis.get_instructions(code):
        if (
            previous is not None
            and previous.opname.startswith(_VARIABLE_LOADS)
            and previous.argval == variable
            and instruction.opname in _ATTRIBUTE_LOADS
        ):
            yield str(instruction.argval)
        previous = instruction
    nested: list[Any] = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    for inner in nested:
        yield from _attributes_read(inner, variable)
