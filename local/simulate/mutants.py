"""Planted bugs: each is one edit of the product's code, and the simulation has to find it.

`make simulate-mutants` runs them. A new one needs a name, a line that says what is wrong, and an
edit whose old text occurs exactly once in its module.
"""

from __future__ import annotations

from collections.abc import Mapping

from local.simulate.mutant import Mutant
from local.simulate.outgoing_mutants import OUTGOING_MUTANTS
from local.simulate.recovery_mutants import RECOVERY_MUTANTS
from local.simulate.source_edit import SourceEdit

_DYNAMODB = "duecourse.adapters.aws.dynamodb"
_LIFECYCLE = "duecourse.domain.lifecycle"


MUTANTS: Mapping[str, Mutant] = {
    **RECOVERY_MUTANTS,
    **OUTGOING_MUTANTS,
    # Conditional writes
    "save-ignores-version": Mutant(
        "a task is saved although another writer changed it since it was read",
        SourceEdit(
            f"{_DYNAMODB}.task_conditions",
            '"ConditionExpression": "#version = :version"',
            '"ConditionExpression": "#version >= :version"',
        ),
    ),
    "create-overwrites": Mutant(
        "a repeated request replaces the task that the first one created",
        SourceEdit(
            f"{_DYNAMODB}.task_conditions",
            '"attribute_not_exists(id)"}',
            '"attribute_not_exists(id) OR attribute_exists(id)"}',
        ),
    ),
    "first-claim-ignores-status": Mutant(
        "a reminder that was cancelled or delivered is claimed as a new one",
        SourceEdit(
            f"{_DYNAMODB}.first_claim",
            '"#status = :pending AND #type',
            '"(#status = :pending OR #status <> :running) AND #type',
        ),
    ),
    "first-claim-ignores-run": Mutant(
        "a second worker claims a reminder that runs",
        SourceEdit(
            f"{_DYNAMODB}.first_claim",
            '"#status = :pending AND #type = :reminder AND due_at = :due AND nominal_at = :due"\n'
            '    " AND schema_version = :schema AND attribute_not_exists(#run)',
            '"(#status = :pending OR #status = :running)'
            ' AND #type = :reminder AND due_at = :due AND nominal_at = :due"\n'
            '    " AND schema_version = :schema',
        ),
    ),
    "claim-of-another-worker": Mutant(
        "a worker takes the claim of another worker for its own",
        SourceEdit(
            f"{_DYNAMODB}.task_store",
            "return found if found is not None and found.run_id == run.id else None",
            "return found if found is not None and found.run_id is not None else None",
        ),
    ),
    # The journal and its counters
    "counted-again": Mutant(
        "changes that a page has counted are counted again",
        SourceEdit(
            "duecourse.domain.journal.counter_page",
            "return [one for one in changes if one.sequence_number > self.last_sequence_number]",
            "return list(changes)",
        ),
    ),
    "cached-before-written": Mutant(
        "a page is kept as counted before its write has succeeded",
        SourceEdit(
            f"{_DYNAMODB}.counters",
            "        try:\n            put_stored(",
            "        self._pages[key] = after\n        try:\n            put_stored(",
        ),
    ),
    "failure-counted-twice": Mutant(
        "a failure adds two to its category",
        SourceEdit(
            "duecourse.domain.journal.counters",
            'errors = {"errors": 1, ',
            'errors = {"errors": 2, ',
        ),
    ),
    "crash-not-logged": Mutant(
        "a run that crashed is not in the error log",
        SourceEdit(
            "duecourse.domain.tasks.run",
            "return is_crash or (self.status.is_unsuccessful and has_error)",
            "return not is_crash and self.status.is_unsuccessful and has_error",
        ),
    ),
    # Effects
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
    # Recovery
    "expired-lease-not-reported": Mutant(
        "the sweeper does not report expired leases",
        SourceEdit(
            "duecourse.usecases.runs.recover_expired_leases",
            "    deps.failure_queue.send_all([lease_expired_report(task) for task in expired])\n",
            "",
        ),
    ),
    # Runs and series
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
    # Requests
    "key-ignored": Mutant(
        "a repeated request with an idempotency key creates a second task",
        SourceEdit(
            "functions.api.routes.tasks",
            "        if key is None\n",
            "        if key is None or key\n",
        ),
    ),
}
