"""The ledger of budgets finds writes and calls that break the limit."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from local.simulate.budget_ledger import (
    BudgetLedger,
    BudgetWrite,
    ProviderCall,
    Reservation,
    find_faults,
    read_call,
)
from local.simulate.checks.budgets import is_right_cost

NOW = datetime(2026, 2, 17, tzinfo=UTC)
KEY = "budget#llm#2026-02-17"


def write(
    limit: int = 10, spent: int = 0, remaining: int | None = None, **held: int
) -> BudgetWrite:
    left = limit - spent - sum(held.values()) if remaining is None else remaining
    return BudgetWrite(KEY, limit, 1, spent, left, len(held), held)


def item(one: BudgetWrite) -> dict[str, dict[str, object]]:
    numbers = ("limit", "version", "spent", "remaining", "calls")
    held = {name: {"N": str(cost)} for name, cost in one.held.items()}
    return {
        "key": {"S": one.key},
        **{name: {"N": str(getattr(one, name))} for name in numbers},
        "held": {"M": held},
    }


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (write(), write(a=10)),
        (write(a=5), write(spent=2)),
        (write(a=5), write(limit=3, a=5)),  # lowered below what is reserved
        (write(a=5), write(spent=12)),  # a call may cost more than was reserved
    ],
)
def test_a_write_within_the_limit_is_right(old: BudgetWrite, new: BudgetWrite) -> None:
    assert list(find_faults(old, new)) == []


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        (write(a=6), write(a=6, b=6), "the limit is 10"),
        (write(limit=3, a=5), write(limit=3, a=5, b=0), "the limit is 3"),
        (write(a=5), write(remaining=10, a=5), "remain of 10"),
        (write(), write(spent=2), "settled []"),
        (write(), BudgetWrite(KEY, 10, 0, remaining=10), "an older limit"),
    ],
)
def test_a_write_that_breaks_the_limit_is_found(
    old: BudgetWrite, new: BudgetWrite, text: str
) -> None:
    assert text in " ".join(find_faults(old, new))


def test_a_reservation_is_settled_by_the_write_that_removes_it() -> None:
    ledger = BudgetLedger()
    for one in (write(), write(a=5), write(spent=2)):
        assert list(ledger.note_write(item(one), NOW, 7)) == [None]

    [made] = ledger.reservations
    assert (made.id, made.max_cost, made.invocation, made.settled) == ("a", 5, 7, 2)


def test_a_call_needs_the_reservation_of_its_invocation() -> None:
    ledger = BudgetLedger()
    list(ledger.note_write(item(write(a=5)), NOW, 7))

    assert list(ledger.note_call(ProviderCall(5), 7)) == [None]
    assert "without a reservation" in str(next(ledger.note_call(ProviderCall(1), 8)))
    assert "the calls cost 6" in str(next(ledger.note_call(ProviderCall(1), 7)))


def test_other_items_of_the_state_table_are_left_out() -> None:
    ledger = BudgetLedger()
    assert list(ledger.note_write({"key": {"S": "breaker#x"}}, NOW, 1)) == []
    assert list(ledger.note_write(None, NOW, 1)) == []


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (read_call({"reply": "done"}, 2), 2),
        (read_call({"reply": "done"}, None), 5),
        (read_call({"error": {"message": "no", "status": 429}}, None), 0),
        (read_call({"error": {"message": "no"}}, None), 5),
    ],
)
def test_a_call_is_settled_at_its_cost(call: ProviderCall, expected: int) -> None:
    made = Reservation(KEY, "a", 5, 7, settled=expected, calls=[call])
    assert is_right_cost(made, is_known=True)
    made.settled = expected + 1
    assert not is_right_cost(made, is_known=True)


def test_a_worker_that_was_hit_may_settle_more_but_never_less_than_the_cost() -> None:
    made = Reservation(KEY, "a", 5, 7, settled=5, calls=[ProviderCall(2)])
    assert is_right_cost(made, is_known=False)
    made.settled = 1
    assert not is_right_cost(made, is_known=False)
