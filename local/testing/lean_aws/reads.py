"""GetItem, Query and Scan: pages, filters and projections."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from operator import itemgetter
from typing import Any

from local.testing.lean_aws.conditions import Condition, parse_condition
from local.testing.lean_aws.errors import UnsupportedError, check_parameters, validation_error
from local.testing.lean_aws.indexes import Index
from local.testing.lean_aws.key_conditions import find_range, parse_key_condition
from local.testing.lean_aws.key_schema import Entry, Key
from local.testing.lean_aws.lexer import Tokens
from local.testing.lean_aws.paths import Path, Scope, parse_path, read_path, scope_of
from local.testing.lean_aws.table import Table
from local.testing.lean_aws.values import Item, copy_item, copy_value

PAGE_BYTES = 1024 * 1024
_PROJECTED = {"ProjectionExpression", "ExpressionAttributeNames", "ReturnConsumedCapacity"}
_PAGED = {"TableName", "IndexName", "Limit", "ExclusiveStartKey", "FilterExpression", "Select"}
_PAGED |= {"ExpressionAttributeValues", "ConsistentRead", *_PROJECTED}
_GET = frozenset({"TableName", "Key", "ConsistentRead", *_PROJECTED})
_QUERY = frozenset({"KeyConditionExpression", "ScanIndexForward", *_PAGED})
_SCAN = frozenset(_PAGED)


def get_item(table: Table, request: dict[str, Any]) -> dict[str, Any]:
    check_parameters("GetItem", request, _GET)
    found = table.get(table.schema.check_exact(request["Key"]))
    if found is None:
        return {}
    return {"Item": project(found, request, scope_of(request))}


def query(table: Table, request: dict[str, Any]) -> dict[str, Any]:
    check_parameters("Query", request, _QUERY)
    view = _view(table, request)
    scope = scope_of(request)
    conditions, used = parse_key_condition(request["KeyConditionExpression"])
    schema = (view.index.entries if view.index else table.entries).schema
    hash_value, low, high = find_range(conditions, scope, schema, view.entries)
    entries: Sequence[Entry] = view.entries.partition(hash_value)[low:high]
    is_forward = request.get("ScanIndexForward", True)
    if start := request.get("ExclusiveStartKey"):
        _, entry = view.entries.entry_of(start, table.schema.key_of(start))
        if is_forward:
            entries = entries[bisect_right(entries, entry) :]
        else:
            entries = entries[: bisect_left(entries, entry)]
    keys = map(itemgetter(1), entries if is_forward else reversed(entries))
    return _page(view, request, scope, keys, used)


def scan(table: Table, request: dict[str, Any]) -> dict[str, Any]:
    check_parameters("Scan", request, _SCAN)
    view = _view(table, request)
    entries = list(view.entries.all_entries())
    if start := request.get("ExclusiveStartKey"):
        position = view.entries.entry_of(start, table.schema.key_of(start))
        entries = entries[bisect_right(entries, position) :]
    keys = (key for _, (_, key) in entries)
    return _page(view, request, scope_of(request), keys, frozenset())


@dataclass(frozen=True)
class _View:
    """The table, or one of its indexes."""

    table: Table
    index: Index | None

    @property
    def entries(self) -> Any:
        return self.table.entries if self.index is None else self.index.entries

    def read(self, key: Key) -> Item:
        items = self.table.items
        return items[key] if self.index is None else self.index.read(key, items)

    def page_key(self, key: Key) -> Item:
        item = self.read(key)
        names = [*self.table.schema.names, *(self.entries.schema.names if self.index else ())]
        return {name: copy_value(item[name]) for name in names}


def _view(table: Table, request: dict[str, Any]) -> _View:
    if "IndexName" not in request:
        return _View(table, None)
    if request.get("ConsistentRead"):
        raise validation_error("Consistent reads are not supported on global secondary indexes")
    return _View(table, table.index(request["IndexName"]))


def _page(
    view: _View,
    request: dict[str, Any],
    scope: Scope,
    keys: Iterable[Key],
    used: frozenset[str],
) -> dict[str, Any]:
    condition, more = _parse_filter(request)
    projected = _parse_projection(request.get("ProjectionExpression"))
    scope.check_all_used(used | more | projected[1])
    page, is_last = _take_page(view, request.get("Limit"), keys)
    items = [view.read(key) for key in page]
    if condition is not None:
        items = [item for item in items if condition.holds(item, scope)]
    response: dict[str, Any] = {"Count": len(items), "ScannedCount": len(page)}
    if request.get("Select") != "COUNT":
        response["Items"] = [project(item, request, scope) for item in items]
    if not is_last:
        response["LastEvaluatedKey"] = view.page_key(page[-1])
    return response


def _take_page(view: _View, limit: int | None, keys: Iterable[Key]) -> tuple[list[Key], bool]:
    """Return the keys of the page, and whether no more follow."""
    rest = iter(keys)
    page, size = [], 0
    for key in islice(rest, limit):
        size += view.table.sizes.get(key, 0)  # 0: an index still shows a deleted item
        page.append(key)
        if size > PAGE_BYTES:
            break
    return page, next(rest, None) is None


def _parse_filter(request: dict[str, Any]) -> tuple[Condition | None, frozenset[str]]:
    text = request.get("FilterExpression")
    return parse_condition(text) if text else (None, frozenset())


@lru_cache(maxsize=1024)
def _parse_projection(text: str | None) -> tuple[tuple[Path, ...], frozenset[str]]:
    if text is None:
        return (), frozenset()
    tokens = Tokens(text)
    paths = [parse_path(tokens)]
    while tokens.skip(","):
        paths.append(parse_path(tokens))
    tokens.check_end()
    return tuple(paths), tokens.used


def project(item: Item, request: dict[str, Any], scope: Scope) -> Item:
    """Return a copy of the item, with the attributes of its ProjectionExpression if it has one."""
    text = request.get("ProjectionExpression")
    if text is None:
        return copy_item(item)
    found: Item = {}
    for path in _parse_projection(text)[0]:
        names = path.resolve(scope)
        value = read_path(item, names)
        if any(isinstance(name, int) for name in names):
            raise UnsupportedError("a ProjectionExpression with a list index")
        if value is not None:
            _place(found, [str(name) for name in names], copy_value(value))
    return found


def _place(item: Item, names: list[str], value: dict[str, Any]) -> None:
    *parents, last = names
    attributes: dict[str, Any] = item
    for name in parents:
        attributes = attributes.setdefault(name, {"M": {}})["M"]
    attributes[last] = value
