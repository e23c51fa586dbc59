"""Update expressions: SET, REMOVE, ADD and DELETE, applied to a copy of the item."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

from local.testing.lean_aws.conditions import Operand, Placeholder
from local.testing.lean_aws.errors import validation_error
from local.testing.lean_aws.lexer import Tokens
from local.testing.lean_aws.paths import Path, ResolvedPath, Scope, parse_path, read_path
from local.testing.lean_aws.update_values import parse_assigned, wrong_type
from local.testing.lean_aws.values import (
    AttributeValue,
    Item,
    add_numbers,
    copy_item,
    copy_value,
    number,
)

_INVALID_PATH = "The document path provided in the update expression is invalid for update"


@dataclass(frozen=True)
class Action:
    """One clause's entry. A REMOVE has no operand."""

    clause: str
    path: Path
    operand: Operand | None = None


@dataclass(frozen=True)
class Update:
    actions: tuple[Action, ...]
    used: frozenset[str]

    def changed_paths(self, scope: Scope) -> list[ResolvedPath]:
        return [action.path.resolve(scope) for action in self.actions]

    def apply(self, item: Item, scope: Scope) -> Item:
        """Return the updated copy. Every operand is read from the item before the update."""
        paths = self.changed_paths(scope)
        _refuse_overlaps(paths)
        values = [
            None if action.operand is None else action.operand.evaluate(item, scope)
            for action in self.actions
        ]
        changed = copy_item(item)
        # Elements of a list are removed from its end, so that the other positions stay valid.
        order = sorted(range(len(paths)), key=lambda n: _removal_order(self.actions[n], paths[n]))
        for n in order:
            _CLAUSES[self.actions[n].clause](changed, paths[n], values[n])
        return changed


def _removal_order(action: Action, path: ResolvedPath) -> int:
    last = path[-1]
    return -last if action.clause == "REMOVE" and isinstance(last, int) else -1_000_000


def _refuse_overlaps(paths: list[ResolvedPath]) -> None:
    for n, one in enumerate(paths):
        for other in paths[n + 1 :]:
            shorter = min(len(one), len(other))
            if one[:shorter] == other[:shorter]:
                raise validation_error(
                    "Invalid UpdateExpression: Two document paths overlap with each other"
                )


def _set(item: Item, path: ResolvedPath, value: AttributeValue | None) -> None:
    if value is None:
        raise wrong_type()
    value = copy_value(value)
    *parents, last = path
    if not parents:
        item[str(last)] = value
        return
    parent = read_path(item, tuple(parents))
    if parent is None:
        raise validation_error(_INVALID_PATH)
    _set_step(parent, last, value)


def _set_step(parent: AttributeValue, step: str | int, value: AttributeValue) -> None:
    if isinstance(step, str) and "M" in parent:
        parent["M"][step] = value
    elif isinstance(step, int) and "L" in parent:
        elements = parent["L"]
        if step < len(elements):
            elements[step] = value
        else:
            elements.append(value)
    else:
        raise validation_error(_INVALID_PATH)


def _remove(item: Item, path: ResolvedPath, _value: AttributeValue | None = None) -> None:
    *parents, last = path
    if not parents:
        item.pop(str(last), None)
        return
    parent = read_path(item, tuple(parents))
    if parent is None:
        raise validation_error(_INVALID_PATH)
    if isinstance(last, int):
        if last < len(parent.get("L", ())):
            del parent["L"][last]
    else:
        parent.get("M", {}).pop(last, None)


def _add(item: Item, path: ResolvedPath, value: AttributeValue | None) -> None:
    before = read_path(item, path)
    if value is None or not value.keys() & {"N", "SS", "NS", "BS"}:
        raise wrong_type()
    if before is None:
        _set(item, path, value)
    elif before.keys() != value.keys():
        raise wrong_type()
    elif "N" in value:
        _set(item, path, add_numbers(before, value))
    else:
        [kind] = value
        _set(item, path, {kind: _merge(kind, [*before[kind], *value[kind]])})


def _delete(item: Item, path: ResolvedPath, value: AttributeValue | None) -> None:
    before = read_path(item, path)
    if value is None or not value.keys() & {"SS", "NS", "BS"}:
        raise wrong_type()
    if before is None:
        return
    if before.keys() != value.keys():
        raise wrong_type()
    [kind] = value
    identity = _identity(kind)
    removed = set(map(identity, value[kind]))
    if rest := [one for one in before[kind] if identity(one) not in removed]:
        _set(item, path, {kind: rest})
    else:
        _remove(item, path)


def _merge(kind: str, elements: Iterable[str]) -> list[str]:
    identity = _identity(kind)
    return list({identity(one): one for one in elements}.values())


def _identity(kind: str) -> Callable[[str], object]:
    return number if kind == "NS" else lambda element: element


_CLAUSES: dict[str, Callable[[Item, ResolvedPath, AttributeValue | None], None]] = {
    "SET": _set,
    "REMOVE": _remove,
    "ADD": _add,
    "DELETE": _delete,
}


@lru_cache(maxsize=4096)
def parse_update(text: str) -> Update:
    tokens = Tokens(text)
    actions: list[Action] = []
    clauses: set[str] = set()
    while tokens.peek():
        clause = tokens.take().upper()
        if clause not in _CLAUSES or clause in clauses:
            raise tokens.syntax_error()
        clauses.add(clause)
        actions.append(_parse_action(clause, tokens))
        while tokens.skip(","):
            actions.append(_parse_action(clause, tokens))
    return Update(tuple(actions), tokens.used)


def _parse_action(clause: str, tokens: Tokens) -> Action:
    path = parse_path(tokens)
    if clause == "REMOVE":
        return Action(clause, path)
    if clause == "SET":
        tokens.take("=")
        return Action(clause, path, parse_assigned(tokens))
    token = tokens.take()
    if not token.startswith(":"):
        raise tokens.syntax_error()
    return Action(clause, path, Placeholder(token))
