"""Patches of moto's tables that make reads and writes cheap. The results are moto's own.

A query looks only at the items of its partition and range: moto sorts the whole table, and measures
the size of each item that it passes. Expressions are parsed once: our stores send a few dozen.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from copy import copy, deepcopy
from decimal import Decimal
from functools import lru_cache
from itertools import chain
from typing import Any
from unittest.mock import patch

from moto.dynamodb.comparisons import ConditionExpressionParser, get_comparison_func
from moto.dynamodb.exceptions import ItemSizeTooLarge
from moto.dynamodb.models.dynamo_type import DynamoType, Item, LimitedSizeDict
from moto.dynamodb.models.table import Table
from moto.dynamodb.parsing.ast_nodes import DepthFirstTraverser, Node
from moto.dynamodb.parsing.expressions import UpdateExpressionParser

_EXPRESSIONS = 1000  # the most that are remembered
_CONDITIONS = 10
_to_number, _to_text = lru_cache(_EXPRESSIONS)(Decimal), str
_MAX_ITEM_BYTES = 405_000  # as in moto


@contextmanager
def install_dynamodb_patches() -> Iterator[None]:
    conditions: Any = ConditionExpressionParser
    with ExitStack() as patches:
        for owner, name, replacement in (
            (Table, "query", _narrow(Table.query)),
            (Table, "sorted_items", _sort_items),
            (Item, "project", _project(Item.project)),
            (Item, "__deepcopy__", _copy_item),
            (Item, "__init__", _make_item),
            (DepthFirstTraverser, "traverse", _traverse),
            (UpdateExpressionParser, "make", _remember(UpdateExpressionParser.make)),
            (
                conditions,
                "_lex_condition_expression",
                _lex_once(conditions._lex_condition_expression),
            ),
            (conditions, "parse", _parse_once(conditions.parse)),
        ):
            patches.enter_context(patch.object(owner, name, replacement))
        # deepcopy() finds out for each node how it is copied; a validator copies its whole tree.
        patches.enter_context(patch.object(Node, "__deepcopy__", _copy_node, create=True))
        yield


def _remember(make: Callable[[str], Any]) -> Callable[[str], Any]:
    return staticmethod(lru_cache(_EXPRESSIONS)(make))


def _narrow(real: Callable[..., Any]) -> Callable[..., Any]:
    """Return a query that sees only those items which can be in its result."""

    def query(
        table: Any, hash_key: Any, comparison: Any, bounds: Any, *rest: Any, **more: Any
    ) -> Any:
        _limit, _start_key, _is_forward, _projections, index_name, *_ = rest
        found = _read_partition(table, hash_key, index_name, more["hash_key_conditions"])
        if comparison:
            name = _range_attribute(table, index_name)
            matches = get_comparison_func(comparison)
            values = [bound.cast_value for bound in bounds]
            found = [
                item
                for item in found
                if name in item.attrs and matches(item.attrs[name].cast_value, *values)
            ]
        with patch.object(table, "all_items", lambda: found):
            return real(table, hash_key, comparison, bounds, *rest, **more)

    return query


def _read_partition(
    table: Any, hash_key: Any, index_name: str | None, conditions: list[tuple[str, Any]]
) -> list[Any]:
    """Return the items with the key in the table or the index, in any order."""
    if index_name is None:
        part = table.items.get(hash_key) or {}
        return list(part.values()) if table.has_range_key else [part] if part else []
    parts = table.items.values()
    items = chain.from_iterable(map(dict.values, parts)) if table.has_range_key else parts
    [(name, wanted)] = conditions
    # moto's wrappers convert both values for each comparison.
    convert = _to_number if wanted.is_number() else _to_text
    value = convert(wanted.value)
    return [
        item
        for item in items
        if (own := item.attrs.get(name)) is not None
        and own.type == wanted.type
        and convert(own.value) == value
    ]


def _range_attribute(table: Any, index_name: str | None) -> str:
    if index_name is None:
        return str(table.range_key_attr)
    schema = table.get_index(index_name).schema
    return next(str(key["AttributeName"]) for key in schema if key["KeyType"] == "RANGE")


def _sort_items(table: Any, hash_keys: list[str], range_keys: list[str], items: Any) -> Any:
    """Sort by plain values: moto's wrappers convert theirs for each comparison."""
    names = table._generate_attr_to_sort_by(hash_keys, range_keys)
    return sorted(items, key=lambda item: [item.attrs[name].cast_value for name in names])


def _project(real: Callable[..., Any]) -> Callable[..., Any]:
    """Pick whole attributes directly: moto converts the item to Python and back for each."""

    def project(item: Any, paths: list[list[str]]) -> Any:
        if any(len(path) > 1 or "[" in path[0] for path in paths):
            return real(item, paths)
        return _replace_attributes(
            item, {path[0]: item.attrs[path[0]] for path in paths if path[0] in item.attrs}
        )

    return project


def _parse_once(real: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Parse a condition once per request: moto does it to check the request, and to apply it."""
    known: OrderedDict[tuple[str, str, str], tuple[Any, list[str], list[str]]] = OrderedDict()

    def parse(parser: Any) -> Any:
        names, values = parser.expression_attribute_names, parser.expression_attribute_values
        key = (str(parser.condition_expression), repr(names), repr(values))
        if key not in known:
            operator = real(parser)
            known[key] = (operator, parser.expr_attr_names_found, parser.expr_attr_values_found)
            if len(known) > _CONDITIONS:
                known.popitem(last=False)
        operator, names_found, values_found = known[key]
        parser.expr_attr_names_found = list(names_found)
        parser.expr_attr_values_found = list(values_found)
        return operator

    return parse


def _lex_once(real: Callable[[Any], deque[Any]]) -> Callable[[Any], deque[Any]]:
    @lru_cache(_EXPRESSIONS)
    def lex(expression: str) -> tuple[Any, ...]:
        return tuple(real(ConditionExpressionParser(expression, None, None)))

    return lambda parser: deque(lex(parser.condition_expression))


def _make_item(item: Any, hash_key: Any, range_key: Any, attrs: dict[str, Any]) -> None:
    """Check the size of the whole item, not after each attribute the sum of those before it."""
    item.hash_key, item.range_key = hash_key, range_key
    item.attrs = LimitedSizeDict({name: DynamoType(value) for name, value in attrs.items()})
    if item.size() > _MAX_ITEM_BYTES:
        raise ItemSizeTooLarge


def _traverse(processor: Any, node: Any) -> Any:
    """Ask a processor once for the nodes that it wants: moto asks it again at each node."""
    wanted = processor.nodes_to_be_processed()
    processor.nodes_to_be_processed = lambda: wanted
    return processor.traverse_node_recursively(node)


def _copy_item(item: Any, _memo: dict[int, Any]) -> Any:
    """Copy what moto changes in place: lists, maps and sets. Other values are replaced."""
    return _replace_attributes(
        item,
        {
            name: deepcopy(value) if isinstance(value.value, list | dict) else value
            for name, value in item.attrs.items()
        },
    )


def _replace_attributes(item: Any, attributes: dict[str, Any]) -> Any:
    made = object.__new__(Item)
    made.hash_key, made.range_key = item.hash_key, item.range_key
    made.attrs = LimitedSizeDict(attributes)
    return made


def _copy_node(node: Any, _memo: dict[int, Any]) -> Any:
    copied = copy(node)
    if node.children is not None:
        copied.children = [
            _copy_node(child, _memo) if isinstance(child, Node) else child
            for child in node.children
        ]
        for child in copied.children:
            if isinstance(child, Node):
                child.set_parent(copied)
    return copied
