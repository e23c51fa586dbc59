"""Planted bugs in promises to people: changes that are acknowledged, and answers that count."""

from __future__ import annotations

from collections.abc import Mapping

from local.simulate.mutant import Mutant
from local.simulate.source_edit import SourceEdit

_ACTIONS = "duecourse.domain.lifecycle.user_actions"

PROMISE_MUTANTS: Mapping[str, Mutant] = {
    # Changes over HTTP
    "pause-not-stored": Mutant(
        "a pause is acknowledged, and the task is left as it was",
        SourceEdit(
            _ACTIONS,
            "    return replace(task, paused=True, skipped=None).move_to(Status.PENDING)\n",
            "    return task\n",
        ),
    ),
    "paused-task-runs": Mutant(
        "a worker claims a paused task if it has a message of before",
        SourceEdit(
            "duecourse.domain.tasks.task",
            "return self.is_waiting or self.status is Status.PENDING_VERIFICATION",
            "return self.status in (Status.PENDING, Status.PENDING_VERIFICATION)",
        ),
    ),
    "edit-dropped": Mutant(
        "an edit stores a new version of the task without the changes",
        SourceEdit(
            _ACTIONS,
            "return replace(edit.apply_to(task), skipped=None)",
            "return replace(task, skipped=None)",
        ),
    ),
    "unblock-not-stored": Mutant(
        "an unblocked task is left as it was",
        SourceEdit(
            _ACTIONS,
            "    return reschedule(task, at=at, retry_count=task.retry_count)\n\n\n"
            "def clear_rescheduled",
            "    return task\n\n\ndef clear_rescheduled",
        ),
    ),
    "retry-count-not-reset": Mutant(
        "a person's retry does not reset retry_count",
        SourceEdit(
            _ACTIONS,
            "return reschedule(task, at=at, retry_count=0)",
            "return reschedule(task, at=at, retry_count=task.retry_count)",
        ),
    ),
    "change-dropped-by-conflict": Mutant(
        "a change is acknowledged and not stored if another writer was faster",
        SourceEdit(
            "duecourse.usecases.tasks.update_task",
            "        if after is not current:\n",
            "        if after is not current and attempt == 1:\n",
        ),
    ),
    # Answers of people
    "applied-runs-again": Mutant(
        "an effect that a person resolved as applied is repeated",
        SourceEdit(
            "duecourse.domain.lifecycle.resolve_indeterminate",
            "return _complete_as_applied(replace(task, run=run.mark_applied(None)), at=at)",
            "repeated = run.with_mutation_status(MutationStatus.FAILED)\n"
            "            return reschedule(\n"
            "                replace(task, run=repeated), at=at, retry_count=task.retry_count\n"
            "            )",
        ),
    ),
    # Dead letters
    "redrive-not-sent": Mutant(
        "a redriven letter is dropped, and not sent to its queue",
        SourceEdit(
            "duecourse.usecases.dead_letters.redrive",
            "    source_queues.redrive(letter)\n",
            "",
        ),
    ),
    # Quiet hours
    "quiet-hours-ignored": Mutant(
        "a reminder is sent in quiet hours",
        SourceEdit(
            "duecourse.usecases.runs.check_admission",
            "return Deferral(deferral.until, deferral.wait) if deferral and deferral.until > now",
            "return Deferral(deferral.until, deferral.wait) if deferral and deferral.until < now",
        ),
    ),
    "claimed-before-quiet-hours": Mutant(
        "a new reminder is claimed before anybody looks for quiet hours",
        SourceEdit(
            "duecourse.usecases.runs.execute_task",
            "capabilities is None or not deps.quiet_hours.is_unused()",
            "capabilities is None",
        ),
    ),
    # Snoozes
    "snooze-too-long": Mutant(
        "a reminder is snoozed for twice as long as it was asked for",
        SourceEdit(
            "duecourse.usecases.chat.snooze",
            "truncate_to_millisecond(request.starts_at + length)",
            "truncate_to_millisecond(request.starts_at + length + length)",
        ),
    ),
    "snooze-not-stored": Mutant(
        "a pending reminder is left as it was, and its snooze acknowledged",
        SourceEdit(
            _ACTIONS,
            "    return snoozed.move_to(Status.PENDING)\n",
            "    return task\n",
        ),
    ),
    # Being forgotten
    "task-not-forgotten": Mutant(
        "the newest task of a forgotten sender stays",
        SourceEdit(
            "duecourse.usecases.chat.forget_sender",
            "    for task in tasks:\n        _delete(task, deps.store)\n",
            "    for task in tasks[1:]:\n        _delete(task, deps.store)\n",
        ),
    ),
}
