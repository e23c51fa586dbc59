"""A call that costs money: held before it, settled after it, and never made without."""

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
    """A provider's, paid from the budget `agents`."""

    def __init__(self, **payload: Any) -> None:
        self.budgets = MemoryBudgets()
        self.clock = ManualClock(NOW)
        self.task: Task = claim_task(an_action(payload={"provider": "scripted", **payload}))
        self.was_made = False

    def make(self, *, cost: int | None = None, error: BaseException | None = None) -> None:
        reservation = reserve_budget(a_work(self.task), self.budgets, self.clock)
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
def test_the_most_it_may_cost_is_held_before_the_call(payload: dict[str, Any], held: int) -> None:
    call = Call(budget="agents", **payload)
    call.make(cost=1)
    assert call.held_meanwhile == held


def test_what_it_cost_is_settled_after_the_call() -> None:
    call = Call(budget="agents", max_cost=0.25)
    call.make(cost=1_234)
    assert spent_and_held(call.budget) == (1_234, 0)


def test_a_call_that_cost_nothing_costs_nothing() -> None:
    call = Call(budget="agents", max_cost=0.25)
    call.make(cost=0)
    assert spent_and_held(call.budget) == (0, 0)


def test_a_call_whose_cost_nobody_knows_costs_all_that_was_held() -> None:
    call = Call(budget="agents", max_cost=0.25)
    call.make(cost=None)
    assert spent_and_held(call.budget) == (250_000, 0)


class RefusingError(Exception):
    status = 429


def test_a_call_that_was_refused_costs_nothing_and_raises_its_error() -> None:
    call = Call(budget="agents", max_cost=0.25)
    with pytest.raises(RefusingError):
        call.make(error=RefusingError())
    assert spent_and_held(call.budget) == (0, 0)


def test_a_call_that_ended_in_silence_may_have_cost_all_it_could() -> None:
    call = Call(budget="agents", max_cost=0.25)
    with pytest.raises(ValueError, match="no route"):
        call.make(error=ValueError("no route"))
    assert spent_and_held(call.budget) == (250_000, 0)


def test_a_call_that_failed_costs_what_its_error_says() -> None:
    call = Call(budget="agents", max_cost=0.25)
    with pytest.raises(CostlyError):
        call.make(error=CostlyError(77))
    assert spent_and_held(call.budget) == (77, 0)


def test_an_error_that_does_not_know_its_cost_is_raised_all_the_same() -> None:
    call = Call(budget="agents", max_cost=0.25)
    with pytest.raises(CostlyError):
        call.make(error=CostlyError(None))
    assert call.budget.reserved == 0


def test_without_the_money_the_call_is_not_made() -> None:
    call = Call(budget="agents", max_cost=1.01)
    with pytest.raises(BudgetExceededError):
        call.make()
    assert (call.was_made, spent_and_held(call.budget)) == (False, (0, 0))


def test_what_others_hold_cannot_be_spent() -> None:
    call = Call(budget="agents", max_cost=0.5)
    call.budgets.reserve("agents", "another run", 500_001, now=NOW)
    with pytest.raises(BudgetExceededError):
        call.make()
    assert not call.was_made


@pytest.mark.parametrize("end", [KeyboardInterrupt(), SystemExit(1), GeneratorExit()])
def test_a_worker_that_dies_leaves_the_money_held(end: BaseException) -> None:
    call = Call(budget="agents", max_cost=0.25)
    with pytest.raises(type(end)):
        call.make(error=end)
    assert spent_and_held(call.budget) == (0, 250_000)


def test_a_call_over_midnight_is_settled_on_the_day_it_began() -> None:
    call = Call(budget="agents", max_cost=0.25)
    reservation = reserve_budget(a_work(call.task), call.budgets, call.clock)
    with settle_reservation(reservation, call.budgets) as bill:
        call.clock.at = NOW + DAY
        bill.cost = 5
    assert spent_and_held(call.budget) == (5, 0)
    assert call.budgets.get_today("agents", now=NOW + DAY).calls == 0


def test_a_task_that_names_no_budget_has_none_to_keep() -> None:
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
        """Takes everything."""


def a_work(task: Task) -> RunContext:
    run = run_of(task)
    return RunContext(
        task=task, idempotency_key="key-1", attempt=run.attempt, run_id=run.id, deadline=NOW + DAY
    )


def act(task: Task, reply: str) -> tuple[Any, Scripted, MemoryBudgets]:
    provider, budgets = Scripted(reply), MemoryBudgets()
    handler = ActionHandler({"scripted": provider}, budgets, ManualClock(NOW + HOUR))
    work = a_work(task)
    work.prepared = handler.prepare(work)
    return handler.mutate(work), provider, budgets


def test_an_action_that_succeeded_keeps_the_end_of_its_reply() -> None:
    reply = "x" * 5_000 + "\nACTION_OUTCOME: success"
    result, _, _ = act(claim_task(an_action()), reply)
    assert result == {"reply": reply[-2_000:]}


def test_a_provider_is_asked_in_the_persons_own_words_with_the_guidance_beside_them() -> None:
    task = claim_task(an_action(description="ship it", guidance=("look here",)))
    _, provider, _ = act(task, "ACTION_OUTCOME: success")
    [ask] = provider.asked
    assert (ask.description, ask.guidance, ask.attempt, ask.idempotency_key) == (
        *("ship it", ("look here",), 1, "key-1"),
    )


@pytest.mark.parametrize(
    ("retry_count", "last_error", "told"),
    [(1, "boom", ("look here", "The last error was: boom")), (0, "boom", None), (1, None, None)],
    ids=["a retry", "nothing failed lately", "nobody knows why"],
)
def test_a_provider_is_told_the_last_error_on_a_retry(
    retry_count: int, last_error: str | None, told: tuple[str, ...] | None
) -> None:
    fields = {"retry_count": retry_count, "last_error": last_error, "guidance": ("look here",)}
    _, provider, _ = act(claim_task(an_action(**fields)), "ACTION_OUTCOME: success")
    assert tuple(provider.asked[0].guidance) == (told or ("look here",))


@pytest.mark.parametrize(
    ("reply", "message", "code"),
    [
        ("ACTION_OUTCOME: failed | no key", "no key", "action_failed"),
        ("I think so.", "the reply does not end with its outcome", "no_outcome"),
    ],
)
def test_an_action_that_did_not_succeed_fails_by_its_own_words(
    reply: str, message: str, code: str
) -> None:
    with pytest.raises(ActionFailedError, match=f"^{message}$") as failed:
        act(claim_task(an_action()), reply)
    assert failed.value.code == code


def an_enricher(providers: Mapping[str, Provider], budgets: Budgets, clock: Clock) -> EnrichHandler:
    return EnrichHandler(providers, budgets, clock, channels={})


def act_paid(task: Task, provider: Scripted, budgets: MemoryBudgets) -> None:
    handler, work = ActionHandler({"scripted": provider}, budgets, ManualClock(NOW)), a_work(task)
    work.prepared = handler.prepare(work)
    handler.mutate(work)


def test_an_answer_is_paid_for_whatever_it_says() -> None:
    task = claim_task(an_action(payload={"provider": "scripted", "budget": "agents"}))
    provider, budgets = Scripted("no"), MemoryBudgets()
    with pytest.raises(ActionFailedError):
        act_paid(task, provider, budgets)
    assert spent_and_held(budgets.get_today("agents", now=NOW)) == (42, 0)


@pytest.mark.parametrize(
    ("payload", "most", "held"),
    [({}, 9_000, 9_000), ({"max_cost": 0.25}, 9_000, 250_000), ({}, None, DEFAULT_CALL_COST)],
    ids=["the provider knows", "the task says", "nobody knows"],
)
def test_what_an_action_may_cost_is_held_while_it_is_prepared(
    payload: dict[str, Any], most: int | None, held: int
) -> None:
    task = claim_task(an_action(payload={"provider": "scripted", "budget": "agents", **payload}))
    provider, budgets = Scripted("", most), MemoryBudgets()
    ActionHandler({"scripted": provider}, budgets, ManualClock(NOW)).prepare(a_work(task))
    assert budgets.get_today("agents", now=NOW).reserved == held


@pytest.mark.parametrize("kind", [ActionHandler, an_enricher])
def test_what_is_held_for_a_call_that_is_not_made_is_free_again(
    kind: Callable[..., ActionHandler | EnrichHandler],
) -> None:
    payload = {"provider": "scripted", "budget": "agents", "schema": {"type": "object"}}
    budgets, work = MemoryBudgets(), a_work(claim_task(an_action(payload=payload)))
    handler = kind({"scripted": Scripted("")}, budgets, ManualClock(NOW))
    work.prepared = handler.prepare(work)
    assert budgets.get_today("agents", now=NOW).reserved > 0
    handler.release(work)
    assert spent_and_held(budgets.get_today("agents", now=NOW)) == (0, 0)


def test_where_nothing_is_held_there_is_nothing_to_let_go() -> None:
    budgets, work = MemoryBudgets(), a_work(claim_task(an_action()))
    ActionHandler({"scripted": Scripted("")}, budgets, ManualClock(NOW)).release(work)
    assert budgets.days == {}


def test_a_provider_that_is_not_set_up_is_named() -> None:
    task = claim_task(an_action(payload={"provider": "oracle"}))
    with pytest.raises(
        NotConfiguredError, match="the provider oracle is not configured in this deployment"
    ):
        act(task, "")
