"""Type `action`: a provider carries out the description and reports the outcome in its reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from duecourse.domain.errors import ActionFailedError
from duecourse.domain.lifecycle.spec_review import build_question
from duecourse.domain.requests.action_payload import check_action
from duecourse.domain.tasks.handler import Handler, RunContext
from duecourse.domain.tasks.outcome_marker import INSTRUCTION, Failed, NoOutcome, parse_outcome
from duecourse.domain.tasks.task import Task
from duecourse.domain.text.quotation import quote
from duecourse.domain.text.redaction import MAX_REDACTED_LENGTH, redact
from duecourse.handlers.budget_reservation import (
    release_reservation,
    reserve_budget,
    settle_reservation,
)
from duecourse.handlers.provider_call import call_provider, get_provider, keys_of_call
from duecourse.ports.integrations import Provider, ProviderRequest
from duecourse.ports.limits import Budgets
from duecourse.ports.runtime import Clock

REPLY_LIMIT = 2_000


@dataclass(frozen=True)
class ActionHandler(Handler):
    """Calls a provider. Not idempotent unless the task says so.

    After a lost worker the effect is unknown, so a person is asked. An error that the worker saw,
    even a timeout, is an ordinary failure and handled by the policy.
    """

    providers: Mapping[str, Provider]
    budgets: Budgets
    clock: Clock

    def keys_for(self, payload: Mapping[str, Any]) -> list[str] | None:
        return keys_of_call(payload, self.providers)

    def check(self, payload: Mapping[str, Any]) -> None:
        check_action(payload, {name: provider.check for name, provider in self.providers.items()})

    def needs_prepare(self, task: Task) -> bool:
        return task.payload.get("budget") is not None

    def prepare(self, context: RunContext) -> dict[str, Any] | None:
        max_cost = self._provider(context).estimate_max_cost(_build_request(context))
        return reserve_budget(context, self.budgets, self.clock, max_cost=max_cost)

    def release(self, context: RunContext) -> None:
        release_reservation(context.prepared, self.budgets)

    def mutate(self, context: RunContext) -> dict[str, str]:
        with settle_reservation(context.prepared, self.budgets) as call_cost:
            reply = call_provider(
                self._provider(context), _build_request(context), context, clock=self.clock
            )
            call_cost.cost = reply.cost
        _require_outcome(reply.text, is_verified_later=context.task.verify)
        # Redact before truncating: redaction does not recognise half of a secret.
        return {"reply": redact(reply.text, MAX_REDACTED_LENGTH)[-REPLY_LIMIT:]}

    def _provider(self, context: RunContext) -> Provider:
        return get_provider(context.task.provider, self.providers)


def _require_outcome(reply: str, *, is_verified_later: bool) -> None:
    """Raise ActionFailedError unless the reply reports success.

    A missing marker is a failure, unless the work is verified later anyway.
    """
    match parse_outcome(reply):
        case Failed(reason):
            raise ActionFailedError(reason, code="action_failed")
        case NoOutcome() if not is_verified_later:
            raise ActionFailedError("the reply does not end with its outcome", code="no_outcome")


def _guidance_with_last_error(task: Task) -> Sequence[str]:
    """Return the guidance, on a retry with the last error as a quotation."""
    if not task.retry_count or task.last_error is None:
        return task.guidance
    return (*task.guidance, quote("The last error was:", task.last_error))


def _build_request(context: RunContext) -> ProviderRequest:
    review = context.task.review
    return ProviderRequest(
        description=build_question(context.task),
        guidance=_guidance_with_last_error(context.task),
        system_prompt=INSTRUCTION,
        attempt=context.attempt,
        idempotency_key=context.idempotency_key,
        payload=context.task.payload,
        deadline=context.deadline,
        earlier_attempts=review.after_attempts if review else 0,
    )
