"""Daily budgets on DynamoDB: one item per budget and day, changed by one atomic update.

`remaining` always equals `limit` minus `spent` minus all open reservations (`held`). A second item
per day lists the names of its budgets. A name is added there before the budget's item is created,
so the list is never missing one.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime, timedelta

from pynamodb.exceptions import DoesNotExist, PutError
from pynamodb.expressions.condition import size
from pynamodb.expressions.operand import Path

from duecourse.adapters.aws.dynamodb.conditions import is_condition_failed, update_if
from duecourse.adapters.aws.dynamodb.stored_item import read_item, read_items
from duecourse.adapters.aws.dynamodb.tracking_models import BudgetDayItem, BudgetItem
from duecourse.domain.limits.budget import Budget, BudgetExceededError, parse_budget_name, utc_date

# An attempt fails only if other callers reserved in between. After 10 such losses the day's budget
# is treated as exceeded.
MAX_ATTEMPTS = 10
MAX_LISTED = 200
ONE_DAY = timedelta(days=1)


class DynamoBudgets:
    def __init__(self, *, default_limit: int, retention: timedelta) -> None:
        self._default_limit = default_limit
        self._retention = retention

    def reserve(self, name: str, reservation_id: str, cost: int, *, now: datetime) -> None:
        _require_non_negative(cost)
        day = utc_date(now)
        for _ in range(MAX_ATTEMPTS):
            if _try_reserve(day_key(name, day), reservation_id, cost):
                return
            budget = _find(name, day) or self._open_day(name, day)
            if budget.reserve(reservation_id, cost) is budget:  # this reservation exists already
                return
        raise BudgetExceededError(budget, cost)

    def settle(self, name: str, reservation_id: str, actual_cost: int, *, now: datetime) -> None:
        _require_non_negative(actual_cost)
        budget = _find(name, utc_date(now))
        if budget is not None and reservation_id in budget.reservations:
            _settle(
                day_key(name, budget.day),
                reservation_id,
                budget.reservations[reservation_id],
                actual_cost,
            )

    def get_today(self, name: str, *, now: datetime) -> Budget:
        day = utc_date(now)
        found = _find(name, day)
        return found or Budget(name=name, day=day, limit=int(self._load_setting(name).limit))

    def list_used_on(self, now: datetime) -> Sequence[Budget]:
        day = utc_date(now)
        names = {day_key(name, day): name for name in _list_names(day)}
        found = BudgetItem.batch_get(list(names), consistent_read=True)
        budgets = read_items(found, lambda item: _to_budget(names[item.key], day, item))
        return sorted(budgets, key=lambda budget: budget.name)

    def set_limit(self, name: str, limit: int, *, now: datetime) -> Budget:
        _require_non_negative(limit)
        BudgetItem(_setting_key(name)).update(
            [BudgetItem.limit.set(limit), BudgetItem.version.add(1)]
        )
        # A process whose clock is already past midnight may be creating tomorrow's item with the
        # old limit.
        self._open_day(name, utc_date(now) + ONE_DAY)
        return self._open_day(name, utc_date(now))

    def _open_day(self, name: str, day: date) -> Budget:
        """Return the day's budget with the limit that was set last; create the item if needed.

        `set_limit` calls this too, so nobody can create the day later with an older limit.
        """
        while True:  # another caller with a newer limit won each lost round
            setting = self._load_setting(name)
            item = _find_item(day_key(name, day))
            if item is None:
                self._create_day(name, day, setting)
            elif item.version < setting.version:
                _apply_limit(item, setting)
            else:
                return _to_budget(name, day, item)

    def _load_setting(self, name: str) -> BudgetItem:
        default = BudgetItem(_setting_key(name), limit=self._default_limit, version=0)
        return _find_item(_setting_key(name)) or default

    def _create_day(self, name: str, day: date, setting: BudgetItem) -> None:
        self._register_name(name, day)
        item = BudgetItem(
            day_key(name, day),
            limit=setting.limit,
            version=setting.version,
            remaining=setting.limit,
            spent=0,
            calls=0,
            held={},
            expires_at=self._expiry(day),
        )
        try:
            item.save(BudgetItem.key.does_not_exist())
        except PutError as error:
            if not is_condition_failed(error):
                raise

    def _register_name(self, name: str, day: date) -> None:
        """Add `name` to the day's list. Beyond MAX_LISTED, new names are left out."""
        names = BudgetDayItem.names
        actions = [names.add({name}), BudgetDayItem.expires_at.set(self._expiry(day))]
        has_room = names.does_not_exist() | (size(names) < MAX_LISTED)
        update_if(BudgetDayItem(names_key(day)), actions, condition=has_room)

    def _expiry(self, day: date) -> int:
        end = Budget(name="", day=day, limit=0).resets_at
        return int((end + self._retention).timestamp())


def _try_reserve(key: str, reservation_id: str, cost: int) -> bool:
    held = Path(["held", reservation_id])
    actions = [
        held.set(cost),
        BudgetItem.remaining.set(BudgetItem.remaining - cost),
        BudgetItem.calls.set(BudgetItem.calls + 1),
    ]
    has_room = BudgetItem.remaining >= cost
    is_new = held.does_not_exist()
    return update_if(BudgetItem(key), actions, condition=has_room & is_new)


def _settle(key: str, reservation_id: str, cost: int, actual: int) -> None:
    held = Path(["held", reservation_id])
    actions = [
        held.remove(),
        BudgetItem.remaining.set(BudgetItem.remaining + (cost - actual)),
        BudgetItem.spent.set(BudgetItem.spent + actual),
    ]
    # If the condition fails, this reservation was settled after we read it: our own update, whose
    # response was lost.
    update_if(BudgetItem(key), actions, condition=held == cost)


def _apply_limit(item: BudgetItem, setting: BudgetItem) -> None:
    """Apply the limit of `setting`.

    Versions only increase, so an older limit cannot overwrite it.
    """
    actions = [
        BudgetItem.limit.set(setting.limit),
        BudgetItem.version.set(setting.version),
        BudgetItem.remaining.set(BudgetItem.remaining + (setting.limit - item.limit)),
    ]
    update_if(item, actions, condition=BudgetItem.version == item.version)


def _find(name: str, day: date) -> Budget | None:
    item = _find_item(day_key(name, day))
    return _to_budget(name, day, item) if item else None


def _find_item(key: str) -> BudgetItem | None:
    try:
        item = BudgetItem.get(key, consistent_read=True)
    except DoesNotExist:
        return None
    return read_item(item, lambda item: item)


def _to_budget(name: str, day: date, item: BudgetItem) -> Budget:
    return Budget(
        name=name,
        day=day,
        limit=int(item.limit),
        spent=int(item.spent),
        reservations={held: int(cost) for held, cost in item.held.as_dict().items()},
        calls=int(item.calls),
    )


def _list_names(day: date) -> set[str]:
    """Return the names of the day's budgets; none if the list is unreadable."""
    try:
        item = BudgetDayItem.get(names_key(day), consistent_read=True)
    except DoesNotExist:
        return set()
    return next(read_items([item], lambda item: item.names or set()), set())


def names_key(day: date) -> str:
    """Return the key of the day's list of budgets; no budget has this key."""
    return f"budgets#{day}"


def _setting_key(name: str) -> str:
    """Return the key of the budget's limit.

    The name is validated: otherwise one could equal the day key of another budget.
    """
    return f"budget#{parse_budget_name(name)}"


def day_key(name: str, day: date) -> str:
    return f"{_setting_key(name)}#{day}"


def _require_non_negative(micros: int) -> None:
    if micros < 0:
        raise ValueError(f"{micros} micro-dollars: money must not be negative")
