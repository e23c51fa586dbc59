"""Budget reservations: reserved before a provider call, settled after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
from duecourse.domain.errors import ActionFailedError, NotConfiguredError
from duecourse.domain.limits.budget import Budget, BudgetExceededError
from duecourse.domain.requests.action_payload import DEFAULT_CALL_COST
from duecourse.domain.tasks.handler import RunContext
from duecourse.domain.tasks.task import Task
from duecourse.handlers.action import ActionHandler
from duecourse.handlers.budget_reservation import reserve_budget, settle_reservation
from duecourse.handlers.enrich import EnrichHandler
from duecourse.ports.integrations import Provider, ProviderReply, ProviderRequest
from duecourse.ports.limits import Budgets
from duecourse.ports.runtime import Clock

from tests.support.builders.moments import DAY, HOUR, NOW
from tests.support.builders.runs import run_of
from tests.support.builders.tasks import an_action, claim_task
from tests.support.fakes.clock import ManualClock
from tests.support.fakes.limits import MemoryBudgets

DOLLAR = 1_000_000


class Call:
    """A provider call paid from the budget `agents`."""

    def __init__(self, **payload: Any) -> None:
        self.budgets = MemoryBudgets()
        self.clock = ManualClock(NOW)
        self.task: Task = claim_task(an_action(payload={"provider": "scripted", **payload}))
        self.was_made = False

    def make(self, *, cost: int | None = None, error: BaseException | None = None) -> None:
        reservation = reserve_budget(a_context(self.task), self.budgets, self.clock)
        with settle_reservation(reservation, self.budgets) as bill:
            self.was_made = True
            self.held_meanwhile = self.budget.reserved
            if error is not None:
                raise error
            bill.cost = cost

    @property
    def budget(self) -> Budget:
        return self.budgets.get_today("agents", now=NOW)


class CostlyError(Exception):
    def __init__(self, cost: int | None) -> None:
        super().__init__("refused after all")
        self.cost = cost


def spent_and_held(budget: Budget) -> tuple[int, int]:
    return budget.spent, budget.reserved


@pytest.mark.parametrize(
    ("payload", "held"), [({"max_cost": 0.25}, 250_000), ({}, DEFAULT_CALL_COST)]
)
def test_the_maximum_cost_is_reserved_before_the_call(payload: dict[str, Any], held: int) -> None:
    call = Call(budget="agents", **payload)
    call.make(cost=1)
    assert call.held_meanwhile == held


def test_the_actual_cost_is_settled_after_the_call() -> None:
    call = Call(budget="agents", max_cost=0.25)
    call.make(cost=1_234)
    assert spent_and_held(call.budget) == (1_234, 0)


def test_a_free_call_settles_at_zero() -> None:
    call = Call(budget="agents", max_cost=0.25)
    call.make(cost=0)
    assert spent_and_held(call.budget) == (0, 0)


def test_a_call_of_unknown_cost_settles_at_the_reserved_amount() -> None:
    call = Call(budget="agents", max_cost=0.25)
    call.make(cost=None)
    assert spent_and_held(call.budget) == (250_000, 0)


class RejectedError(Exception):
    status = 429


def test_a_rejected_call_costs_nothing_and_raises_its_error() -> None:
    call = Call(budget="agents", max_cost=0.25)
    with pytest.raises(RejectedError):
        call.make(error=RejectedError())
    assert spent_and_held(call.budget) == (0, 0)


def test_a_call_without_a_response_settles_at_the_reserved_amount() -> None:
    call = Call(budget="agents", max_cost=0.25)
    with pytest.raises(ValueError, match="no route"):
        call.make(error=ValueError("no route"))
    assert spent_and_held(call.budget) == (250_000, 0)


def test_a_failed_call_settles_at_the_cost_of_its_error() -> None:
    call = Call(budget="agents", max_cost=0.25)
    with pytest.raises(CostlyError):
        call.make(error=CostlyError(77))
    assert spent_and_held(call.budget) == (77, 0)


def test_an_error_without_a_cost_is_raised() -> None:
    call = Call(budget="agents", max_cost=0.25)
    with pytest.raises(CostlyError):
        call.make(error=CostlyError(None))
    assert call.budget.reserved == 0


def test_a_call_above_the_budget_is_not_made() -> None:
    call = Call(budget="agents", max_cost=1.01)
    with pytest.raises(BudgetExceededError):
        call.make()
    assert (call.was_made, spent_and_held(call.budget)) == (False, (0, 0))


def test_amounts_reserved_by_others_cannot_be_spent() -> None:
    call = Call(budget="agents", max_cost=0.5)
    call.budgets.reserve("agents", "another run", 500_001, now=NOW)
    with pytest.raises(BudgetExceededError):
        call.make()
    assert not call.was_made


@pytest.mark.parametrize("end", [KeyboardInterrupt(), SystemExit(1), GeneratorExit()])
def test_a_crashed_worker_leaves_its_reservation(end: BaseException) -> None:
    call = Call(budget="agents", max_cost=0.25)
    with pytest.raises(type(end)):
        call.make(error=end)
    assert spent_and_held(call.budget) == (0, 250_000)


def test_a_call_over_midnight_is_settled_on_the_day_it_began() -> None:
    call = Call(budget="agents", max_cost=0.25)
    reservation = reserve_budget(a_context(call.task), call.budgets, call.clock)
    with settle_reservation(reservation, call.budgets) as bill:
        call.clock.at = NOW + DAY
        bill.cost = 5
    assert spent_and_held(call.budget) == (5, 0)
    assert call.budgets.get_today("agents", now=NOW + DAY).calls == 0


def test_a_task_without_a_budget_reserves_nothing() -> None:
    call = Call()
    call.make(cost=10 * DOLLAR)
    assert (call.was_made, call.budgets.days) == (True, {})


# The action that spends it


class Scripted:
    payload_keys = ()

    def __init__(self, text: str, most: int | None = None) -> None:
        self.text = text
        self.most = most
        self.asked: list[ProviderRequest] = []

    def call(self, request: ProviderRequest) -> ProviderReply:
        self.asked.append(request)
        return ProviderReply(self.text, cost=42)

    def estimate_max_cost(self, request: ProviderRequest) -> int | None:  # noqa: ARG002
        return self.most

    def check(self, payload: Any) -> None:
        """Accept every payload."""


def a_context(task: Task) -> RunContext:
    run = run_of(task)
    return RunContext(
        task=task, idempotency_key="key-1", attempt=run.attempt, run_id=run.id, deadline=NOW + DAY
    )


def run_action(task: Task, reply: str) -> tuple[Any, Scripted, MemoryBudgets]:
    provider, budgets = Scripted(reply), MemoryBudgets()
    handler = ActionHandler({"scripted": provider}, budgets, ManualClock(NOW + HOUR))
    work = a_context(task)
    work.prepared = handler.prepare(work)
    return handler.mutate(work), provider, budgets


def test_a_successful_action_stores_the_end_of_its_reply() -> None:
    reply = "x" * 5_000 + "\nACTION_OUTCOME: success"
    result, _, _ = run_action(claim_task(an_action()), reply)
    assert result == {"reply": reply[-2_000:]}


def test_the_provider_receives_the_description_and_the_guidance_separately() -> None:
    task = claim_task(an_action(description="ship it", guidance=("look here",)))
    _, provider, _ = run_action(task, "ACTION_OUTCOME: success")
    [request] = provider.asked
    assert (request.description, request.guidance, request.attempt, request.idempotency_key) == (
        *("ship it", ("look here",), 1, "key-1"),
    )


@pytest.mark.parametrize(
    ("retry_count", "last_error", "expected"),
    [
        (1, "boom", ("look here", "The last error was:\n> boom")),
        (0, "boom", None),
        (1, None, None),
    ],
    ids=["a retry", "nothing failed lately", "nobody knows why"],
)
def test_the_provider_receives_the_last_error_on_a_retry(
    retry_count: int, last_error: str | None, expected: tuple[str, ...] | None
) -> None:
    fields = {"retry_count": retry_count, "last_error": last_error, "guidance": ("look here",)}
    _, provider, _ = run_action(claim_task(an_action(**fields)), "ACTION_OUTCOME: success")
    assert tuple(provider.asked[0].guidance) == (expected or ("look here",))


@pytest.mark.parametrize(
    ("reply", "message", "code"),
    [
        ("ACTION_OUTCOME: failed | no key", "no key", "action_failed"),
        ("I think so.", "the reply does not end with its outcome", "no_outcome"),
    ],
)
def test_an_unsuccessful_action_fails_with_its_own_message(
    reply: str, message: str, code: str
) -> None:
    with pytest.raises(ActionFailedError, match=f"^{message}$") as failed:
        run_action(claim_task(an_action()), reply)
    assert failed.value.code == code


def an_enrichment_handler(
    providers: Mapping[str, Provider], budgets: Budgets, clock: Clock
) -> EnrichHandler:
    return EnrichHandler(providers, budgets, clock, channels={})


def run_paid_action(task: Task, provider: Scripted, budgets: MemoryBudgets) -> None:
    handler, work = (
        ActionHandler({"scripted": provider}, budgets, ManualClock(NOW)),
        a_context(task),
    )
    work.prepared = handler.prepare(work)
    handler.mutate(work)


def test_a_reply_is_paid_for_even_if_the_action_fails() -> None:
    task = claim_task(an_action(payload={"provider": "scripted", "budget": "agents"}))
    provider, budgets = Scripted("no"), MemoryBudgets()
    with pytest.raises(ActionFailedError):
        run_paid_action(task, provider, budgets)
    assert spent_and_held(budgets.get_today("agents", now=NOW)) == (42, 0)


@pytest.mark.parametrize(
    ("payload", "most", "held"),
    [({}, 9_000, 9_000), ({"max_cost": 0.25}, 9_000, 250_000), ({}, None, DEFAULT_CALL_COST)],
    ids=["the provider knows", "the task says", "nobody knows"],
)
def test_prepare_reserves_the_maximum_cost_of_an_action(
    payload: dict[str, Any], most: int | None, held: int
) -> None:
    task = claim_task(an_action(payload={"provider": "scripted", "budget": "agents", **payload}))
    provider, budgets = Scripted("", most), MemoryBudgets()
    ActionHandler({"scripted": provider}, budgets, ManualClock(NOW)).prepare(a_context(task))
    assert budgets.get_today("agents", now=NOW).reserved == held


@pytest.mark.parametrize("kind", [ActionHandler, an_enrichment_handler])
def test_release_frees_the_reservation_of_a_call_that_was_not_made(
    kind: Callable[..., ActionHandler | EnrichHandler],
) -> None:
    payload = {"provider": "scripted", "budget": "agents", "schema": {"type": "object"}}
    budgets, work = MemoryBudgets(), a_context(claim_task(an_action(payload=payload)))
    handler = kind({"scripted": Scripted("")}, budgets, ManualClock(NOW))
    work.prepared = handler.prepare(work)
    assert budgets.get_today("agents", now=NOW).reserved > 0
    handler.release(work)
    assert spent_and_held(budgets.get_today("agents", now=NOW)) == (0, 0)


def test_release_without_a_reservation_does_nothing() -> None:
    budgets, work = MemoryBudgets(), a_context(claim_task(an_action()))
    ActionHandler({"scripted": Scripted("")}, budgets, ManualClock(NOW)).release(work)
    assert budgets.days == {}


def test_the_error_names_an_unconfigured_provider() -> None:
    task = claim_task(an_action(payload={"provider": "oracle"}))
    with pytest.raises(
        NotConfiguredError, match="the provider oracle is not configured in this deployment"
    ):
        run_action(task, "")
