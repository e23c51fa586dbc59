"""Indexes that show a write up to 30 seconds late: the most that the product allows for."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable

from duecourse.domain.dispatch.timing import INDEX_LAG

from local.simulate.fault_rates import Strike
from local.testing.lean_aws.index_lag import IndexLag
from local.testing.lean_aws.indexes import Index
from local.testing.lean_aws.table import Table


def let_indexes_lag(tables: Iterable[Table], strike: Strike, now: Callable[[], float]) -> None:
    for table in tables:
        if table.indexes:
            table.index_lag = IndexLag(now, _make_draw(table.name, strike))


def _make_draw(table: str, strike: Strike) -> Callable[[Index], float]:
    writes: Counter[str] = Counter()

    def draw(index: Index) -> float:
        writes[index.name] += 1
        part = strike("index-lag", f"{table} {index.name} write {writes[index.name]}")
        return 0.0 if part is None else part * INDEX_LAG.total_seconds()

    return draw
