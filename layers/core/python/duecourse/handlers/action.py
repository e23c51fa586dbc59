"""An action: a provider is asked to do it, and says at the end of its reply how it went."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from duecourse.domain.errors import ActionFailedError
from duecourse.domain.outcome import INSTRUCTION, Failed, NoOutcome, outcome_of
from duecourse.domain.task import Task
from duecourse.handlers.spending import paid_from_budget
from duecourse.ports import Ask, Budgets, Clock, Provider

REPLY_KEPT = 2_000


@dataclass(frozen=True)
class ActionHandler:
    providers: Mapping[str, Provider]
    budgets: Budgets
    clock: Clock

    def mutate(self, task: Task, *, key: str) -> dict[str, str]:
        provider = self.providers.get(task.provider or "")
        if provider is None:
            raise LookupError(f"the provider {task.provider} is not set up here")
        with paid_from_budget(task, budgets=self.budgets, clock=self.clock) as bill:
            reply = provider.act(_ask(task, key=key))
            bill.cost = reply.cost
        _require_success(reply.text)
        return {"reply": reply.text[-REPLY_KEPT:]}


def _require_success(reply: str) -> None:
    match outcome_of(reply):
        case Failed(reason):
            raise ActionFailedError(reason, code="action_failed")
        case NoOutcome():
            raise ActionFailedError("the reply does not end with its outcome", code="no_outcome")


def _ask(task: Task, *, key: str) -> Ask:
    return Ask(
        description=task.description,
        guidance=task.guidance,
        instruction=INSTRUCTION,
        attempt=task.run.attempt if task.run else 1,
        key=key,
        payload=task.payload,
    )
