"""Planted bugs of effects, runs, series and waits."""

from __future__ import annotations

from collections.abc import Mapping

from local.simulate.mutant import Mutant
from local.simulate.source_edit import SourceEdit

_LIFECYCLE = "duecourse.domain.lifecycle"

RUN_MUTANTS: Mapping[str, Mutant] = {
    "effect-not-marked": Mutant(
        "a run does not store that its effect is about to begin",
        SourceEdit(
            "duecourse.domain.tasks.run",
            "mutation = replace(self.mutation, status=MutationStatus.IN_FLIGHT)",
            "mutation = self.mutation",
        ),
    ),
    "unknown-effect-failed": Mutant(
        "an effect of which nobody knows is recorded as one that did not happen",
        SourceEdit(
            f"{_LIFECYCLE}.apply_failure",
            "return run.with_mutation_status(MutationStatus.INDETERMINATE)",
            "return run.with_mutation_status(MutationStatus.FAILED)",
        ),
    ),
    "crash-report-trusted": Mutant(
        "the report of an expired lease decides whether the effect happened, not the stored run",
        SourceEdit(
            f"{_LIFECYCLE}.apply_failure",
            "return stored_effect if is_stored else report.effect",
            "return report.effect",
        ),
    ),
    "new-key-for-retry": Mutant(
        "a retry uses an idempotency key of its own",
        SourceEdit(
            f"{_LIFECYCLE}.run_transitions",
            "_reusable_key(previous) or lease.run_id",
            "lease.run_id",
        ),
    ),
    "approve-without-work": Mutant(
        "a task can be approved before its work is done",
        SourceEdit(
            f"{_LIFECYCLE}.verification",
            '    _require_pending_verification(task, "approved")\n',
            "",
        ),
    ),
    "expired-lease-not-reported": Mutant(
        "the sweeper does not report expired leases",
        SourceEdit(
            "duecourse.usecases.runs.recover_expired_leases",
            "    deps.failure_queue.send_all([lease_expired_report(task) for task in expired])\n",
            "",
        ),
    ),
    "retry-not-numbered": Mutant(
        "a retry is numbered as a first attempt",
        SourceEdit(
            f"{_LIFECYCLE}.run_transitions",
            "attempt=previous.attempt + 1 if previous else 1",
            "attempt=1",
        ),
    ),
    "run-end-not-stored": Mutant(
        "a run ends without the time of its end",
        SourceEdit(
            "duecourse.domain.tasks.run",
            "return replace(self, status=status, ended_at=at)",
            "return replace(self, status=status)",
        ),
    ),
    "cancel-while-running": Mutant(
        "a task is cancelled while a worker runs it",
        SourceEdit(
            f"{_LIFECYCLE}.user_actions",
            '    _refuse_while_running(task, "cancelled")\n'
            "    closed_at = truncate_to_millisecond(at)\n",
            "    closed_at = truncate_to_millisecond(at)\n"
            "    if task.status is Status.IN_PROGRESS:\n"
            "        task = replace(task, status=Status.PENDING)\n",
        ),
    ),
    "occurrence-skipped": Mutant(
        "a series skips every second occurrence",
        SourceEdit(
            f"{_LIFECYCLE}.advance_series",
            "series.next_after(max(task.nominal_at, at))",
            "series.next_after(series.next_after(max(task.nominal_at, at)) or at)",
        ),
    ),
    "occurrence-repeated": Mutant(
        "a series keeps the nominal time of the occurrence that it has run",
        SourceEdit(
            f"{_LIFECYCLE}.advance_series",
            "        nominal_at=following,\n",
            "        nominal_at=task.nominal_at,\n",
        ),
    ),
    "no-wait-for-due-time": Mutant(
        "a worker does not wait for the rest of the second until the due time",
        SourceEdit(
            "duecourse.usecases.runs.execute_task",
            "    deps.clock.sleep_until(dispatch.due_at)\n    now =",
            "    now =",
        ),
    ),
    "wait-without-time": Mutant(
        "a task that waits for a person does not say until when",
        SourceEdit(
            f"{_LIFECYCLE}.verification",
            "return Wait(WaitReason.VERIFICATION, until=verify_by)",
            "return Wait(WaitReason.VERIFICATION)",
        ),
    ),
    "blocked-without-reason": Mutant(
        "a blocked task does not say what it waits for",
        SourceEdit(
            f"{_LIFECYCLE}.apply_failure",
            "        recovery_action=decision.action,\n",
            "        recovery_action=decision.action if decision.due_at else None,\n",
        ),
    ),
    "cancellation-not-stored": Mutant(
        "the cancellation of a task that has run is acknowledged, and nothing is stored",
        SourceEdit(
            f"{_LIFECYCLE}.user_actions",
            "    if task.status is Status.CANCELLED:\n        return task\n"
            '    _refuse_while_running(task, "cancelled")\n',
            "    if task.status is Status.CANCELLED or task.run or task.is_reminder:\n"
            "        return task\n"
            '    _refuse_while_running(task, "cancelled")\n',
        ),
    ),
}
