"""An action: a provider is asked to do it, and says at the end of its reply how it went."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duecourse.domain.errors import ActionFailedError
from duecourse.domain.lifecycle.spec_review import question_of
from duecourse.domain.requests.action_payload import check_action
from duecourse.domain.tasks.handler import Handler, Work
from duecourse.domain.tasks.outcome_marker import INSTRUCTION, Failed, NoOutcome, outcome_of
from duecourse.domain.tasks.task import Task
from duecourse.handlers.budget_reservation import released, reserved, settling
from duecourse.handlers.provider_call import ask_provider, keys_of_call, provider_named
from duecourse.ports.integrations import Ask, Provider
from duecourse.ports.limits import Budgets
from duecourse.ports.runtime import Clock

REPLY_KEPT = 2_000


@dataclass(frozen=True)
class ActionHandler(Handler):
    """What a provider did when its worker was lost, nobody knows: a person is asked, unless the
    task says that a repeat is harmless. An error that the worker saw itself, if only silence, is a
    failure like any other: the policies are made for those."""

    providers: Mapping[str, Provider]
    budgets: Budgets
    clock: Clock

    def keys_for(self, payload: Mapping[str, Any]) -> list[str] | None:
        return keys_of_call(payload, self.providers)

    def check(self, payload: Mapping[str, Any]) -> None:
        check_action(payload, {name: one.check for name, one in self.providers.items()})

    def prepare(self, work: Work) -> dict[str, Any] | None:
        most = self._provider(work).most_it_costs(_ask(work))
        return reserved(work, self.budgets, self.clock, most=most)

    def let_go(self, work: Work) -> None:
        released(work.prepared, self.budgets)

    def mutate(self, work: Work) -> dict[str, str]:
        with settling(work.prepared, self.budgets) as bill:
            reply = ask_provider(self._provider(work), _ask(work), work, clock=self.clock)
            bill.cost = reply.cost
        _require_outcome(reply.text, is_verified_later=work.task.verify)
        return {"reply": reply.text[-REPLY_KEPT:]}

    def _provider(self, work: Work) -> Provider:
        return provider_named(work.task.provider, self.providers)


def _require_outcome(reply: str, *, is_verified_later: bool) -> None:
    """No marker is not success; but where somebody looks at the work, that one decides."""
    match outcome_of(reply):
        case Failed(reason):
            raise ActionFailedError(reason, code="action_failed")
        case NoOutcome() if not is_verified_later:
            raise ActionFailedError("the reply does not end with its outcome", code="no_outcome")


def _advice(task: Task) -> Sequence[str]:
    """What was learnt, and what it was learnt from."""
    if not task.retry_count or task.last_error is None:
        return task.guidance
    return (*task.guidance, f"The last error was: {task.last_error}")


def _ask(work: Work) -> Ask:
    review = work.task.review
    return Ask(
        description=question_of(work.task),
        guidance=_advice(work.task),
        instruction=INSTRUCTION,
        attempt=work.attempt,
        key=work.key,
        payload=work.task.payload,
        deadline=work.deadline,
        earlier_attempts=review.after_attempts if review else 0,
    )
