"""What `make bench-waste` compares: fixed delays, simple classifiers and each policy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from duecourse.domain.errors import BUDGET_EXCEEDED_CODE
from duecourse.domain.failures.classifier.engine import diagnose
from duecourse.domain.failures.decision import Decision, decide
from duecourse.domain.failures.diagnosis import Diagnosis
from duecourse.domain.failures.failure import Failure
from duecourse.domain.failures.failure_context import FailureContext
from duecourse.domain.failures.policy import Policy
from duecourse.domain.failures.subject import Subject
from duecourse.domain.limits.budget import next_reset
from duecourse.domain.tasks.status import Status

from bench.simple_patterns import retry_by_code, retry_by_words
from bench.waste_simulation import Incident, Step, Strategy

NO_SUBJECT = "policy `standard`, no subject"


def retry_every(delay: timedelta, *, retries: int) -> Strategy:
    """Return a strategy that retries everything after the same delay, then gives up."""

    def steps(_: Incident) -> Iterator[Step]:
        return (Step(delay * retry) for retry in range(1, retries + 1))

    return steps


@dataclass(frozen=True)
class PolicyStrategy:
    """Does what the failure function does: diagnoses and decides each failure by a policy.

    The delays are those of the policy, jitter included: nothing was learned from earlier retries.
    `knows_subjects`: False for tasks that do not name their subject.
    """

    policy: Policy
    knows_subjects: bool = True
    diagnoses: dict[Failure, Diagnosis] = field(default_factory=dict)

    def __call__(self, incident: Incident) -> Iterator[Step]:
        at, attempt, decision = incident.failed_at, 1, None
        while True:
            decision = self._decide(incident, at, attempt, decision)
            if decision.status is Status.BLOCKED:
                yield Step(at - incident.failed_at, asks_person=True)
            if decision.due_at is None:
                return
            at, attempt = decision.due_at, attempt + 1
            yield Step(at - incident.failed_at)

    def _decide(
        self, incident: Incident, at: datetime, attempt: int, previous: Decision | None
    ) -> Decision:
        retry_count = previous.retry_count if previous else 0
        context = FailureContext(
            retry_count=retry_count,
            max_retries=self.policy.max_retries,
            failed_at=at,
            first_failed_at=incident.failed_at if retry_count else None,
            budget_resets_at=next_reset(at),
            attempt=attempt,
            jitter_seed=f"{incident.id}:{attempt}",
            subject=previous.subject if previous else self._new_subject(incident),
            is_over_budget=incident.failure.code == BUDGET_EXCEEDED_CODE,
        )
        diagnosis = self._diagnose(incident.failure)
        return decide(incident.failure, diagnosis, self.policy, context)

    def _diagnose(self, failure: Failure) -> Diagnosis:
        if failure not in self.diagnoses:
            self.diagnoses[failure] = diagnose(failure, self.policy)
        return self.diagnoses[failure]

    def _new_subject(self, incident: Incident) -> Subject | None:
        return Subject(id=incident.id) if incident.has_subject and self.knows_subjects else None


def list_strategies(policies: Mapping[str, Policy]) -> dict[str, Strategy]:
    """Return the strategies by name, without the oracle."""
    return {
        "fixed +2 min, 3 retries": retry_every(timedelta(minutes=2), retries=3),
        "fixed +12 h, 3 runs": retry_every(timedelta(hours=12), retries=2),
        "keywords, delays of `agent`": retry_by_words,
        "codes and phrases, delays of `enrichment`": retry_by_code,
        **{f"policy `{name}`": PolicyStrategy(policy) for name, policy in policies.items()},
        NO_SUBJECT: PolicyStrategy(policies["standard"], knows_subjects=False),
    }
