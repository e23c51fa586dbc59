"""A small and safe part of JSON Schema 2020-12.

A schema comes from outside: no regular expressions, no references, nothing nested without end.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, NoReturn

from duecourse.domain.validation.fields import DEPTH_LIMIT

DEEPEST = 20
MOST_NODES = 1_000
MOST_ERRORS = 20
MOST_STEPS = 2_000_000  # a few seconds' worth
_NAME_SHOWN = 60
_ANNOTATIONS = frozenset(
    {"title", "description", "default", "examples", "$schema", "$comment", "format"}
)

Told = Iterator[str]  # what is wrong, said as far as one asks
Check = Callable[[Any, str], Told]  # of a value, and of the place where it is
Test = Callable[[Any], bool]


@dataclass(frozen=True)
class Schema:
    """Made by `parse_schema`. `nodes` is how many parts it has, itself included."""

    checks: Sequence[Check]
    nodes: int = 1

    def errors(self, value: Any) -> list[str]:
        """What is wrong with an answer that was read from JSON, each with its place."""
        levels, count = _extent(value)
        if levels > DEPTH_LIMIT:
            return [f"answer: must not be nested deeper than {DEPTH_LIMIT} levels"]
        if count * self.nodes > MOST_STEPS:
            return ["answer: is too large to be checked against this schema"]
        return list(islice(self.told(value, "answer"), MOST_ERRORS))

    def told(self, value: Any, path: str) -> Told:
        return chain.from_iterable(check(value, path) for check in self.checks)

    def fits(self, value: Any) -> bool:
        return next(self.told(value, ""), None) is None


def parse_schema(raw: Any) -> Schema:
    """Raises ValueError, naming the place, for what is not of the part that is understood."""
    if not isinstance(raw, Mapping):
        raise ValueError("schema: must be a JSON object")
    tally = _Tally()
    return replace(_schema(raw, _Place("schema", 1, {}, tally)), nodes=tally.nodes)


@dataclass
class _Tally:
    nodes: int = 0


@dataclass(frozen=True)
class _Place:
    """Where in a schema something stands, and `beside` what."""

    path: str
    depth: int
    beside: Mapping[str, Any]
    tally: _Tally

    def keyword(self, name: str, beside: Mapping[str, Any]) -> _Place:
        return replace(self, path=_at(self.path, name), beside=beside)

    def inner(self, step: str | int | None = None) -> _Place:
        path = self.path if step is None else _at(self.path, step)
        return replace(self, path=path, depth=self.depth + 1)

    def refuse(self, message: str) -> NoReturn:
        raise ValueError(f"{self.path}: {message}")

    def count(self, parts: int) -> None:
        self.tally.nodes += parts
        if self.tally.nodes > MOST_NODES:
            self.refuse(f"the schema has more than {MOST_NODES:,} parts")


def _schema(raw: Any, place: _Place) -> Schema:
    place.count(1)
    if place.depth > DEEPEST:
        place.refuse(f"must not be nested deeper than {DEEPEST} levels")
    if isinstance(raw, bool):
        return Schema(() if raw else (_never,))
    if not isinstance(raw, Mapping):
        place.refuse("must be a JSON object")
    read = (_check(raw[name], place.keyword(name, raw), name) for name in raw)
    return Schema(tuple(check for check in read if check is not None))


def _check(raw: Any, place: _Place, name: str) -> Check | None:
    if name in _ANNOTATIONS:
        return None
    if name not in _KEYWORDS:
        place.refuse(f"is not understood here; what is: {', '.join(_KEYWORDS)}")
    return _KEYWORDS[name](raw, place)


def _never(_: Any, path: str) -> Told:
    yield f"{path}: must not be there"


# Kinds of values. True is no number, and 1.0 is a whole one.


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_whole(value: Any) -> bool:
    return _is_number(value) and (isinstance(value, int) or value.is_integer())


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_list(value: Any) -> bool:
    return isinstance(value, list)


def _is_object(value: Any) -> bool:
    return isinstance(value, dict)


_KINDS: dict[str, tuple[Test, str]] = {
    "array": (_is_list, "a list"),
    "boolean": (lambda value: isinstance(value, bool), "true or false"),
    "integer": (_is_whole, "a whole number"),
    "null": (lambda value: value is None, "null"),
    "number": (_is_number, "a number"),
    "object": (_is_object, "an object"),
    "string": (_is_text, "a text"),
}


# Keywords about the value itself


def _must(holds: Test, sentence: str, *, concerns: Test = lambda _: True) -> Check:
    def check(value: Any, path: str) -> Told:
        if concerns(value) and not holds(value):
            yield f"{path}: must {sentence}"

    return check


def _type(raw: Any, place: _Place) -> Check:
    names = raw if isinstance(raw, list) else [raw]
    if not names or not all(isinstance(name, str) and name in _KINDS for name in names):
        place.refuse(f"must be one or more of: {', '.join(_KINDS)}")
    tests = [_KINDS[name][0] for name in names]
    wanted = " or ".join(_KINDS[name][1] for name in names)
    return _must(lambda value: any(test(value) for test in tests), f"be {wanted}")


def _enum(raw: Any, place: _Place) -> Check:
    place.count(len(_members(raw, place)))
    return _one_of(raw, place, "be one of those listed")


def _const(raw: Any, place: _Place) -> Check:
    return _one_of([raw], place, "be the one value that is allowed")


def _one_of(allowed: Sequence[Any], place: _Place, sentence: str) -> Check:
    if max(_extent(value)[0] for value in allowed) > DEPTH_LIMIT:
        place.refuse(f"must not be nested deeper than {DEPTH_LIMIT} levels")
    known = frozenset(map(_identity, allowed))
    return _must(lambda value: _identity(value) in known, sentence)


def _required(raw: Any, place: _Place) -> Check:
    if not isinstance(raw, list) or not all(isinstance(name, str) for name in raw):
        place.refuse("must be a list of names")
    place.count(len(raw))

    def check(value: Any, path: str) -> Told:
        if _is_object(value):
            yield from (f"{_at(path, name)}: is required" for name in raw if name not in value)

    return check


def _unique_items(raw: Any, place: _Place) -> Check | None:
    if not isinstance(raw, bool):
        place.refuse("must be true or false")
    return _all_different if raw else None


def _all_different(value: Any, path: str) -> Told:
    seen: set[Hashable] = set()
    for index, item in enumerate(value if _is_list(value) else ()):
        identity = _identity(item)
        if identity in seen:
            yield f"{_at(path, index)}: must not be there twice"
        seen.add(identity)


Keyword = Callable[[Any, _Place], Check | None]
Compare = Callable[[Any, Any], bool]


def _size(concerns: Test, holds: Compare, sentence: str) -> Keyword:
    def read(raw: Any, place: _Place) -> Check:
        if not _is_whole(raw) or raw < 0:
            place.refuse("must be a whole number from 0")
        return _must(
            lambda value: holds(len(value), raw), sentence.format(int(raw)), concerns=concerns
        )

    return read


def _bound(holds: Compare, sentence: str) -> Keyword:
    def read(raw: Any, place: _Place) -> Check:
        if not _is_number(raw) or not (isinstance(raw, int) or math.isfinite(raw)):
            place.refuse("must be a number")
        return _must(
            lambda value: holds(value, raw), sentence.format(_shown(raw)), concerns=_is_number
        )

    return read


# Keywords that hold further schemas


def _properties(raw: Any, place: _Place) -> Check:
    if not isinstance(raw, Mapping):
        place.refuse("must be an object")
    named = {name: _schema(part, place.inner(name)) for name, part in raw.items()}

    def check(value: Any, path: str) -> Told:
        for name in value if _is_object(value) else ():
            if name in named:
                yield from named[name].told(value[name], _at(path, name))

    return check


def _additional_properties(raw: Any, place: _Place) -> Check:
    others = _schema(raw, place.inner())
    named = place.beside.get("properties", {})

    def check(value: Any, path: str) -> Told:
        for name in value if _is_object(value) else ():
            if name not in named:
                yield from others.told(value[name], _at(path, name))

    return check


def _items(raw: Any, place: _Place) -> Check:
    each = _schema(raw, place.inner())

    def check(value: Any, path: str) -> Told:
        for index, item in enumerate(value if _is_list(value) else ()):
            yield from each.told(item, _at(path, index))

    return check


def _all_of(raw: Any, place: _Place) -> Check:
    parts = _parts(raw, place)
    return lambda value, path: chain.from_iterable(part.told(value, path) for part in parts)


def _any_of(raw: Any, place: _Place) -> Check:
    parts = _parts(raw, place)
    return _must(
        lambda value: any(part.fits(value) for part in parts),
        f"fit one of {len(parts)} alternatives, and fits none",
    )


def _just_one_of(raw: Any, place: _Place) -> Check:
    parts = _parts(raw, place)
    return _must(
        lambda value: sum(part.fits(value) for part in parts) == 1,
        f"fit exactly one of {len(parts)} alternatives",
    )


def _parts(raw: Any, place: _Place) -> list[Schema]:
    return [_schema(part, place.inner(n)) for n, part in enumerate(_members(raw, place))]


def _members(raw: Any, place: _Place) -> list[Any]:
    if not isinstance(raw, list) or not raw:
        place.refuse("must be a list that is not empty")
    return raw


_KEYWORDS: dict[str, Keyword] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "properties": _properties,
    "required": _required,
    "additionalProperties": _additional_properties,
    "items": _items,
    "minItems": _size(_is_list, operator.ge, "have at least {} items"),
    "maxItems": _size(_is_list, operator.le, "have at most {} items"),
    "uniqueItems": _unique_items,
    "minLength": _size(_is_text, operator.ge, "have at least {} characters"),
    "maxLength": _size(_is_text, operator.le, "have at most {} characters"),
    "minimum": _bound(operator.ge, "be at least {}"),
    "maximum": _bound(operator.le, "be at most {}"),
    "exclusiveMinimum": _bound(operator.gt, "be more than {}"),
    "exclusiveMaximum": _bound(operator.lt, "be less than {}"),
    "anyOf": _any_of,
    "oneOf": _just_one_of,
    "allOf": _all_of,
}


# Values


def _extent(value: Any) -> tuple[int, int]:
    """How deep a value is nested and how many it holds, level by level: recursion has an end."""
    levels, count, level = 0, 1, [value]
    while level := [part for part in level if isinstance(part, dict | list)]:
        levels += 1
        level = list(
            chain.from_iterable(
                parent.values() if isinstance(parent, dict) else parent for parent in level
            )
        )
        count += len(level)
    return levels, count


def _identity(value: Any) -> Hashable:
    """The same for what is the same in JSON: 1 and 1.0 are, 1 and true are not."""
    match value:
        case bool():
            return (bool, value)
        case list():
            return (list, tuple(map(_identity, value)))
        case dict():
            return (dict, frozenset((name, _identity(part)) for name, part in value.items()))
    return value if isinstance(value, int | float | str) else None


def _at(path: str, step: str | int) -> str:
    """A name may be anybody's: it must not be able to pass for a sentence or a code of an error."""
    if isinstance(step, int):
        return f"{path}[{step}]"
    shown = (mark if mark.isalnum() or mark in "_-.$@" else "?" for mark in step[:_NAME_SHOWN])
    return f"{path}.{''.join(shown)}"


def _shown(number: float) -> str:
    """Digits without end are not repeated: Python would even refuse to write them."""
    return f"{number:,}" if abs(number) < 10**18 else "a huge number"
