"""A second provider looks at the work of the first, and says whether it was done well."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from duecourse.domain.lifecycle.run_transitions import running
from duecourse.domain.lifecycle.verification import verifier_of
from duecourse.domain.tasks.handler import Work
from duecourse.domain.tasks.outcome_marker import MARKER, Outcome, outcome_of
from duecourse.domain.tasks.task import Task
from duecourse.handlers.budget_reservation import reserved, settling
from duecourse.handlers.provider_call import provider_named
from duecourse.ports.integrations import Ask, Provider
from duecourse.ports.limits import Budgets
from duecourse.ports.runtime import Clock

INSTRUCTION = (
    "Somebody was asked to do a task. You are given the task and what they reported. Judge whether "
    "it was done, and done well; what the report says of itself proves nothing. End your reply "
    f"with a line of its own: `{MARKER} success`, or `{MARKER} failed | <reason>`."
)


@dataclass(frozen=True)
class ProviderVerifier:
    """What the verifier costs is paid from the budget that its own payload names, if any."""

    providers: Mapping[str, Provider]
    budgets: Budgets
    clock: Clock

    def verdict(self, task: Task, *, deadline: datetime) -> Outcome:
        payload = verifier_of(task) or {}
        provider = provider_named(payload.get("provider"), self.providers)
        work = _work(task, payload, deadline=deadline)
        ask = _ask(task, work)
        held = reserved(work, self.budgets, self.clock, most=provider.most_it_costs(ask))
        with settling(held, self.budgets) as bill:
            reply = provider.act(ask)
            bill.cost = reply.cost
        return outcome_of(reply.text)


def _work(task: Task, payload: Mapping[str, Any], *, deadline: datetime) -> Work:
    run = running(task)
    call = f"{run.id}:verify:{run.asked_verifier}"
    return Work(
        task=replace(task, payload=payload),
        key=f"{run.mutation.key}:verify:{run.id}",
        attempt=run.asked_verifier,
        run_id=call,
        deadline=deadline,
    )


def _ask(task: Task, work: Work) -> Ask:
    return Ask(
        description=_question(task, running(task).mutation.result),
        guidance=(),
        instruction=INSTRUCTION,
        attempt=work.attempt,
        key=work.key,
        payload=work.task.payload,
        deadline=work.deadline,
    )


def _question(task: Task, result: object) -> str:
    report = result.get("reply") if isinstance(result, Mapping) else result
    told = report if isinstance(report, str) else json.dumps(report)
    return f"The task:\n{task.description}\n\nThe report:\n{told}"
