"""Planted bugs of conditional writes, requests and the versions of tasks."""

from __future__ import annotations

from collections.abc import Mapping

from local.simulate.mutant import Mutant
from local.simulate.source_edit import SourceEdit

_DYNAMODB = "duecourse.adapters.aws.dynamodb"
_LIFECYCLE = "duecourse.domain.lifecycle"

STORE_MUTANTS: Mapping[str, Mutant] = {
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
    "key-ignored": Mutant(
        "a repeated request with an idempotency key creates a second task",
        SourceEdit(
            "functions.api.routes.tasks",
            "        if key is None\n",
            "        if key is None or key\n",
        ),
    ),
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
}
