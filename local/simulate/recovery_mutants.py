"""Planted bugs in what recovers from faults: reports, leases, retries, and what is sent again."""

from __future__ import annotations

from collections.abc import Mapping

from local.simulate.mutant import Mutant
from local.simulate.source_edit import SourceEdit

RECOVERY_MUTANTS: Mapping[str, Mutant] = {
    # Messages
    "report-not-sent": Mutant(
        "a worker does not report the failure of a run",
        SourceEdit(
            "duecourse.usecases.runs.execute_task",
            "    deps.failure_queue.send(report)\n",
            "",
        ),
    ),
    "new-task-not-sent": Mutant(
        "a task that is due before the next scan is not sent when it is created",
        SourceEdit(
            "duecourse.usecases.tasks.create_task",
            "    enqueue_if_due_soon(result.task, queue=deps.queue, now=now)\n",
            "",
        ),
    ),
    "retry-not-sent": Mutant(
        "a retry that is due before the next scan is not sent",
        SourceEdit(
            "duecourse.usecases.failures.record_failure",
            "    enqueue_if_due_soon(recorded.next_task, queue=deps.queue, now=now)\n",
            "",
        ),
    ),
    "failed-message-deleted": Mutant(
        "a message whose handler failed is deleted from its queue",
        SourceEdit(
            "duecourse.adapters.aws.sqs_batch",
            "            failed_groups.add(record.group_id)\n            yield record",
            "            failed_groups.add(record.group_id)",
        ),
    ),
    "stalled-task-not-sent": Mutant(
        "the sweeper counts due tasks that no worker claimed, and does not send them",
        SourceEdit(
            "duecourse.usecases.runs.recover_expired_leases",
            "deps.queue.send(map(dispatch_of, unclaimed), now=now)",
            "len(unclaimed)",
        ),
    ),
    # Fences
    "outdated-message-runs": Mutant(
        "a message that was sent for another due time starts a run",
        SourceEdit(
            "duecourse.usecases.runs.load_current",
            "return task.is_scheduled and task.due_at == dispatch.due_at",
            "return task.is_scheduled",
        ),
    ),
    "lease-too-short": Mutant(
        "a lease lasts for milliseconds in place of seconds",
        SourceEdit(
            "duecourse.app.settings",
            "timedelta(seconds=self.lease_seconds)",
            "timedelta(milliseconds=self.lease_seconds)",
        ),
    ),
    "failed-effect-applied": Mutant(
        "an effect that raised is reported as one that happened",
        SourceEdit(
            "duecourse.usecases.runs.phase_runner",
            "            self._effect = effect_of(error)\n",
            "            self._effect = Effect.APPLIED\n",
        ),
    ),
    # Retries
    "retry-at-once": Mutant(
        "a retry is due at once, whatever its delay is",
        SourceEdit(
            "duecourse.domain.lifecycle.apply_failure",
            "return replace(after, due_at=due_at, next_retry_at=due_at)",
            "return replace(after, due_at=at, next_retry_at=at)",
        ),
    ),
    "retry-after-ignored": Mutant(
        "a retry does not wait for as long as the other side asked for",
        SourceEdit(
            "duecourse.domain.failures.retry_delay",
            "earliest = min(retry_after or timedelta(0), MAX_DELAY)",
            "earliest = timedelta(0)",
        ),
    ),
    "person-not-asked": Mutant(
        "a failure that only a person can clear is retried",
        SourceEdit(
            "duecourse.domain.failures.decision",
            "diagnosis.kind.clears_by is ClearsBy.PERSON and context.origin in _ORIGINS_OF_WORK",
            "False",
        ),
    ),
    "one-retry-more": Mutant(
        "a task is retried once more than its limit",
        SourceEdit(
            "duecourse.domain.failures.decision",
            "is_spent = spent >= _retry_limit(category, context)",
            "is_spent = spent > _retry_limit(category, context)",
        ),
    ),
}
