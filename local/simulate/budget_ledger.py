"""What budgets reserved and spent, from every write of them, and what the calls really cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from local.testing.lean_aws.values import Item

_PREFIX = "budget#"


@dataclass(frozen=True)
class BudgetWrite:
    """A budget of one day (`day_key` ends with it) or its setting, as written. In micro-dollars."""

    key: str
    limit: int
    version: int
    spent: int = 0
    remaining: int = 0
    calls: int = 0
    held: Mapping[str, int] = field(default_factory=dict)

    @property
    def is_day(self) -> bool:
        return self.key.count("#") > 1

    @property
    def used(self) -> int:
        return self.spent + sum(self.held.values())

    @classmethod
    def read(cls, item: Item) -> BudgetWrite:
        numbers = {name: int(value["N"]) for name, value in item.items() if "N" in value}
        held = {name: int(one["N"]) for name, one in item.get("held", {"M": {}})["M"].items()}
        names = ("limit", "version", "spent", "remaining", "calls")
        return cls(item["key"]["S"], **{name: numbers.get(name, 0) for name in names}, held=held)


@dataclass(frozen=True)
class ProviderCall:
    """A call that reached the provider. `cost` is None if the reply did not state it."""

    cost: int | None
    is_error: bool = False
    error_status: int | None = None

    def expected_cost(self, max_cost: int) -> int:
        """Return what the product has to settle: an error without an answer may have cost all."""
        if self.is_error:
            return max_cost if self.error_status is None else 0
        return max_cost if self.cost is None else self.cost


@dataclass
class Reservation:
    """`settled` is what was spent for it, None until then. `invocation` is the one that made it."""

    key: str
    id: str
    max_cost: int
    invocation: int | None
    settled: int | None = None
    calls: list[ProviderCall] = field(default_factory=list)

    @property
    def real_cost(self) -> int:
        return sum(call.cost or 0 for call in self.calls)


@dataclass
class BudgetLedger:
    """`writes` are all writes with their times. `reservations` are in the order of their making."""

    writes: list[tuple[datetime, BudgetWrite]] = field(default_factory=list)
    reservations: list[Reservation] = field(default_factory=list)
    current: dict[str, BudgetWrite] = field(default_factory=dict)

    def note_write(
        self, item: Item | None, at: datetime, invocation: int | None
    ) -> Iterator[str | None]:
        """Check a write of the state table. Yields nothing if it is not of a budget's day."""
        if item is None or not item.get("key", {}).get("S", "").startswith(_PREFIX):
            return
        new = BudgetWrite.read(item)
        old = self.current.get(new.key) or BudgetWrite(new.key, new.limit, 0)
        self.current[new.key] = new
        self.writes.append((at, new))
        if new.is_day:
            self._settle(old, new)
            added = new.held.keys() - old.held.keys()
            self.reservations += [
                Reservation(new.key, one, new.held[one], invocation) for one in sorted(added)
            ]
            yield next(find_faults(old, new), None)

    def _settle(self, old: BudgetWrite, new: BudgetWrite) -> None:
        for one in self.reservations:
            if one.key == new.key and one.settled is None and one.id not in new.held:
                one.settled = new.spent - old.spent

    def note_call(self, call: ProviderCall, invocation: int | None) -> Iterator[str | None]:
        """Check a call that a budget pays: its invocation has reserved the cost."""
        made = [one for one in self.reservations if one.invocation == invocation]
        if not made or made[-1].settled is not None:
            yield f"invocation {invocation} called without a reservation"
            return
        made[-1].calls.append(call)
        key = made[-1].key
        real = sum(one.real_cost for one in self.reservations if one.key == key)
        used = self.current[key].used
        is_covered = real <= used
        yield None if is_covered else f"{key}: the calls cost {real}, {used} are spent or reserved"


def find_faults(old: BudgetWrite, new: BudgetWrite) -> Iterator[str]:
    """Yield what is wrong with a write of one day's budget.

    A limit may be lowered below what is spent; then nothing more is reserved.
    """
    if new.remaining != new.limit - new.used:
        yield f"{new.key}: {new.remaining} remain of {new.limit}, {new.used} are used"
    if new.held.keys() - old.held.keys() and new.used > new.limit:
        yield f"{new.key}: {new.used} are spent and reserved, the limit is {new.limit}"
    settled = old.held.keys() - new.held.keys()
    if new.spent != old.spent and len(settled) != 1:
        yield f"{new.key}: spent {old.spent} to {new.spent}, settled {sorted(settled)}"
    if new.version < old.version:
        yield f"{new.key}: an older limit, {new.limit}, replaced {old.limit}"


def read_call(entry: Mapping[str, Any], cost: int | None) -> ProviderCall:
    """Return the call that got this entry of a script."""
    if "error" not in entry:
        return ProviderCall(cost)
    return ProviderCall(0, is_error=True, error_status=entry["error"].get("status"))
