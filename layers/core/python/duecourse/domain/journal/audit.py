"""The audit log of actions: one entry per provider call, successful or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from duecourse.domain.journal.history import ended_run
from duecourse.domain.limits.budget import to_dollars
from duecourse.domain.tasks.failure_kind import Kind
from duecourse.domain.tasks.run import ProviderCall, Run, RunStatus
from duecourse.domain.tasks.run_diagnosis import NOT_DIAGNOSED
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import ACTION, Task
from duecourse.domain.text.redaction import truncate_middle
from duecourse.domain.time.instant import to_text

LOG_PREFIX = "[ACTION]"
SUCCESS = "success"
DESCRIPTION_LIMIT = 200
ERASED = "(erased)"


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditEntry:
    """`outcome` is SUCCESS, the failure's category, or "cancelled". `kind`: of a failure."""

    run_id: str
    task_id: str
    at: datetime
    sender: str
    description: str
    outcome: str
    call: ProviderCall
    kind: Kind | None = None

    @property
    def text(self) -> str:
        """The entry as one line for the log."""
        call = self.call
        took = f"{call.milliseconds} ms" if call.milliseconds is not None else "unknown"
        cost = f"${to_dollars(call.cost):.6f}" if call.cost is not None else "unknown"
        summary = f"provider={call.provider} model={call.model or 'unknown'} outcome={self.outcome}"
        return f"{LOG_PREFIX} {summary} duration={took} cost={cost} task={self.task_id}"

    def to_json(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "run_id": self.run_id,
            "task_id": self.task_id,
            "at": to_text(self.at),
            "sender": self.sender,
            "description": self.description,
            "outcome": self.outcome,
            **({"kind": str(self.kind)} if self.kind else {}),
            "provider": self.call.provider,
            "model": self.call.model,
            "duration_ms": self.call.milliseconds,
            "cost": None if self.call.cost is None else to_dollars(self.call.cost),
        }


def erase_personal_data(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return an entry of the audit log, as JSON, without the person whose task was deleted."""
    personal = {"sender": ERASED, "description": ERASED}
    return {name: personal.get(name, value) for name, value in entry.items()}


def audit_position(at: datetime, entry_id: str) -> str:
    """Return the position of an entry in its day, which is also the cursor after it."""
    return f"{to_text(at)}#{entry_id}"


def find_executed_run(old: Task | None, new: Task) -> Run | None:
    """Return the run whose work this write finished, else None.

    The run has ended, or its work now waits for verification.
    """
    has_begun_to_wait = new.status is Status.PENDING_VERIFICATION and (
        old is None or old.status is not new.status
    )
    return new.run if has_begun_to_wait else ended_run(old, new)


def _run_outcome(run: Run) -> str:
    if run.status is RunStatus.CANCELLED:
        return str(run.status)
    return SUCCESS if run.error is None else run.category or "unknown"


def find_call(run: Run, provider: str | None) -> ProviderCall | None:
    """Return the run's call to a provider, or None if it made none.

    A run that only resumed after the mutation makes none. If the worker crashed during the call,
    duration and cost are unknown.
    """
    is_lost = run.status is RunStatus.CRASHED and run.mutation.status is not None
    if run.call is None and is_lost:
        return ProviderCall(provider=provider or "unknown")
    return run.call


def to_audit_entry(task: Task, run: Run) -> AuditEntry | None:
    """Return the audit entry, or None if the run called no provider."""
    call = find_call(run, task.provider)
    if task.type != ACTION or call is None:
        return None
    return make_audit_entry(task.id, run, call, audited_text(task))


def audited_text(task: Task) -> tuple[str, str]:
    """Return sender and description as the audit log shows them."""
    description = truncate_middle(task.description, DESCRIPTION_LIMIT)
    return f"{task.channel}:{task.sender_id}", description


def make_audit_entry(
    task_id: str, run: Run, call: ProviderCall, text: tuple[str, str]
) -> AuditEntry:
    sender, description = text
    return AuditEntry(
        run_id=run.id,
        task_id=task_id,
        at=run.started_at,
        sender=sender,
        description=description,
        outcome=_run_outcome(run),
        call=call,
        kind=(run.diagnosis or NOT_DIAGNOSED).kind if run.is_failure else None,
    )
