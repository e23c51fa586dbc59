"""Versions of a task before and after a change, for the tests of notifications."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from duecourse.domain.chat.notification import Notification
from duecourse.domain.chat.notification_kind import NotificationKind
from duecourse.domain.chat.notifications_for import notifications_for
from duecourse.domain.tasks.recovery_action import Action
from duecourse.domain.tasks.run import IndeterminatePolicy, Mutation, MutationStatus, RunStatus
from duecourse.domain.tasks.status import Status
from duecourse.domain.tasks.task import Task
from duecourse.domain.tasks.wait import Wait, WaitReason

from tests.support.builders.moments import DAY, MINUTE, NOW
from tests.support.builders.runs import a_run

RETRY_FIELDS: dict[str, Any] = {
    "status": Status.PENDING,
    "due_at": NOW + 2 * MINUTE,
    "next_retry_at": NOW + 2 * MINUTE,
}
NEXT_OCCURRENCE: dict[str, Any] = {
    "status": Status.PENDING,
    "due_at": NOW + DAY,
    "nominal_at": NOW + DAY,
}
FAILED_OCCURRENCE: dict[str, Any] = {
    **NEXT_OCCURRENCE,
    "recovery_action": Action.GIVE_UP,
    "failed_occurrences": 1,
}
SUCCESS = "Mended.\nACTION_OUTCOME: success"


def start_run(task: Task, **fields: Any) -> Task:
    return replace(task, status=Status.IN_PROGRESS, run=a_run(**fields), version=2)


def end_run(before: Task, status: RunStatus, *, task: dict[str, Any], **run: Any) -> Task:
    assert before.run is not None
    after = replace(before.run, status=status, ended_at=NOW, **run)
    return replace(before, run=after, version=before.version + 1, **task)


def commit_run(before: Task, reply: Any = SUCCESS, **task: Any) -> Task:
    result = {"reply": reply}
    mutation = Mutation(idempotency_key="k", status=MutationStatus.APPLIED, result=result)
    changes = {"status": Status.COMPLETED, **task}
    return end_run(before, RunStatus.COMMITTED, task=changes, mutation=mutation)


def fail_run(before: Task, status: RunStatus = RunStatus.PAUSED_TRANSIENT, /, **task: Any) -> Task:
    changes = {"last_error": "boom", **task}
    return end_run(before, status, task=changes, error=changes["last_error"])


def make_indeterminate(
    before: Task, policy: IndeterminatePolicy = IndeterminatePolicy.ASK_PERSON, /, **task: Any
) -> Task:
    mutation = Mutation(idempotency_key="k", status=MutationStatus.INDETERMINATE)
    after = fail_run(before, RunStatus.CRASHED, **task)
    assert after.run is not None
    return replace(after, run=replace(after.run, mutation=mutation, indeterminate_policy=policy))


def notification_for(old: Task | None, new: Task) -> Notification | None:
    """Return the notification of the owner at the default level, or None."""
    notifications = [
        one for one in notifications_for(old, new) if one.kind is not NotificationKind.RETRY
    ]
    assert len(notifications) <= 1
    return notifications[0] if notifications else None


def notification_text(old: Task | None, new: Task) -> str | None:
    notification = notification_for(old, new)
    return notification.message.text if notification else None


def button_labels(old: Task, new: Task) -> list[str]:
    notification = notification_for(old, new)
    assert notification is not None
    return [button.label for button in notification.message.buttons]


def wait_for_budget(old: Task) -> Task:
    action = Action.WAIT_FOR_BUDGET
    error = "budget daily is used up"
    return fail_run(
        old, RunStatus.PAUSED_BUDGET, recovery_action=action, last_error=error, **RETRY_FIELDS
    )


def await_verification(old: Task, reason: WaitReason) -> Task:
    assert old.run is not None
    run = replace(old.run.mark_applied({"reply": "Mended."}), status=RunStatus.PAUSED_APPROVAL)
    wait = Wait(reason)
    return replace(old, status=Status.PENDING_VERIFICATION, run=run, wait=wait, version=3)
