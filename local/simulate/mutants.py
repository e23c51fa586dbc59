"""Planted bugs: each is one edit of the product's code, and the simulation has to find it.

`make simulate-mutants` runs them. A new one needs a name, a line that says what is wrong, and an
edit whose old text occurs exactly once in its module.
"""

from __future__ import annotations

from collections.abc import Mapping

from local.simulate.mutant import Mutant
from local.simulate.outgoing_mutants import OUTGOING_MUTANTS
from local.simulate.promise_mutants import PROMISE_MUTANTS
from local.simulate.recovery_mutants import RECOVERY_MUTANTS
from local.simulate.source_edit import SourceEdit

_DYNAMODB = "duecourse.adapters.aws.dynamodb"
_LIFECYCLE = "duecourse.domain.lifecycle"


MUTANTS: Mapping[str, Mutant] = {
    **RECOVERY_MUTANTS,
    **OUTGOING_MUTANTS,
    **PROMISE_MUTANTS,
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
    # For the invariants of each write
    "version-grows-by-two": Mutant(
        "a task that changes its status skips a version",
        SourceEdit(
            "duecourse.domain.tasks.task",
            "status=to, version=self.version + 1, blocked_at",
            "status=to, version=self.version + 2, blocked_at",
        ),
    ),
    "run-used-again": Mutant(
        "a retry goes on with the run that has failed",
        SourceEdit(
            f"{_LIFECYCLE}.run_transitions",
            "id=lease.run_id,\n        attempt=previous",
            "id=previous.id if previous else lease.run_id,\n        attempt=previous",
        ),
    ),
    "due-before-occurrence": Mutant(
        "a series is due at the occurrence that it has run",
        SourceEdit(
            f"{_LIFECYCLE}.advance_series", "        due_at=following,\n", "        due_at=at,\n"
        ),
    ),
    # For the invariants of budgets
    "reservation-ignores-limit": Mutant(
        "a reservation is made although too little remains",
        SourceEdit(f"{_DYNAMODB}.budgets", "condition=has_room & is_new", "condition=is_new"),
    ),
    "call-not-reserved": Mutant(
        "a call is made without a reservation if its provider states no maximum cost",
        SourceEdit(
            "duecourse.handlers.budget_reservation",
            "    if budget is None:\n",
            "    if budget is None or max_cost is None:\n",
        ),
    ),
    "settlement-not-written": Mutant(
        "the reservation of a call that succeeded is not settled",
        SourceEdit(
            "duecourse.handlers.budget_reservation",
            "    _settle(stored, stored.max_cost if call_cost.cost is None else call_cost.cost, ",
            "    id(",
        ),
    ),
    "settled-at-maximum": Mutant(
        "a call is settled at its maximum although its cost is known",
        SourceEdit(
            "duecourse.handlers.budget_reservation",
            "stored.max_cost if call_cost.cost is None else call_cost.cost, budgets",
            "stored.max_cost, budgets",
        ),
    ),
    "call-counted-twice": Mutant(
        "a reservation counts two calls",
        SourceEdit(f"{_DYNAMODB}.budgets", "(BudgetItem.calls + 1)", "(BudgetItem.calls + 2)"),
    ),
    "limit-not-applied": Mutant(
        "a new limit is acknowledged, and applied only on the next day",
        SourceEdit(
            f"{_DYNAMODB}.budgets",
            "return self._open_day(name, utc_date(now))\n",
            "return self.get_today(name, now=now)\n",
        ),
    ),
    # For the invariants of patterns, subjects and statistics
    "pattern-learned-twice": Mutant(
        "a failure is counted twice for its pattern",
        SourceEdit("duecourse.domain.journal.learning_counters", '{"seen": 1}', '{"seen": 2}'),
    ),
    "subject-failure-twice": Mutant(
        "a failure is counted twice for its subject",
        SourceEdit(
            "duecourse.domain.failures.subject",
            "count = self.failure_count + 1",
            "count = self.failure_count + 2",
        ),
    ),
    "subject-error-not-kept": Mutant(
        "a subject does not keep the errors of its tasks",
        SourceEdit(
            f"{_LIFECYCLE}.track_errors",
            "return replace(task, run=tracked), replace(to_save, recent_errors=errors)",
            "return replace(task, run=tracked), to_save",
        ),
    ),
    "failure-in-no-category": Mutant(
        "a failure is not named by the counters from which its category is listed",
        SourceEdit(
            "duecourse.domain.journal.failed_runs",
            'members=frozenset({f"{ref.to_text()} {mark}"})',
            "members=frozenset()",
        ),
    ),
    "rule-counted-twice": Mutant(
        "a failure adds two to the rule that recognised it",
        SourceEdit(
            "duecourse.domain.journal.counters",
            'Increment(day, name, {"errors": 1}, latest=last)',
            'Increment(day, name, {"errors": 2}, latest=last)',
        ),
    ),
    "recovery-not-counted": Mutant(
        "a success after retries is not counted",
        SourceEdit(
            "duecourse.domain.journal.counters",
            "found = [Increment(day, AFTER_RETRIES_COUNTER, retries)]",
            "found = list[Increment]()",
        ),
    ),
    "repeats-not-tracked": Mutant(
        "a task that fails repeatedly is not listed",
        SourceEdit(
            "duecourse.domain.journal.failure_tracker",
            "is_repeated = new.recent_errors.repeated_since is not None or was_repeated",
            "is_repeated = was_repeated",
        ),
    ),
    # For the invariants of waits and cancellations
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
