"""Turn what the functions used into figures per task and dollars per million tasks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bench.meter import Usage
from bench.prices import Pricing

MILLION = 1_000_000
COLUMNS = ("write_units", "read_units", "sqs_requests", "invocations")
Figures = dict[str, float]


@dataclass(frozen=True)
class Bill:
    """All figures are per task; prices are in dollars per million tasks.

    `components` are the figures by function. `items` are the write and read units by function and
    kind of item.
    """

    tasks: int
    components: dict[str, Figures]
    items: dict[tuple[str, str], Figures]
    prices: Figures

    @property
    def total(self) -> Figures:
        return {name: sum(part[name] for part in self.components.values()) for name in COLUMNS}

    @property
    def dollars(self) -> float:
        return sum(self.prices.values())

    def minus(self, other: Bill) -> Bill:
        """Return what this bill has more than the other."""
        return Bill(
            self.tasks,
            _subtract(self.components, other.components, COLUMNS),
            _subtract(self.items, other.items, COLUMNS[:2]),
            {name: price - other.prices.get(name, 0) for name, price in self.prices.items()},
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "tasks": self.tasks,
            "per_task": {**self.components, "total": self.total},
            "items": [
                {"function": f, "item": kind, **one} for (f, kind), one in self.items.items()
            ],
            "dollars_per_million": {**self.prices, "total": self.dollars},
        }


def make_bill(spent: Mapping[str, Usage], tasks: int, pricing: Pricing) -> Bill:
    return Bill(
        tasks,
        {name: {c: getattr(one, c) / tasks for c in COLUMNS} for name, one in spent.items()},
        {
            (name, kind): {
                "write_units": one.written.get(kind, 0) / tasks,
                "read_units": one.read.get(kind, 0) / tasks,
            }
            for name, one in spent.items()
            for kind in {**one.written, **one.read}
        },
        {name: price / tasks * MILLION for name, price in pricing.price(spent).items()},
    )


def _subtract(more: dict[Any, Figures], less: dict[Any, Figures], columns: tuple[str, ...]) -> Any:
    nothing = dict.fromkeys(columns, 0.0)
    return {
        name: {c: more.get(name, nothing)[c] - less.get(name, nothing)[c] for c in columns}
        for name in {**more, **less}
    }
